"""Says in one line why a DuckDB file can't be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sentinel_sql.errors import DatabaseError

_REMEDIES: Final[Sequence[tuple[str, str]]] = (
    (
        "Could not set lock|Conflicting lock",
        "is open for writing in another program; close that program and try again",
    ),
    (
        "storage version|version number|newer version",
        "was written by another version of DuckDB; install that version, or export the database "
        "there and import it here",
    ),
    (
        'not a valid DuckDB database|is not a DuckDB|magic bytes|Extension "',
        "is no DuckDB database; give the path of one",
    ),
    (
        "encrypted|encryption key|decrypt",
        "is encrypted; give the path of a copy that isn't",
    ),
    (
        "[Cc]orrupt|checksum|[Cc]ould not read enough bytes|end of file|deserialize|[Ii]nvalid",
        "is damaged; restore it from a copy",
    ),
    (
        "Permission denied|Cannot open file|[Nn]o such file",
        "can't be opened; check that it and its folder may be read",
    ),
)
"""DuckDB's words → what to do. DuckDB has no code for these."""


def fault(path: Path, words: str) -> DatabaseError:
    """Return the error for DuckDB's words about a file."""
    for pattern, remedy in _REMEDIES:
        if re.search(pattern, words):
            return DatabaseError(f"database {path} {remedy}")
    return DatabaseError(f"database {path} can't be read ({' '.join(words.split())[:200]})")
