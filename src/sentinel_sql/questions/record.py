"""The record of a question, as a data set gives it."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from sentinel_sql.arguments import checked_fields


@checked_fields
@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question in words, whether it is answerable, and the gold SQL if it is.

    `gold_answer` is the data set's own printed answer, if it has one. `template` is the data set's
    own name for the question's template, or None; `templates.py` then finds one.
    """

    id: str
    text: str
    answerable: bool
    gold_sql: str | None = None
    gold_answer: str | None = None
    template: str | None = None
    split: str | None = None
    database: str | None = None


def question_id_of(run_id: str, known: Container[str]) -> str | None:
    """Return the id of the question that a run answers, or None if it isn't among `known`.

    A run has the id of its question. If a question was run several times, run k has the id `id#k`
    (k in digits). A known id that itself ends like this is returned unchanged.
    """
    if run_id in known:
        return run_id
    trial = re.fullmatch(r"(.+)#\d+", run_id, re.DOTALL)
    return trial[1] if trial and trial[1] in known else None
