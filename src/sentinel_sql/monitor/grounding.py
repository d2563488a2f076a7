"""Grounding features: whether the SQL rests on the schema, the question and what was seen.

Each new query is parsed once for all three features; a query seen before isn't parsed again.
SQL that can't be parsed, or that is longer or nested deeper than any honest query, contributes
nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.monitor.literals import Evidence, Literal, literals_of, ungrounded_fraction
from sentinel_sql.monitor.references import Keys, References, analyse
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment

LONGEST_QUERY = 20_000
"""Characters; ours: bounds the parser's time on hostile SQL."""

MOST_BRACKETS = 200
"""Opening brackets of a query that is still parsed; ours: bounds the parser's depth."""

_QUERY = re.compile(r"\s*(?:\(\s*)*(?:select|with|values)\b", re.IGNORECASE)


NO_REFERENCES = References()


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """What one query contributes."""

    references: References = NO_REFERENCES
    literals: tuple[Literal, ...] = ()


class GroundingState:
    """Counts over all queries, and the share of ungrounded literals of the committed one."""

    def __init__(self, question: AskedQuestion, keys: Keys | None, clock: str | None) -> None:
        self._keys = keys
        self._clock = clock
        self._evidence = Evidence()
        self._evidence.add(question.text)
        self._analyses: dict[str, Analysis] = {}
        self._failed = 0
        self._bad_joins = 0
        self._ungrounded: float | None = None

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Take in one more step."""
        if step.sql:
            analysis = self._analyses.get(step.sql)
            if analysis is None:
                analysis = analyse_sql(step.sql, self._keys, self._clock)
                self._analyses[step.sql] = analysis
            self._failed += analysis.references.failed
            self._bad_joins += analysis.references.bad_joins
            if committed == "answer":
                self._ungrounded = ungrounded_fraction(analysis.literals, self._evidence)
        # After the commitment's check: a literal can't be grounded by its own query's result,
        # nor by an error that quotes it.
        if step.observation.kind == "rows" and step.observation.text:
            self._evidence.add(step.observation.text)

    def values(self) -> dict[str, float | None]:
        """Return the features, None where nothing was observed or no schema is known."""
        known = self._keys is not None
        return {
            "failed_refs": float(self._failed) if known else None,
            "bad_joins": float(self._bad_joins) if known else None,
            "ungrounded_frac": self._ungrounded,
        }


def analyse_sql(sql: str, keys: Keys | None, clock: str | None) -> Analysis:
    """Parse one SQL text and say what it contributes; nothing if it isn't a readable query."""
    if len(sql) > LONGEST_QUERY or sql.count("(") > MOST_BRACKETS or not _QUERY.match(sql):
        return Analysis()
    try:
        query = sqlglot.parse_one(sql, read="sqlite")
        if not isinstance(query, exp.Query):
            return Analysis()
        return Analysis(
            references=NO_REFERENCES if keys is None else analyse(query, keys),
            literals=tuple(
                literals_of(query, clock=clock, names=() if keys is None else keys.names)
            ),
        )
    except (SqlglotError, RecursionError):
        return Analysis()


def keys_of(schema: Schema | None) -> Keys | None:
    """Return the schema's keys ready for use, or None without a schema."""
    return None if schema is None else Keys(schema=schema)
