"""Grounding features: whether schema, question and earlier results support the SQL.

A repeated query isn't analysed again. SQL that can't be parsed contributes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sentinel_sql.monitor.features.literals import (
    Evidence,
    Literal,
    literals_of,
    ungrounded_fraction,
)
from sentinel_sql.monitor.features.query_parser import parse_query
from sentinel_sql.monitor.features.references import References, analyse
from sentinel_sql.monitor.surroundings import NOWHERE, Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment

NO_REFERENCES = References()


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """References and literals of one query."""

    references: References = NO_REFERENCES
    literals: tuple[Literal, ...] = ()


class GroundingState:
    """Counts over all queries, and the share of ungrounded literals of the committed one."""

    def __init__(self, question: AskedQuestion, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._evidence = Evidence()
        self._evidence.add(question.text)
        self._analyses: dict[str, Analysis] = {}
        self._failed = 0
        self._bad_joins = 0
        self._ungrounded: float | None = None

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step."""
        if step.sql:
            analysis = self._analyses.get(step.sql)
            if analysis is None:
                analysis = analyse_sql(step.sql, self._surroundings)
                self._analyses[step.sql] = analysis
            self._failed += analysis.references.failed
            self._bad_joins += analysis.references.bad_joins
            if committed == "answer":
                self._ungrounded = ungrounded_fraction(analysis.literals, self._evidence)
        # This comes after the check of the committed query, so that a literal isn't grounded by
        # the result of its own query. Errors don't count, because they quote the query.
        if step.observation.kind == "rows" and step.observation.text:
            self._evidence.add(step.observation.text)

    def values(self) -> dict[str, float | None]:
        """Return the features, None where nothing was observed or no schema is known."""
        known = self._surroundings.keys is not None
        return {
            "failed_refs": float(self._failed) if known else None,
            "bad_joins": float(self._bad_joins) if known else None,
            "ungrounded_frac": self._ungrounded,
        }


@lru_cache(maxsize=1_024)  # a store is read several times, by fit, replays and views
def analyse_sql(sql: str, surroundings: Surroundings = NOWHERE) -> Analysis:
    """Return references and literals of one SQL text; none if it can't be parsed as a query."""
    keys, dialect = surroundings.keys, surroundings.dialect
    query = parse_query(sql, dialect)
    if query is None:
        return Analysis()
    try:
        return Analysis(
            references=NO_REFERENCES if keys is None else analyse(query, keys, dialect),
            literals=tuple(
                literals_of(
                    query,
                    clock=surroundings.clock,
                    names=() if keys is None else keys.names,
                    dialect=dialect,
                )
            ),
        )
    except RecursionError:
        return Analysis()
