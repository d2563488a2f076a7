"""Converts the values of every database driver to cells, by one table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from sentinel_sql.database.executor import Cell


def cell_of(value: object) -> Cell:
    """Return a driver's value as a cell.

    A boolean becomes 1 or 0; a Decimal an int where its scale is 0, else a float; a date
    `YYYY-MM-DD`; a timestamp `YYYY-MM-DD HH:MM:SS[.ffffff]`, in UTC with `+00:00` where it has a
    zone; a list or a mapping JSON; anything unknown its text.
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


def _number(value: Decimal) -> Cell:
    exponent = value.as_tuple().exponent
    return int(value) if isinstance(exponent, int) and exponent >= 0 else float(value)


def _time(value: datetime) -> str:
    return (value if value.tzinfo is None else value.astimezone(UTC)).isoformat(sep=" ")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_inner)


def _inner(value: object) -> Cell:
    cell = cell_of(value)
    return f"\\x{cell.hex()}" if isinstance(cell, bytes) else cell


_PLAIN: Final = frozenset({str, int, float, bytes, type(None)})
_CONVERTERS: Final[Mapping[type, Callable[[Any], Cell]]] = {
    bool: int,
    Decimal: _number,
    datetime: _time,
    date: date.isoformat,
    dict: _json,
    list: _json,
    tuple: _json,
    bytearray: bytes,
    memoryview: bytes,
}
