"""The question and one step in the form that every family reads."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.monitor.families.query_record import QueryFacts
from sentinel_sql.monitor.families.result_facts import ResultFacts
from sentinel_sql.monitor.families.wording import Wording
from sentinel_sql.monitor.features.grounding import Analysis
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment

UNSEEN = float("nan")
"""The value of an unknown feature. It doesn't move a score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionView:
    """The question, its wording, and what is known of the database."""

    question: AskedQuestion
    wording: Wording
    surroundings: Surroundings


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """A step, and what was read from it.

    Attributes:
        step: the step.
        committed: whether it commits to an answer or abstains; None if neither.
        query: what its query does; None without a readable query.
        analysis: the references and literals of its query; None without a query.
        result: the shape and sample of its result; None without a result.
    """

    step: Step
    committed: Commitment | None
    query: QueryFacts | None
    analysis: Analysis | None
    result: ResultFacts | None
