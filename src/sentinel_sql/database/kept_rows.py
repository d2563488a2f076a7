"""Collects the rows of one result within its limits, and passes them on in portions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import chain
from typing import TypeAlias

from sentinel_sql.database.executor import Cell, Limits

PassOn: TypeAlias = Callable[[list[tuple[Cell, ...]] | None], None]
"""Called with (rows) as they arrive, or with (None) when they start again from the first."""

PASSED_ON = 500_000
"""Bytes of rows in one portion."""


class KeptRows:
    """Collects the rows of one result, cuts cells and counts rows."""

    def __init__(self, limits: Limits, pass_on: PassOn | None) -> None:
        self._limits = limits
        self._room = limits.total
        self._pass_on = pass_on
        self._passed_at = self._room - PASSED_ON
        self.rows: list[tuple[Cell, ...]] = []
        self.count = 0
        self.full = False
        self.cells_cut = False

    def add_all(self, rows: list[tuple[Cell, ...]]) -> bool:
        """Keep rows that arrived together, and return whether to go on; as `add` for each."""
        if self._pass_on is None and self.count + len(rows) <= self._limits.rows:
            sizes = list(map(sys.getsizeof, chain.from_iterable(rows)))
            total = sum(sizes) + sum(map(sys.getsizeof, rows))
            # no text is longer than its size in memory
            if total <= self._room and max(sizes, default=0) <= self._limits.cell:
                self._room -= total
                self.rows += rows
                self.count += len(rows)
                return True
        return all(map(self.add, rows))

    def add(self, row: tuple[Cell, ...] | None) -> bool:
        """Keep a row, and return whether to go on. The first row is always kept, if need be cut."""
        if row is None:
            return False
        if self.count >= self._limits.rows:
            self.full = True
            return False
        row = self._cut(row, self._limits.cell)
        size = _size(row)
        if size > self._room:
            if self.count:
                self.full = True
                return False
            row = self._cut(row, max(1, self._limits.total // (5 * len(row))))
            size = _size(row)
        self._room -= size
        self.rows.append(row)
        self.count += 1
        if self._pass_on is not None and self._room < self._passed_at:
            self._pass_on(self.rows)
            self.rows = []
            self._passed_at = self._room - PASSED_ON
        return True

    def _cut(self, row: tuple[Cell, ...], longest: int) -> tuple[Cell, ...]:
        if not any(isinstance(cell, (str, bytes)) and len(cell) > longest for cell in row):
            return row
        self.cells_cut = True
        return tuple(cell[:longest] if isinstance(cell, (str, bytes)) else cell for cell in row)


def _size(row: tuple[Cell, ...]) -> int:
    return sum(map(sys.getsizeof, row), sys.getsizeof(row))
