"""Makes the cells of two results comparable: equal values of different types become equal."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TypeAlias

from sentinel_sql.database.executor import Cell

Key: TypeAlias = tuple[str, object]
"""A comparable cell: its kind, and its value in a normal form."""

Rows: TypeAlias = list[tuple[Key, ...]]

NOISE = 1e-9
"""Relative difference up to which two numbers count as equal, unless both are whole (our choice):
far above rounding errors of sums, far below the precision of measurements."""

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.0+)?)?)?")


def comparable(
    gold: Sequence[Sequence[Cell]], predicted: Sequence[Sequence[Cell]], *, digits: int | None
) -> tuple[Rows, Rows]:
    """Return both results with each cell as a key; equal values have equal keys.

    Numbers are equal across int, float and plain decimal text (`'90'`, 90, 90.0), and up to
    `NOISE` where one isn't whole; text with a leading zero is a code, not a number. Text is
    equal but for case and outer space. A date equals its midnight. NULL equals only NULL.

    Args:
        gold: rows × columns.
        predicted: rows × columns.
        digits: decimals to round numbers to first, or None.
    """
    raw = [[[_key(cell) for cell in row] for row in rows] for rows in (gold, predicted)]
    numbers = {value for rows in raw for row in rows for kind, value in row if kind == "number"}
    same = _merge_close(float(n) if isinstance(n, float) else n for n in numbers)  # type: ignore[misc]

    if digits is not None:
        same = _round(same, digits)

    def with_merged_number(key: Key) -> Key:
        return ("number", same[key[1]]) if key[0] == "number" else key

    gold_keys, predicted_keys = [
        [tuple(map(with_merged_number, row)) for row in rows] for rows in raw
    ]
    return gold_keys, predicted_keys


def distinctive(column: Iterable[Key]) -> bool:
    """Return whether a column's values can hardly match by chance: text, times, large numbers."""
    return any(
        kind in ("text", "time", "bytes")
        or (isinstance(value, int | float) and (abs(value) >= 100 or value != int(value)))
        for kind, value in column
    )


def _key(cell: Cell) -> Key:
    if cell is None:
        return ("null", None)
    if isinstance(cell, bytes):
        return ("bytes", cell)
    if isinstance(cell, int):
        return ("number", int(cell))
    if isinstance(cell, float):
        return ("number", cell) if math.isfinite(cell) else ("text", str(cell))
    text = cell.strip()
    if _NUMBER.fullmatch(text):
        return ("number", float(text) if "." in text else int(text))
    if time := _TIME.fullmatch(text):
        return ("time", f"{time[1]} {time[2] or '00:00'}:{time[3] or '00'}")
    return ("text", text.casefold())


def _round(numbers: dict[object, int | float], digits: int) -> dict[object, int | float]:
    """Round like SQLite, which rounds halves away from zero; Python rounds them to even digits."""
    with closing(sqlite3.connect(":memory:")) as sqlite:
        return {
            key: number
            if abs(number) >= 2**52
            else sqlite.execute("SELECT round(?, ?) + 0.0", (number, digits)).fetchone()[0]
            for key, number in numbers.items()
        }


def _merge_close(numbers: Iterable[int | float]) -> dict[object, int | float]:
    # Whole numbers keep their identity: two ids that differ by one are never noise.
    same: dict[object, int | float] = {}
    last: int | float | None = None
    for number in sorted(numbers):
        whole = float(number).is_integer()
        close = last is not None and abs(number - last) <= NOISE * abs(number)
        if close and last is not None and not (whole and float(last).is_integer()):
            same[number] = same[last]
        else:
            same[number] = number
        last = number
    return same
