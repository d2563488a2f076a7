"""Decides whether two query results are the same answer, by named and versioned modes.

`docs/reference/answer-modes.md` specifies each mode. The official modes do exactly what their
scorers do, including faults; `sentinel-1` is ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from sentinel_sql.database.cell_forms import form_of_cell
from sentinel_sql.database.ehrsql_sql import postprocess_2024, postprocess_v1, unchanged
from sentinel_sql.database.executor import Cell, ExecutionResult

Row: TypeAlias = Sequence[Cell]
Rows: TypeAlias = Sequence[Row]

COMPARED_ROWS = 100
"""Rows that the official scorers compare: v1 the first returned, 2024 the first after sorting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalence:
    """One mode: how it prepares a query's text, and the form in which results are compared.

    Attributes:
        name: the mode's name with its version.
        postprocess: returns the text to run for a gold or predicted query.
        form: called with (rows, whether order counts); two results are the same answer iff their
            forms are equal. Official modes ignore the flag.
        counts_to: results of at least this many rows can be equal with different numbers of rows;
            None if the number of rows always counts.
        compares_first: whether the form uses only the first `COMPARED_ROWS` rows, as returned.
    """

    name: str
    postprocess: Callable[[str], str]
    form: Callable[[Rows, bool], Hashable]
    counts_to: int | None
    compares_first: bool

    def equivalent(self, a: Rows, b: Rows, *, ordered: bool = False) -> bool:
        """Return whether two complete results are the same answer."""
        return self.form(a, ordered) == self.form(b, ordered)

    def same_answer(
        self, a: ExecutionResult, b: ExecutionResult, *, ordered: bool = False
    ) -> bool | None:
        """Return whether two results are the same answer; None if a cut hides it.

        An error or a refusal is never the same answer, not even as itself.
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
        """Return whether `cut` surely has more rows than `whole`, if the mode counts that far."""
        if whole.truncated or not cut.truncated:
            return False
        if self.counts_to is not None and len(whole.rows) >= self.counts_to:
            return False
        # if only rows were cut, there was at least one more row than was kept
        return len(cut.rows) + (not cut.cells_cut) > len(whole.rows)


def printed_2024(rows: Rows) -> str:
    """Return a result as EHRSQL-2024 prints it; the data set's answers have this form.

    Each cell that Python reads as a number is rounded to 3 places, all cells become text, rows
    are sorted as lists of text, and the first 100 are printed.
    """
    return str(sorted([_cell_2024(cell) for cell in row] for row in rows)[:COMPARED_ROWS])


def printed_v1(rows: Rows) -> str:
    """Return a result as EHRSQL's scorer compares it: the first 100 rows as text, sorted."""
    return str(sorted(str(tuple(row)) for row in rows[:COMPARED_ROWS]))


def _cell_2024(cell: Cell) -> str:
    value: Cell = cell
    # `float` also reads ' 7 ', '1_000', 'nan', digits of any script and bytes, like the official
    # scorer. A whole number that is too large for it stays unchanged.
    with suppress(TypeError, ValueError, OverflowError):
        value = round(float(cell), 3)  # type: ignore[arg-type]
    return str(value)


def _form_sentinel(rows: Rows, ordered: bool) -> Hashable:
    forms = [tuple(form_of_cell(cell) for cell in row) for row in rows]
    return tuple(forms) if ordered else frozenset(Counter(forms).items())


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
"""Name → mode. A mode that behaves differently gets a new name."""
