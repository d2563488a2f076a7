"""One question over one database, with what the data set says of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question in words, whether it is answerable, and the gold SQL if it is.

    `gold_answer` is the data set's own printed answer, where it ships one. `template` is the
    data set's own name for the question's template, or None; `templates.py` finds one then.
    """

    id: str
    text: str
    answerable: bool
    gold_sql: str | None = None
    gold_answer: str | None = None
    template: str | None = None
    split: str | None = None
    database: str | None = None
