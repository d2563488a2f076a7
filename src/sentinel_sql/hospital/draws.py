"""Draws with sums and products alone, and columns as the database stores them.

No logarithm, no power, no library's own normal draw: so the same rows come out of every NumPy
version and processor.
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
"""The clock; every time here is in seconds since the year 2000."""

FIRST = int((datetime(2099, 1, 1) - _EPOCH).total_seconds())
"""Begin of the data."""

NEVER = 2**40
_SLICE = 20_000
FIRST_ITEM = {"lab": 50_801, "chart": 220_001, "input": 225_001, "output": 226_501}
"""Lowest item id by kind of item."""


class Draws:
    """Uniform draws and what can be made of them with sums and products alone."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, *shape: int) -> Floats:
        """Draw from [0, 1)."""
        return self._generator.random(shape)

    def bell(self, *shape: int) -> Floats:
        """Mean 0, standard deviation 1, within ±3.5: four uniforms summed."""
        total = self.uniform(*shape) + self.uniform(*shape)
        total = total + self.uniform(*shape) + self.uniform(*shape)
        return (total - 2.0) * 1.7320508075688772

    def below(self, bound: int, *shape: int) -> Ints:
        """Whole numbers 0 … bound − 1."""
        return (self.uniform(*shape) * bound).astype(np.int64)

    def pick(self, shares: Sequence[float], size: int) -> Ints:
        """Draw indices by their shares."""
        edges = np.cumsum(np.array(shares, dtype=np.float64))
        index = np.searchsorted(edges, self.uniform(size) * edges[-1], side="right")
        chosen: Ints = np.minimum(index, len(shares) - 1).astype(np.int64)
        return chosen

    def identifiers(self, base: int, size: int) -> Ints:
        """Distinct numbers of eight digits from `base` on, in no order."""
        order = np.argsort(self.uniform(size), kind="stable")
        step = 9_000_000 // max(size, 1)
        found: Ints = base + order * step + self.below(max(step // 2, 1), size)
        return found


def square(draw: Floats) -> Floats:
    """Press draws from [0, 1) towards 0."""
    return draw * draw


def cube(draw: Floats) -> Floats:
    """Press draws from [0, 1) harder towards 0."""
    return draw * draw * draw


def inside(draws: Draws, low: Ints, high: Ints) -> Ints:
    """Whole minutes from `low` to before `high`."""
    return low + (draws.uniform(len(low)) * ((high - low) // MINUTE)).astype(np.int64) * MINUTE


@cache
def _calendar() -> tuple[list[str], list[str]]:
    dates = [(_EPOCH + timedelta(days=d)).strftime("%Y-%m-%d ") for d in range(102 * 366)]
    return dates, [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in range(DAY)]


def stamps(seconds: Ints) -> list[str | None]:
    """Timestamps as the database stores them; what lies after the clock is NULL."""
    dates, times = _calendar()
    days, rest = np.divmod(seconds, DAY)
    return [
        dates[d] + times[r] if known else None
        for d, r, known in zip(days.tolist(), rest.tolist(), (seconds <= NOW).tolist(), strict=True)
    ]


def dates(seconds: Ints) -> list[str | None]:
    """Give midnights as the database stores them; what never comes is NULL."""
    return [None if s == NEVER else _stamp_day(s) for s in seconds.tolist()]


def _stamp_day(second: int) -> str:
    return (_EPOCH + timedelta(days=second // DAY)).strftime("%Y-%m-%d 00:00:00")


def words_of(index: Ints, words: Sequence[Any]) -> list[Any]:
    """Look each index up in the words."""
    return [words[i] for i in index.tolist()]


def nullable(values: Floats, missing: Bools) -> list[float | None]:
    """Put NULL where a value is missing."""
    return [None if m else v for v, m in zip(values.tolist(), missing.tolist(), strict=True)]


def insert(connection: sqlite3.Connection, table: str, *data: Column) -> None:
    """Write whole columns, without the row_id, which counts from 0."""
    names = schema.columns(table)
    marks = ", ".join("?" * len(names))
    size = len(data[0])
    statement = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 (our own names)
    for low in range(0, size, _SLICE):
        high = min(low + _SLICE, size)
        columns = [c[low:high] if isinstance(c, list) else c[low:high].tolist() for c in data]
        connection.executemany(statement, zip(range(low, high), *columns, strict=True))
