"""The numbers, dates, texts and row counts of a result, to compare a sentence with."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.sentence.dates import Clock, Day, moments_in
from sentinel_sql.decision.sentence.numbers import blanked, numbers_in
from sentinel_sql.decision.sentence.units import UNITS
from sentinel_sql.result_line import cell_text

MOST_DERIVED = 200
"""Most numbers of a result from which sums, differences and shares are computed (our choice):
people state these about short tables only."""

MOST_TEXT = 200_000
"""Characters of a result's texts that are compared, ours: they take some two seconds, and nobody
reads more. Numbers of numeric cells are compared without such a bound."""

_NUMBER = re.compile(r"\s*[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?\s*\Z")


@dataclass(kw_only=True)
class Contents:
    """The contents of one result.

    Attributes:
        values: all numbers, sorted: numeric cells, numbers within texts, and years of dates.
        columns: numbers of the numeric cells, for each column.
        units: unit of each column, taken from its name, or None.
        days, clocks: dates and times of day.
        texts: the text cells, as `folded` returns them.
        rows: the cells of each row.
        count: number of rows, or None if unknown.
        single: the only cell of a result of one row and one column, else None.
        room: characters of texts that may still be read.
    """

    values: list[Decimal] = field(default_factory=list)
    columns: list[list[Decimal]] = field(default_factory=list)
    units: list[str | None] = field(default_factory=list)
    days: set[Day] = field(default_factory=set)
    clocks: set[Clock] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    rows: Sequence[tuple[Any, ...]] = ()
    count: int | None = None
    single: Any = None
    has_single: bool = False
    room: int = MOST_TEXT

    @classmethod
    def of(cls, seen: LiveResult) -> Contents:
        """Read a result; a printed one is read from its text."""
        if seen.rows is None:
            text = seen.value if isinstance(seen.value, str) else seen.observation.text or ""
            contents = cls(count=seen.observation.rows, columns=[[]], units=[None])
            contents._take(0, text)
            contents.columns = [list(contents.values)]
            if seen.observation.kind == "rows" and len(contents.values) == 1:
                contents.single, contents.has_single = contents.values[0], True
            if seen.observation.kind == "empty":
                contents.count = 0
        else:
            width = max(map(len, seen.rows), default=0)
            contents = cls(
                rows=seen.rows,
                count=None if seen.observation.truncated else len(seen.rows),
                columns=[[] for _ in range(width)],
                units=[_unit_named(name) for name in (seen.names or [""] * width)][:width],
            )
            contents.units += [None] * (width - len(contents.units))
            for row in seen.rows:
                for place, cell in enumerate(row):
                    contents._take(place, cell)
            if len(seen.rows) == 1 and width == 1:
                contents.single, contents.has_single = seen.rows[0][0], True
        contents.values.sort()
        return contents

    @property
    def single_number(self) -> Decimal | None:
        """The only cell, if it is a number."""
        return as_number(self.single)

    def holds(self, low: Decimal, high: Decimal) -> bool:
        """Return whether a number of the result lies in [low, high]."""
        place = bisect_left(self.values, low)
        return place < len(self.values) and self.values[place] <= high

    def few_columns(self) -> list[list[Decimal]]:
        """Return the numeric columns, or none if they hold more than `MOST_DERIVED` numbers."""
        some = [column for column in self.columns if column]
        return some if sum(map(len, some)) <= MOST_DERIVED else []

    @cached_property
    def counts(self) -> set[int]:
        """The counts of rows, and of distinct cells by column, that a text may state."""
        if self.count is None or self.has_single:
            return set()
        if self.count == 1 and any(self.columns):
            return set()
        found = {self.count}
        width = max(map(len, self.rows), default=0)
        for place in range(width):
            cells = [row[place] for row in self.rows if len(row) > place]
            present = [cell_text(cell) for cell in cells if cell is not None]
            found |= {len(set(present)), len(present)}
        return found

    def _take(self, place: int, cell: Any) -> None:
        if cell is None:
            return
        number = as_number(cell)
        if number is not None:
            self.values.append(number)
            self.columns[place].append(number)
            return
        if hasattr(cell, "total_seconds"):
            seconds = Decimal(str(cell.total_seconds()))
            self.values.append(seconds)
            self.columns[place].append(seconds)
            self.units[place] = "seconds"
            return
        if hasattr(cell, "year") and hasattr(cell, "month") and hasattr(cell, "day"):
            self.days.add((int(cell.year), int(cell.month), int(cell.day)))
            self.values.append(Decimal(int(cell.year)))
        if hasattr(cell, "hour") and hasattr(cell, "minute"):
            self.clocks.add((int(cell.hour), int(cell.minute), int(getattr(cell, "second", 0))))
        if isinstance(cell, list | tuple | set | frozenset | dict):
            for each in cell.values() if isinstance(cell, dict) else cell:
                self._take(place, each)
            return
        text = cell_text(cell)
        if len(text) > self.room:
            text = text[: self.room].rpartition(" ")[0]  # no half of a number or of a name
            self.room = 0
        self.room -= len(text)
        if not text:
            return
        moments = moments_in(text)
        rest = blanked(text, ((moment.start, moment.end) for moment in moments))
        for moment in moments:
            self.days |= moment.days
            self.values += [Decimal(day[0]) for day in moment.days if day[0] is not None]
            if moment.clock is not None:
                self.clocks.add(moment.clock)
        if any(map(str.isalpha, rest)):
            self.texts.add(folded(text))
        for stated in numbers_in(rest):
            self.values += [value for value, _ in stated.readings]


def as_number(cell: Any) -> Decimal | None:
    """Return a cell as a number, also if it is a text with only a number; None for NaN."""
    if cell is None or isinstance(cell, bytes | bytearray | memoryview):
        return None
    if isinstance(cell, bool):
        return Decimal(int(cell))
    if isinstance(cell, str) and not _NUMBER.match(cell):
        return None
    try:
        number = Decimal(cell) if isinstance(cell, int) else Decimal(cell_text(cell).strip())
    except (InvalidOperation, ValueError, TypeError, ArithmeticError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 400 else None


def folded(text: str) -> str:
    """Return a text for comparison: casefolded, its words joined by single blanks."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def units_in(texts: Iterable[str]) -> set[str]:
    """Return the units that stand in texts as whole words of two or more letters."""
    words = {word for text in texts for word in re.findall(r"[a-zµ]+", text.lower())}
    return {word for word in words if len(word) > 1 and word in UNITS}


def _unit_named(name: Any) -> str | None:
    found = sorted(units_in([cell_text(name)]) - {"min", "mins", "sec", "secs"})
    return found[0] if len(found) == 1 else None
