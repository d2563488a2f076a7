"""A database's own current time: known ones, and how one is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from sentinel_sql.errors import InputError

KNOWN_CLOCKS: Mapping[str, str] = {
    "mimic_iii": "2105-12-31 23:59:00",
    "eicu": "2105-12-31 23:59:00",
    "mimic_iv": "2100-12-31 23:59:00",
    "hospital": "2100-12-31 23:59:00",
}
"""Database name → current time, as the scorers of EHRSQL and EHRSQL-2024 fix it; also that of our
hospital. For other databases the user gives the clock."""

_FORM = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)


def check_clock(clock: str) -> str:
    """Return `clock` if it is a time `YYYY-MM-DD HH:MM:SS`.

    Raises:
        InputError: it is no such time.
    """
    try:
        if _FORM.fullmatch(clock):
            datetime.fromisoformat(clock)
            return clock
    except ValueError:
        pass
    raise InputError(f"clock {clock!r} is no time; write it as 'YYYY-MM-DD HH:MM:SS'")


def default_clock(name: str) -> str:
    """Return the clock of a database by its name, or the machine's current time."""
    known = KNOWN_CLOCKS.get(name.lower())
    return known or datetime.now().replace(microsecond=0).isoformat(sep=" ")
