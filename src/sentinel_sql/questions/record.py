"""The record of a question, as a data set gives it."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from sentinel_sql.arguments import checked_fields
from sentinel_sql.storage.run_id import ids_of_run


@checked_fields
@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question in words, whether it is answerable, and the gold SQL if it is.

    `gold_answer` is the right answer as it is written down, if there is one. `template` is the data
    set's own name for the question's template, or None; `templates.py` then finds one.
    `answerability_stated` is False where the file has neither gold nor `answerable`; such a
    question counts as unanswerable.
    """

    id: str
    text: str
    answerable: bool
    gold_sql: str | None = None
    gold_answer: str | None = None
    template: str | None = None
    split: str | None = None
    database: str | None = None
    answerability_stated: bool = True


def question_id_of(run_id: str, known: Container[str]) -> str | None:
    """Return the id of the question that a run answers, or None if it isn't among `known`.

    A run has the id of its question. If a question was run several times, run k has the id `id#k`
    (k in digits). A known id that itself ends like this is returned unchanged.
    """
    return next((name for name in ids_of_run(run_id) if name in known), None)
