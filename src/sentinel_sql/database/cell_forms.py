"""The form in which `sentinel-1` compares one cell, the same whichever database it was read from.

SQLite holds times, lists and JSON as texts; PostgreSQL and DuckDB have types for them. `cells`
makes texts of these, and here texts that mean the same get one form.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable
from datetime import UTC, datetime
from typing import Any, Final

from sentinel_sql.database.executor import Cell

SIGNIFICANT_DIGITS: Final = 9
"""Significant digits of fractional numbers in `sentinel-1` (our choice): more than measurements
have, and few enough to ignore rounding errors of sums."""

EXACT_FLOATS: Final = 2.0**53
"""A float holds every whole number below this exactly."""

_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_TIME: Final = re.compile(r"(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00(?::?00)?|Z)?", re.ASCII)


def form_of_cell(cell: Cell) -> tuple[str, Hashable]:
    """Return the form of one cell: two cells are the same iff their forms are equal."""
    if isinstance(cell, int):
        return ("number", int(cell))
    if isinstance(cell, float):
        return ("number", _number(cell))
    if cell is None:
        return ("null", None)
    return ("bytes", cell) if isinstance(cell, bytes) else _text(cell)


def _number(value: float) -> Hashable:
    if math.isnan(value):
        return "nan"
    if value.is_integer() and abs(value) < EXACT_FLOATS:
        return int(value)
    # a whole number after rounding equals the integer; infinity stays a float
    rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _text(text: str) -> tuple[str, Hashable]:
    first = text[:1]
    if first.isdigit():
        if (found := _TIMESTAMP.fullmatch(text)) and (instant := _instant(*found.groups())):
            return ("time", instant)
        if found := _TIME.fullmatch(text):
            return ("time", _with_fraction(found[1], found[2]))
    elif first in ("[", "{"):
        try:
            return ("json", _json(json.loads(text, parse_constant=_refuse)))
        except (ValueError, RecursionError):
            pass
    return ("text", text)


def _instant(day: str, time: str, fraction: str | None, zone: str | None) -> str | None:
    """Return a time in UTC, which is the zone of every session; None if there is no such time."""
    try:
        found = datetime.fromisoformat(f"{day} {time}{zone or '+00:00'}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return _with_fraction(found.replace(tzinfo=None).isoformat(sep=" "), fraction)


def _with_fraction(time: str, fraction: str | None) -> str:
    digits = (fraction or "").rstrip("0")
    return f"{time}.{digits}" if digits else time


def _json(value: Any) -> Hashable:
    if isinstance(value, list):
        return ("list", tuple(_json(part) for part in value))
    if isinstance(value, dict):
        return ("object", frozenset((name, _json(part)) for name, part in value.items()))
    return form_of_cell(value)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} isn't JSON")
