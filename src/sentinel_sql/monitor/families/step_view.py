"""One step as every family reads it: the step, what it commits to, its query and its result."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.monitor.families.query_facts import QueryFacts
from sentinel_sql.monitor.families.result_facts import ResultFacts
from sentinel_sql.monitor.families.wording import Wording
from sentinel_sql.monitor.features.grounding import Analysis
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment

UNSEEN = float("nan")
"""A feature that this prefix doesn't show. It counts neither way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The question, its wording, and what is known of the database."""

    question: AskedQuestion
    wording: Wording
    around: Surroundings


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A step with what was read from it.

    Attributes:
        step: the step.
        committed: what it commits to, if anything.
        query: what its query does; None without a readable one.
        analysis: the references and literals of its query; None without one.
        result: what its result looks like; None where nothing came back.
    """

    step: Step
    committed: Commitment | None
    query: QueryFacts | None
    analysis: Analysis | None
    result: ResultFacts | None
