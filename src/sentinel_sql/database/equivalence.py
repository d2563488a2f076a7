"""When two query results count as the same answer: named, versioned modes.

`docs/reference/answer-modes.md` specifies each mode. The official modes repeat their scorers
exactly, faults included; `sentinel-1` is ours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from sentinel_sql.database.ehrsql_sql import postprocess_2024, postprocess_v1, unchanged
from sentinel_sql.database.executor import Cell, ExecutionResult

Row: TypeAlias = Sequence[Cell]
Rows: TypeAlias = Sequence[Row]

COMPARED_ROWS = 100
"""Rows that the official scorers look at: v1 the first as they come, 2024 the first in order."""

SIGNIFICANT_DIGITS = 9
"""Digits by which `sentinel-1` tells fractional numbers apart; ours: more than any measurement
carries, fewer than the order of summation can disturb."""


EXACT_FLOATS = 2.0**53
"""Below this size a float holds a whole number exactly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalence:
    """One mode: how it prepares a query's text, and the form in which results are compared.

    Attributes:
        name: the mode's name with its version.
        postprocess: makes the text that is run from a gold or predicted query.
        form: two results are the same answer iff their forms are equal. The flag says that the
            question asks for an order; official modes pay no heed to it.
        counts_to: results of at least so many rows can be equal without having as many; None
            where the number of rows always counts.
        compares_first: whether only the first `COMPARED_ROWS` rows, as they come, make the form.
    """

    name: str
    postprocess: Callable[[str], str]
    form: Callable[[Rows, bool], Hashable]
    counts_to: int | None
    compares_first: bool

    def equivalent(self, a: Rows, b: Rows, *, ordered: bool = False) -> bool:
        """Say whether two complete results are the same answer."""
        return self.form(a, ordered) == self.form(b, ordered)

    def same_answer(
        self, a: ExecutionResult, b: ExecutionResult, *, ordered: bool = False
    ) -> bool | None:
        """Say whether two executions gave the same answer; None where truncation hides it.

        An error or a refusal is the same answer as nothing, not even as itself.
        """
        if not all(result.kind in ("rows", "empty") for result in (a, b)):
            return False
        if not (a.truncated or b.truncated):
            return self.equivalent(a.rows, b.rows, ordered=ordered)
        if self._counts_differ(a, b) or self._counts_differ(b, a):
            return False
        if any(not self._shows_enough(result) for result in (a, b)):
            return None
        return self.equivalent(a.rows, b.rows, ordered=ordered)

    def _shows_enough(self, result: ExecutionResult) -> bool:
        if not result.truncated:
            return True
        return self.compares_first and not result.cells_cut and len(result.rows) >= COMPARED_ROWS

    def _counts_differ(self, whole: ExecutionResult, cut: ExecutionResult) -> bool:
        """Whether `cut` surely has more rows than `whole`, where the mode counts that far."""
        if whole.truncated or not cut.truncated:
            return False
        if self.counts_to is not None and len(whole.rows) >= self.counts_to:
            return False
        # where only rows were cut, at least one more was there than is kept
        return len(cut.rows) + (not cut.cells_cut) > len(whole.rows)


def printed_2024(rows: Rows) -> str:
    """Return a result as EHRSQL-2024 prints it: its shipped answers are of this form.

    Each cell that Python reads as a number is rounded to 3 places, all cells become text, rows
    are sorted as lists of text, and the first 100 are printed.
    """
    return str(sorted([_cell_2024(cell) for cell in row] for row in rows)[:COMPARED_ROWS])


def printed_v1(rows: Rows) -> str:
    """Return a result as EHRSQL's scorer compares it: the first 100 rows as text, sorted."""
    return str(sorted(str(tuple(row)) for row in rows[:COMPARED_ROWS]))


def _cell_2024(cell: Cell) -> str:
    value: Cell = cell
    # `float` also reads ' 7 ', '1_000', 'nan', digits of any script and bytes; so does the
    # official scorer. A whole number too large for it stays as it is.
    with suppress(TypeError, ValueError, OverflowError):
        value = round(float(cell), 3)  # type: ignore[arg-type]
    return str(value)


def _form_sentinel(rows: Rows, ordered: bool) -> Hashable:
    forms = [tuple(_cell_sentinel(cell) for cell in row) for row in rows]
    return tuple(forms) if ordered else frozenset(Counter(forms).items())


def _cell_sentinel(cell: Cell) -> tuple[str, Hashable]:
    if isinstance(cell, int):
        return ("number", int(cell))
    if isinstance(cell, float):
        if math.isnan(cell):
            return ("number", "nan")
        if cell.is_integer() and abs(cell) < EXACT_FLOATS:
            return ("number", int(cell))
        # a whole number after rounding equals the integer; infinity stays a float
        rounded = float(f"{cell:.{SIGNIFICANT_DIGITS}g}")
        return ("number", int(rounded) if rounded.is_integer() else rounded)
    if cell is None:
        return ("null", None)
    return ("bytes" if isinstance(cell, bytes) else "text", cell)


MODES: Mapping[str, Equivalence] = {
    mode.name: mode
    for mode in (
        Equivalence(
            name="ehrsql-v1",
            postprocess=postprocess_v1,
            form=lambda rows, _ordered: printed_v1(rows),
            counts_to=COMPARED_ROWS,
            compares_first=True,
        ),
        Equivalence(
            name="ehrsql-2024",
            postprocess=postprocess_2024,
            form=lambda rows, _ordered: printed_2024(rows),
            counts_to=COMPARED_ROWS,
            compares_first=False,
        ),
        Equivalence(
            name="sentinel-1",
            postprocess=unchanged,
            form=_form_sentinel,
            counts_to=None,
            compares_first=False,
        ),
    )
}
"""Every mode by name. A change of behaviour is a new name, never a new meaning."""
