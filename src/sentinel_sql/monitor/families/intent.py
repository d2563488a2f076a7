"""Intent alignment: whether the committed query returns the kind of thing that was asked for.

Kinds and statistics are read from the question's words and from the query's syntax tree. Each
disagreement is a separate feature, because the model that reads them is linear.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.column_kinds import ColumnKind
from sentinel_sql.monitor.families.query_record import QueryFacts
from sentinel_sql.monitor.families.result_facts import ResultFacts, kind_of_cell
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView
from sentinel_sql.monitor.families.wording import Kind, Wording

_FITTING: Mapping[Kind, frozenset[ColumnKind]] = {
    "time": frozenset({"time"}),
    "count": frozenset({"count", "number"}),
    "ratio": frozenset({"number"}),
    "amount": frozenset({"number", "count"}),
    "truth": frozenset({"truth", "count"}),
    "identifier": frozenset({"identifier"}),
    "name": frozenset({"text", "identifier", "number"}),
}
_CELLS: Mapping[Kind, frozenset[str]] = {
    "time": frozenset({"time"}),
    "count": frozenset({"number"}),
    "ratio": frozenset({"number"}),
    "amount": frozenset({"number"}),
    "truth": frozenset({"number"}),
    "identifier": frozenset({"number", "text"}),
    "name": frozenset({"text", "number"}),
}
_ASKED: tuple[Kind, ...] = ("time", "count", "amount", "truth", "name")
_RETURNED: tuple[ColumnKind, ...] = ("count", "truth", "time", "number", "identifier", "text")

FEATURES: Mapping[str, str] = MappingProxyType(
    {f"asks_{kind}": f"the question asks for a {kind}" for kind in _ASKED}
    | {f"returns_{kind}": f"the answer's first column is a {kind}" for kind in _RETURNED}
    | {
        "kind_differs": "the query returns another kind of thing than was asked for",
        "cell_differs": "the first cell is of another kind than was asked for",
        "time_not_returned": "a time is asked for and none returned",
        "time_unasked": "a time is returned and not asked for",
        "count_not_returned": "a count is asked for and none returned",
        "count_unasked": "a count is returned and neither a count nor yes or no asked for",
        "truth_not_returned": "yes or no is asked for, and neither a truth nor a count returned",
        "truth_as_count": "yes or no is asked for and a count returned",
        "amount_not_returned": "an amount is asked for and no number returned",
        "average_missing": "an average is asked for and none computed",
        "extreme_missing": "a highest or lowest is asked for and nothing orders",
        "difference_missing": "a difference is asked for and nothing subtracted",
        "distinct_missing": "different ones are asked for, without DISTINCT or GROUP BY",
        "group_missing": "something is asked for each, and nothing grouped",
        "average_unasked": "an average is computed and not asked for",
        "extreme_unasked": "MIN or MAX is computed and the words name neither end",
        "order_missing": "more firsts, lasts and extremes are asked for than the query orders",
        "order_unasked": "the query orders more often than the words ask for",
        "wrong_end": "the first is asked for and the last taken, or the reverse",
        "top_differs": "LIMIT isn't the number that was asked for",
        "limit_unasked": "LIMIT stands in a query of which no first, last or ranking was asked",
    }
)
"""By name, the meaning of 1; else the feature is 0. Unknown unless an answer is committed."""


class IntentState:
    """What the question asks for, and whether the committed query gives it."""

    def __init__(self, asked: QuestionView) -> None:
        self._wording = asked.wording
        kind = asked.wording.kind
        self._asked = [float(kind == each) for each in _ASKED]
        self._alignment = [UNSEEN] * (len(FEATURES) - len(_ASKED))

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        if seen.committed == "answer" and seen.query is not None:
            self._alignment = _compare(self._wording, seen.query, seen.result)

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return self._asked + self._alignment


def _compare(asked: Wording, query: QueryFacts, result: ResultFacts | None) -> list[float]:
    returned: ColumnKind = query.returned[0] if query.returned else "unknown"
    fits = returned == "unknown" or returned in _FITTING[asked.kind]
    cell = result.first if result is not None else None
    shown = kind_of_cell(cell) if cell is not None else None
    ordered = query.orders > 0
    names_end = asked.firsts + asked.lasts > 0 or asked.least or asked.most or asked.ranked
    wanted = min(3, asked.firsts + asked.lasts + asked.least + asked.most + asked.ranked)
    takes_last = query.descending is True or (
        query.descending is None and "max" in query.aggregates
    )
    takes_first = query.descending is False or (
        query.descending is None and "min" in query.aggregates
    )
    features: list[bool | float] = [
        *(returned == each for each in _RETURNED),
        not fits,
        shown not in (None, "null") and shown not in _CELLS[asked.kind],
        asked.kind == "time" and returned not in ("time", "unknown"),
        asked.kind != "time" and returned == "time",
        asked.kind == "count" and returned not in ("count", "number", "unknown"),
        asked.kind not in ("count", "truth", "ratio", "amount") and returned == "count",
        asked.kind == "truth" and returned not in ("truth", "count"),
        asked.kind == "truth" and returned == "count",
        asked.kind == "amount" and returned not in ("number", "count", "unknown"),
        asked.average and "avg" not in query.aggregates and not query.divides,
        (asked.least or asked.most) and not ordered,
        asked.difference and not query.subtracts,
        asked.distinct and not query.distinct and not query.grouped,
        asked.grouped and not query.grouped,
        "avg" in query.aggregates and not asked.average,
        bool(query.aggregates & {"min", "max"}) and not names_end and not asked.difference,
        float(max(0, wanted - query.orders)),
        float(max(0, min(3, query.orders) - wanted)),
        (asked.firsts > 0 and not asked.lasts and takes_last and not asked.ranked)
        or (asked.lasts > 0 and not asked.firsts and takes_first),
        asked.top is not None and query.limit != asked.top,
        query.limit is not None and not names_end and asked.top is None,
    ]
    return [float(value) for value in features]
