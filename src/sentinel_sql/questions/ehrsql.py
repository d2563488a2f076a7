"""Reads the questions of EHRSQL: version 1 (MIMIC-III, eICU) and EHRSQL-2024 (MIMIC-IV)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sentinel_sql.errors import QuestionsError
from sentinel_sql.questions.own import gold_or_none, template_or_none, text_of
from sentinel_sql.questions.record import Question

DATABASE_2024 = "mimic_iv"


def v1_question(record: Mapping[str, Any], where: str) -> Question:
    """Read one record of EHRSQL v1; `where` names file and place for errors.

    The template of an answerable question is `q_tag`, the question template without time filters.
    That of an unanswerable question is the data set's `template`, such as a topic. Files of version
    1.0 have no ids, so the id is a hash of the content.

    Raises:
        QuestionsError: a field is missing, or an answerable question has no gold SQL.
    """
    impossible = record.get("is_impossible")
    if not isinstance(impossible, bool):
        raise QuestionsError(
            f"{where} has no true or false 'is_impossible': is it a question file of EHRSQL v1?"
        )
    question_id = text_of(record, "id", where) if "id" in record else _content_id(record)
    gold = None if impossible else gold_or_none(record.get("query"), where)
    if not impossible and gold is None:
        raise QuestionsError(
            f"{where}: question {question_id!r} is answerable but has no gold SQL in 'query': add "
            "it, or set 'is_impossible' to true"
        )
    tag = record.get("template") if impossible else record.get("q_tag", record.get("tag"))
    database = record.get("db_id")
    split = record.get("split")
    return Question(
        id=question_id,
        text=text_of(record, "question", where),
        answerable=not impossible,
        gold_sql=gold,
        template=template_or_none(tag, where),
        split=split if isinstance(split, str) else None,
        database=database if isinstance(database, str) else None,
    )


def question_2024(
    record: Mapping[str, Any],
    labels: Mapping[str, str],
    answers: Mapping[str, str],
    split: str | None,
    where: str,
) -> Question:
    """Read one record of EHRSQL-2024's `data.json` with its label and, if there is one, its answer.

    Raises:
        QuestionsError: a field is missing, or the labels don't know the question.
    """
    question_id = text_of(record, "id", where)
    if question_id not in labels:
        raise QuestionsError(
            f"{where}: question {question_id!r} has no entry in label.json: take data.json and "
            "label.json of one split and version"
        )
    gold = gold_or_none(labels[question_id], where)
    return Question(
        id=question_id,
        text=text_of(record, "question", where),
        answerable=gold is not None,
        gold_sql=gold,
        gold_answer=answers.get(question_id) if gold is not None else None,
        template=template_or_none(record.get("template"), where),
        split=split,
        database=DATABASE_2024,
    )


def _content_id(record: Mapping[str, Any]) -> str:
    content = [str(record.get(field)) for field in ("db_id", "question", "query", "template")]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]
