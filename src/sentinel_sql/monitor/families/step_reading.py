"""Reads a question and a step into the form that every family takes."""

from __future__ import annotations

from sentinel_sql.monitor.families.query_facts import query_facts
from sentinel_sql.monitor.families.result_facts import read_result
from sentinel_sql.monitor.families.step_view import QuestionView, StepView
from sentinel_sql.monitor.families.wording import read_wording
from sentinel_sql.monitor.features.grounding import analyse_sql
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment


def view_question(question: AskedQuestion, surroundings: Surroundings) -> QuestionView:
    """Return the question as families read it."""
    return QuestionView(
        question=question,
        wording=read_wording(question.text, surroundings.clock),
        surroundings=surroundings,
    )


def view_step(step: Step, committed: Commitment | None, surroundings: Surroundings) -> StepView:
    """Return a step as families read it; queries that were read before come from a cache."""
    return StepView(
        step=step,
        committed=committed,
        query=query_facts(step.sql, surroundings) if step.sql else None,
        analysis=analyse_sql(step.sql, surroundings) if step.sql else None,
        result=read_result(step.observation),
    )
