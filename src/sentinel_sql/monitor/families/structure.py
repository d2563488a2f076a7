"""Structure of the committed query: joins, nesting, and patterns that are often wrong."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sentinel_sql.monitor.families.query_record import QueryFacts
from sentinel_sql.monitor.families.step_view import UNSEEN, QuestionView, StepView

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "tables_read": "how many tables it reads, at most 6",
        "idle_tables": "joined tables of which nothing but the join is used",
        "nested": "nested SELECTs, at most 4",
        "mixed_or": "an OR beside an AND without brackets",
        "contradicts": "a column must be NULL and something else at once",
        "subtracts_times": "times are subtracted as they are",
        "bare_beside_aggregate": "a column beside an aggregate that nothing groups by",
        "limit_unordered": "LIMIT without an order",
        "unfiltered": "no comparison with a literal at all",
        "now": "it asks for the current time",
        "label_as_code": "a key is compared with a text that holds a space",
        "code_as_label": "a column of text is compared with a bare number",
        "distinct": "DISTINCT in what it returns",
        "grouped": "GROUP BY",
        "detours": "joined tables beyond the fewest that connect the tables used, at most 3",
    }
)
"""Meanings by name; unknown unless an answer is committed."""


class StructureState:
    """The structure of the committed query."""

    def __init__(self, asked: QuestionView) -> None:
        self._keys = asked.surroundings.keys
        self._values = [UNSEEN] * len(FEATURES)

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        if seen.committed == "answer" and seen.query is not None:
            self._values = [*_read_structure(seen.query), self._detours(seen.query)]

    def values(self) -> list[float]:
        """Return the features in the order of `FEATURES`."""
        return list(self._values)

    def _detours(self, query: QueryFacts) -> float:
        """Return the tables off the shortest way, unseen if no foreign keys connect those used."""
        if self._keys is None:
            return UNSEEN
        needed = self._keys.tables_between(query.used_tables)
        return UNSEEN if needed is None else float(min(3, max(0, query.idle_tables - needed)))


def _read_structure(query: QueryFacts) -> list[float]:
    features: list[bool | float] = [
        float(min(6, len(query.tables))),
        float(min(3, query.idle_tables)),
        float(min(4, query.subqueries)),
        query.mixed_or,
        query.contradicts,
        query.subtracts_times,
        query.bare_beside_aggregate,
        query.limit is not None and query.descending is None,
        not query.filters,
        query.now,
        any(
            item.kind == "identifier" and any(" " in value for value in item.values)
            for item in query.filters
        ),
        any(item.kind == "text" and item.numeric for item in query.filters),
        query.distinct,
        query.grouped,
    ]
    return [float(value) for value in features]
