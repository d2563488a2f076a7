"""Result shape: the size of the committed query's result, and whether it fits the question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.result_facts import ResultFacts, kind_of_cell
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView
from sentinel_sql.monitor.families.wording import Wording

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "empty": "nothing came back",
        "null_alone": "one cell came back, and it is NULL",
        "zero_alone": "one cell came back, and it is 0",
        "zero_count": "a count was asked for, and one cell came back, and it is 0",
        "zero_truth": "yes or no was asked for, and 0 came back",
        "void": "nothing, NULL or 0 came back",
        "one_alone": "one cell came back, and it is 1",
        "rows_log": "logarithm of one more than the number of rows",
        "several_columns": "more than one column came back",
        "nulls": "share of NULL in the sample",
        "many_for_one": "several rows came back for a question that asks for one value",
        "one_for_many": "one row came back for a question that asks for a list",
        "fewer_than_top": "fewer rows came back than the ranking asked for",
        "echo": "the first cell is a text that the question itself says",
        "twins": "the sample's rows are all alike",
        "long_number": "the first cell has more than four decimals",
        "truncated": "there were more rows than were read",
    }
)
"""Meanings by name; unknown unless an answer is committed."""


class ShapeState:
    """The shape of the committed answer."""

    def __init__(self, asked: QuestionView) -> None:
        self._wording = asked.wording
        self._said = asked.question.text.lower()
        self._values = [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        if seen.committed == "answer" and seen.result is not None:
            self._values = _read_shape(self._wording, self._said, seen.result)

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)


def _read_shape(asked: Wording, said: str, result: ResultFacts) -> list[float]:
    alone = result.rows == 1 and result.columns <= 1
    cell = result.first if result.first is not None else ""
    kind = kind_of_cell(cell)
    null = alone and kind == "null"
    zero = alone and kind == "number" and float(cell) == 0.0
    cells = [each for row in result.cells for each in row]
    single = asked.kind in ("count", "amount", "ratio") or asked.firsts + asked.lasts > 0
    several = asked.ranked or asked.listed or asked.grouped
    features: list[bool | float] = [
        result.rows == 0,
        null,
        zero,
        zero and asked.kind == "count",
        zero and asked.kind == "truth",
        result.rows == 0 or null or zero,
        alone and kind == "number" and float(cell) == 1.0,
        math.log1p(min(result.rows, 10**6)),
        result.columns > 1,
        sum(kind_of_cell(each) == "null" for each in cells) / max(1, len(cells)),
        result.rows > 1 and single and not several,
        result.rows == 1 and several,
        asked.top is not None and result.rows < asked.top,
        kind == "text" and len(cell) > 3 and cell.lower() in said,
        len(result.cells) > 1 and len(set(result.cells)) == 1,
        kind == "number" and len(cell.partition(".")[2]) > 4,
        result.truncated,
    ]
    return [float(value) for value in features]
