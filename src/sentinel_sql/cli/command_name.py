"""How to call this very command, where a bare `sentinel` calls none or another."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

NAME = "sentinel"


def called() -> str | None:
    """Return the path to call `sentinel` by; None where its name alone calls this one.

    Seen from the working folder if it lies in it, as `.venv/bin/sentinel` does after `make demo`.
    """
    ours = shutil.which(NAME, path=sysconfig.get_path("scripts"))
    if ours is None:  # a library without its command: there is no path to name
        return None
    found = shutil.which(NAME)
    if found is not None and os.path.samefile(found, ours):
        return None
    here, place = Path.cwd(), Path(ours).absolute()
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def told() -> list[str]:
    """Say in a few lines how to call it, for those who are told commands; often nothing."""
    path = called()
    return (
        []
        if path is None
        else [
            "`sentinel` alone doesn't call this command in your shell; its path does:",
            f"  {path}",
        ]
    )
