"""Reads questions in Sentinel's own columns, one a line (JSON Lines) or one a row (CSV)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sentinel_sql.errors import QuestionsError
from sentinel_sql.questions.record import Question

COLUMNS = (
    "id",
    "question",
    "gold_sql",
    "answerable",
    "template",
    "database",
    "gold_answer",
    "split",
)
"""The columns that are read. `id` and `question` are required; other columns are ignored."""

NO_GOLD = frozenset({"", "null", "nan", "none", "n/a", "na", "-"})
"""Spellings of "no gold SQL" in EHRSQL's files and in exports of spreadsheets."""

NO_TEMPLATE = frozenset({"", "-", "null", "nan", "none"})

_SQL = re.compile(r"\s*(?:select\b|with\b.+\bas\s*\()", re.IGNORECASE | re.DOTALL)

_TRUTH: Mapping[object, bool] = {
    "true": True, "yes": True, "1": True, "false": False, "no": False, "0": False,
}  # fmt: skip


def own_question(record: Mapping[str, Any], where: str) -> Question:
    """Read one record of a user's own file; `where` names file and line for errors.

    `answerable` defaults to whether there is gold SQL or a gold answer. Names of columns are
    read as `column_name` spells them.

    Raises:
        QuestionsError: a column is missing or empty, or the record contradicts itself.
    """
    record = {**{column_name(name): value for name, value in record.items()}, **record}
    for column in ("id", "question"):
        if column not in record:
            raise QuestionsError(
                f"{where} has no column {column!r}: own questions need 'id' and 'question', and "
                "'gold_sql' where answerable"
            )
    if record.get("gold_sql") is None and record.get("answerable") is None:
        _refuse_gold_elsewhere(record, where)
    gold = gold_or_none(record.get("gold_sql"), where)
    gold_answer = _gold_answer(record.get("gold_answer"), where)
    has_gold = gold is not None or gold_answer is not None
    stated = _truth(record.get("answerable"), where)
    answerable = has_gold if stated is None else stated
    question_id = text_of(record, "id", where)
    if answerable and not has_gold:
        raise QuestionsError(
            f"{where}: question {question_id!r} is answerable but has no gold: add 'gold_sql' or "
            "'gold_answer', or set 'answerable' to false"
        )
    if not answerable and gold is not None:
        raise QuestionsError(
            f"{where}: question {question_id!r} is unanswerable but has gold SQL: empty "
            "'gold_sql', or set 'answerable' to true"
        )
    return Question(
        id=question_id,
        text=text_of(record, "question", where),
        answerable=answerable,
        gold_sql=gold,
        gold_answer=gold_answer if answerable else None,
        template=template_or_none(record.get("template"), where),
        split=_optional(record, "split", where),
        database=_optional(record, "database", where),
        answerability_stated=has_gold or stated is not None,
    )


def column_name(name: str) -> str:
    """Return the name of a column without regard to capitals and outer blanks."""
    return name.strip().casefold().replace(" ", "_")


def _refuse_gold_elsewhere(record: Mapping[str, Any], where: str) -> None:
    """Refuse SQL under another name, which would make an answerable question unanswerable."""
    for name, value in record.items():
        if column_name(name) not in COLUMNS and isinstance(value, str) and _SQL.match(value):
            raise QuestionsError(
                f"{where} has SQL in {name!r}, but gold SQL is read from 'gold_sql': rename the "
                "column, or set 'answerable' to false"
            )


def text_of(record: Mapping[str, Any], column: str, where: str) -> str:
    """Return a column that must hold text (an id may be a whole number).

    Raises:
        QuestionsError: the column is missing, empty or no text.
    """
    value = record.get(column)
    if column == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise QuestionsError(f"{where}: {column!r} must be text and not empty: fill it in")
    return value


def gold_or_none(value: object, where: str) -> str | None:
    """Return the gold SQL, or None for a spelling of "none".

    Raises:
        QuestionsError: the value is neither text nor missing.
    """
    if value is None or value != value:  # NaN, pandas' missing cell
        return None
    if not isinstance(value, str):
        raise QuestionsError(f"{where}: the gold SQL must be text: write one statement, or null")
    return None if value.strip().casefold() in NO_GOLD else value


def template_or_none(value: object, where: str) -> str | None:
    """Return the data set's own template, or None for a spelling of "none".

    Raises:
        QuestionsError: the value is neither text nor missing.
    """
    if value is None or value != value:
        return None
    if not isinstance(value, str):
        raise QuestionsError(f"{where}: 'template' must be text: write a name, or leave it out")
    return None if value.strip().casefold() in NO_TEMPLATE else value.strip()


def _optional(record: Mapping[str, Any], column: str, where: str) -> str | None:
    value = record.get(column)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise QuestionsError(f"{where}: {column!r} must be text: put it in quotes")
    return value


def _gold_answer(value: object, where: str) -> str | None:
    """Return a gold answer as text; None for a spelling of "none".

    Raises:
        QuestionsError: the value is an object, which no answer is.
    """
    if value is None or value != value:
        return None
    if isinstance(value, dict):
        raise QuestionsError(
            f"{where}: 'gold_answer' must be a value, a list of values, or a list of rows: put the "
            "object into a list"
        )
    if isinstance(value, str):
        return None if value.strip().casefold() in NO_GOLD else value
    return json.dumps(value)


def _truth(value: object, where: str) -> bool | None:
    if isinstance(value, bool):
        return value
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    truth = _TRUTH.get(str(value).strip().casefold())
    if truth is None:
        raise QuestionsError(f"{where}: 'answerable' must be true or false: correct it")
    return truth
