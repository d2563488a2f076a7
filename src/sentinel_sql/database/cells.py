"""Converts the values of every database driver to cells, by one table."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from sentinel_sql.database.executor import Cell

LONGEST_INTEGER: Final = 1000
"""Digits from which on an integer stays a text."""


def cell_of(value: object) -> Cell:
    """Return a driver's value as a cell.

    A boolean becomes 1 or 0; a Decimal an int where its scale is 0, else a float; a date
    `YYYY-MM-DD`; a timestamp `YYYY-MM-DD HH:MM:SS[.ffffff]`, in UTC with `+00:00` where it has a
    zone; a time `HH:MM:SS[.ffffff]`, with its zone as `+HH[:MM]`; a duration
    `N days HH:MM:SS[.ffffff]` as PostgreSQL writes it; a list, a tuple or a mapping JSON; anything
    unknown its text.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value  # type: ignore[return-value]
    converter = _CONVERTERS.get(kind)
    if converter is not None:
        return converter(value)
    for known, converter in _CONVERTERS.items():
        if isinstance(value, known):
            return converter(value)
    return str(value)


def json_cell(text: Cell) -> Cell:
    """Return a text that a database declares to be JSON as `cell_of` writes lists and mappings.

    Any other value stays: a database may hold a number or a broken text there.
    """
    if not isinstance(text, str):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _json(value) if isinstance(value, (list, dict)) else text


def _number(value: Decimal) -> Cell:
    if value.is_nan():
        return math.nan
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < 0:
        return float(value)
    # Python turns no integer of thousands of digits into text
    return int(value) if value.adjusted() < LONGEST_INTEGER else str(value)


def _timestamp(value: datetime) -> str:
    try:
        return (value if value.tzinfo is None else value.astimezone(UTC)).isoformat(sep=" ")
    except OverflowError:  # the first or the last hours that Python knows
        return value.isoformat(sep=" ")


def _time(value: time) -> str:
    text = value.isoformat()
    return text[:-3] if value.tzinfo is not None and text.endswith(":00") else text


def _duration(value: timedelta) -> str:
    days, rest = divmod(abs(value), timedelta(days=1))
    sign = "-" if value < timedelta(0) else ""
    parts = [f"{sign}{days} day{'' if sign + str(days) == '1' else 's'}"] if days else []
    if rest or not days:
        seconds, fraction = divmod(rest // timedelta(microseconds=1), 1_000_000)
        minutes, second = divmod(seconds, 60)
        clock = f"{sign}{minutes // 60:02}:{minutes % 60:02}:{second:02}"
        parts.append(clock + (f".{fraction:06}".rstrip("0") if fraction else ""))
    return " ".join(parts)


def _json(value: object) -> str:
    return json.dumps(_inner(value), ensure_ascii=False, sort_keys=True)


def _inner(value: object) -> object:
    """Return a value as JSON has it; a number that JSON lacks is a text, as PostgreSQL does it."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Mapping):
        return {_key(name): _inner(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_inner(part) for part in value]
    cell = cell_of(value)
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else f"{'-' if cell < 0 else ''}Infinity"
    return f"\\x{cell.hex()}" if isinstance(cell, bytes) else cell


def _key(name: object) -> str:
    inner = _inner(name)
    return inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)


_PLAIN: Final = frozenset({str, int, float, bytes, type(None)})
_CONVERTERS: Final[Mapping[type, Callable[[Any], Cell]]] = {
    bool: int,
    Decimal: _number,
    datetime: _timestamp,
    date: date.isoformat,
    time: _time,
    timedelta: _duration,
    dict: _json,
    list: _json,
    tuple: _json,
    bytearray: bytes,
    memoryview: bytes,
}
