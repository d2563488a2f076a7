"""Labels one answer by a gold answer that is written down, where there is no gold SQL."""

from __future__ import annotations

from sentinel_sql.database.equivalence import Equivalence
from sentinel_sql.database.executor import Database
from sentinel_sql.labels.answer_form import asks_order
from sentinel_sql.labels.gold_answer import gold_readings
from sentinel_sql.labels.record import OUT_OF_MEMORY, TIMED_OUT, Label
from sentinel_sql.labels.rules import Answer, MismatchJudge
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import Trajectory

AMBIGUOUS = "gold-ambiguous"
"""The answer is right under one reading of the gold answer, and wrong under the declared one."""

UNREAD = "gold-unread"
"""The gold answer is neither a value nor rows: brackets that don't close, uneven rows."""


def label_by_written_gold(
    run: Trajectory,
    question: Question,
    database: Database,
    judge_mismatch: MismatchJudge,
    mode: Equivalence,
) -> Label | str:
    """Return the label of an answer to a question with a gold answer, or the reason for none.

    Only the answer's query is executed.
    """
    readings = gold_readings(question.gold_answer or "", question.text)
    if not readings:
        return UNREAD
    final_sql = run.outcome.final_sql or ""
    given = database.execute(mode.postprocess(final_sql))
    answer = Answer(sql=final_sql, result=given, dialect=database.dialect)
    strict = _is_same(mode, question.text, readings[0], answer)
    correct: bool | None = strict
    if given.timed_out or given.out_of_memory:
        strict, correct, reason = None, None, TIMED_OUT if given.timed_out else OUT_OF_MEMORY
    elif given.kind in ("error", "refused"):
        reason = f"answer-{given.kind}"
    elif strict is None:
        return "cut"
    elif strict:
        reason = "strict-match"
    else:
        correct, reason = judge_mismatch(run.question.id, question.text, readings[0], answer)
        if correct is False and any(
            _is_same(mode, question.text, other, answer)
            or judge_mismatch(run.question.id, question.text, other, answer)[0]
            for other in readings[1:]
        ):
            return AMBIGUOUS
    return Label(
        question_id=run.question.id,
        answerable=True,
        outcome="answered",
        strict=strict,
        correct=correct,
        reason=reason,
        judge="gold-answer",
    )


def _is_same(mode: Equivalence, question: str, gold: Answer, answer: Answer) -> bool | None:
    ordered = asks_order(question, gold.form)
    return mode.same_answer(gold.result, answer.result, ordered=ordered)
