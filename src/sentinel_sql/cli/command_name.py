"""Finds the path of this command, for shells where `sentinel` runs another one or none."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

NAME = "sentinel"


def path_to_call() -> str | None:
    """Return the path of this `sentinel` command, or None if its name alone calls it.

    The path is relative to the working folder if it lies in it, as `.venv/bin/sentinel` does.
    """
    ours = shutil.which(NAME, path=sysconfig.get_path("scripts"))
    if ours is None:  # the library is installed without its command
        return None
    found = shutil.which(NAME)
    if found is not None and os.path.samefile(found, ours):
        return None
    here, place = Path.cwd(), Path(ours).absolute()
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def call_hint() -> list[str]:
    """Return lines that say how to call this command; none if `sentinel` alone calls it."""
    path = path_to_call()
    return (
        []
        if path is None
        else [
            "`sentinel` alone doesn't call this command in your shell; its path does:",
            f"  {path}",
        ]
    )
