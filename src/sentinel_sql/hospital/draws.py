"""Random draws from sums and products only, and columns in the format of the database.

Without logarithms, powers and the library's normal draws, every version of NumPy and every
processor gives the same rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.hospital import schema

Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Column: TypeAlias = "Ints | Floats | list[Any]"

MINUTE, HOUR, DAY = 60, 3600, 86_400
_EPOCH = datetime(2000, 1, 1)
NOW = int((datetime.fromisoformat(schema.CLOCK) - _EPOCH).total_seconds())
"""The database's clock. All times here are seconds since the start of the year 2000."""

FIRST = int((datetime(2099, 1, 1) - _EPOCH).total_seconds())
"""The start of the data."""

NEVER = 2**40
_SLICE = 20_000
FIRST_ITEM = {"lab": 50_801, "chart": 220_001, "input": 225_001, "output": 226_501}
"""The lowest item id of each kind of item."""


class Draws:
    """Uniform draws, and further draws made from them by sums and products only."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, *shape: int) -> Floats:
        """Draw from [0, 1)."""
        return self._generator.random(shape)

    def bell(self, *shape: int) -> Floats:
        """Draw with mean 0 and standard deviation 1, within ±3.5: sums of four uniform draws."""
        total = self.uniform(*shape) + self.uniform(*shape)
        total = total + self.uniform(*shape) + self.uniform(*shape)
        return (total - 2.0) * 1.7320508075688772

    def below(self, bound: int, *shape: int) -> Ints:
        """Draw integers from 0 to bound − 1."""
        return (self.uniform(*shape) * bound).astype(np.int64)

    def pick(self, shares: Sequence[float], size: int) -> Ints:
        """Draw indices with probabilities in proportion to `shares`."""
        edges = np.cumsum(np.array(shares, dtype=np.float64))
        index = np.searchsorted(edges, self.uniform(size) * edges[-1], side="right")
        chosen: Ints = np.minimum(index, len(shares) - 1).astype(np.int64)
        return chosen

    def identifiers(self, base: int, size: int) -> Ints:
        """Draw distinct numbers of eight digits from `base` on, in random order."""
        order = np.argsort(self.uniform(size), kind="stable")
        step = 9_000_000 // max(size, 1)
        found: Ints = base + order * step + self.below(max(step // 2, 1), size)
        return found


def square(draw: Floats) -> Floats:
    """Move draws from [0, 1) towards 0."""
    return draw * draw


def cube(draw: Floats) -> Floats:
    """Move draws from [0, 1) further towards 0."""
    return draw * draw * draw


def inside(draws: Draws, low: Ints, high: Ints) -> Ints:
    """Draw times in [low, high), a whole number of minutes after `low`."""
    return low + (draws.uniform(len(low)) * ((high - low) // MINUTE)).astype(np.int64) * MINUTE


@cache
def _calendar() -> tuple[list[str], list[str]]:
    dates = [(_EPOCH + timedelta(days=d)).strftime("%Y-%m-%d ") for d in range(102 * 366)]
    return dates, [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in range(DAY)]


def stamps(seconds: Ints) -> list[str | None]:
    """Return timestamps in the database's format; times after the clock are NULL."""
    dates, times = _calendar()
    days, rest = np.divmod(seconds, DAY)
    return [
        dates[d] + times[r] if known else None
        for d, r, known in zip(days.tolist(), rest.tolist(), (seconds <= NOW).tolist(), strict=True)
    ]


def dates(seconds: Ints) -> list[str | None]:
    """Return dates in the database's format, at midnight; `NEVER` is NULL."""
    return [None if s == NEVER else _stamp_day(s) for s in seconds.tolist()]


def _stamp_day(second: int) -> str:
    return (_EPOCH + timedelta(days=second // DAY)).strftime("%Y-%m-%d 00:00:00")


def words_of(index: Ints, words: Sequence[Any]) -> list[Any]:
    """Return the word at each index."""
    return [words[i] for i in index.tolist()]


def nullable(values: Floats, missing: Bools) -> list[float | None]:
    """Return the values with NULL where one is missing."""
    return [None if m else v for v, m in zip(values.tolist(), missing.tolist(), strict=True)]


def insert(connection: sqlite3.Connection, table: str, *data: Column) -> None:
    """Write the columns of a table, but for row_id, which is added and counts from 0."""
    names = schema.columns(table)
    marks = ", ".join("?" * len(names))
    size = len(data[0])
    statement = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 (our own names)
    for low in range(0, size, _SLICE):
        high = min(low + _SLICE, size)
        columns = [c[low:high] if isinstance(c, list) else c[low:high].tolist() for c in data]
        connection.executemany(statement, zip(range(low, high), *columns, strict=True))
