"""Paths as users give them: a text or a path; anything else is said in one line."""

from __future__ import annotations

import os
from pathlib import Path

from sentinel_sql.errors import InputError


def path_of(given: str | os.PathLike[str]) -> Path:
    """Return what was given as a path.

    Raises:
        InputError: it is neither a text nor a path, or no file system has such a name.
    """
    if not isinstance(given, str | os.PathLike):
        raise InputError(
            f"a path is a text or a Path, and this is {type(given).__name__}: give the path of the "
            "file or folder"
        )
    path = Path(given)
    if "\0" in str(path):
        raise InputError("the path holds a null character, which no name has: correct it")
    return path
