"""The default benchmark: questions over one hospital, reproducible from seed and database."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital.fill import Filler
from sentinel_sql.hospital.generator import build_hospital
from sentinel_sql.hospital.schema import DATABASE
from sentinel_sql.hospital.templates import chart as questions_chart
from sentinel_sql.hospital.templates import codes as questions_codes
from sentinel_sql.hospital.templates import drugs as questions_drugs
from sentinel_sql.hospital.templates import labs as questions_labs
from sentinel_sql.hospital.templates import patients as questions_patients
from sentinel_sql.hospital.templates import stays as questions_stays
from sentinel_sql.hospital.templates import unanswerable as questions_unanswerable
from sentinel_sql.hospital.templates.template import AnswerableTemplate, Tier, UnanswerableTemplate
from sentinel_sql.questions.record import Question
from sentinel_sql.storage.whole_file import write_whole

__all__ = [
    "ANSWERABLE",
    "UNANSWERABLE",
    "benchmark_questions",
    "build_hospital",
    "write_questions",
]

ANSWERABLE: tuple[AnswerableTemplate, ...] = (
    *questions_patients.TEMPLATES,
    *questions_stays.TEMPLATES,
    *questions_codes.TEMPLATES,
    *questions_labs.TEMPLATES,
    *questions_drugs.TEMPLATES,
    *questions_chart.TEMPLATES,
)
UNANSWERABLE: tuple[UnanswerableTemplate, ...] = questions_unanswerable.TEMPLATES

_UNANSWERABLE_SHARE = 0.2
_FEWEST, _MOST = 10, 10_000
_TIER_SHARES: dict[Tier, float] = {"single": 0.4, "join": 0.45, "harder": 0.15}
"""Shares of the answerable questions; ours, so that a small model is right about half the time."""


def benchmark_questions(
    database_path: Path | str, *, seed: int = 42, size: int = 1000
) -> list[Question]:
    """Make about `size` questions over a hospital, a fifth of them unanswerable.

    Args:
        database_path: A database that `build_hospital` wrote.
        seed: Seed of slots and wordings.
        size: How many questions, 10 to 10,000.

    Returns:
        Questions in a fixed order, each with the name of its template. An id depends only on
        template, text and gold SQL.

    Raises:
        InputError: `size` is out of its range, or the templates can't give as many questions.
        DatabaseError: The database can't be opened or isn't a hospital.
    """
    if not _FEWEST <= size <= _MOST:
        raise InputError(f"a benchmark has {_FEWEST} to {_MOST:,} questions, not {size:,}")
    path = Path(database_path)
    if not path.is_file():
        raise DatabaseError(f"no hospital at {path}: build one first")
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        ) as connection:
            filler = Filler(connection=connection, seed=seed)
            unanswerable = round(size * _UNANSWERABLE_SHARE)
            questions = _spread(filler, UNANSWERABLE, unanswerable)
            for tier, share in _TIER_SHARES.items():
                templates = [t for t in ANSWERABLE if t.tier == tier]
                questions += _spread(filler, templates, round((size - unanswerable) * share))
    except sqlite3.Error as error:
        raise DatabaseError(f"{path} isn't a hospital: {error}; build one first") from None
    return sorted(questions, key=lambda question: question.id)


def _spread(
    filler: Filler, templates: Sequence[AnswerableTemplate | UnanswerableTemplate], size: int
) -> list[Question]:
    """Take questions from the templates in turn until there are enough."""
    sources = {template.name: filler.fill(template) for template in templates}
    found: dict[str, Question] = {}
    while len(found) < size and sources:
        for template in templates:
            if template.name not in sources or len(found) == size:
                continue
            for filled in islice(sources[template.name], 1):
                found[filled.id] = Question(
                    id=filled.id,
                    text=filled.text,
                    answerable=filled.gold_sql is not None,
                    gold_sql=filled.gold_sql,
                    template=template.name,
                    database=DATABASE,
                )
                break
            else:
                del sources[template.name]
    if len(found) < size:
        raise InputError(
            f"this hospital gives only {len(found)} of {size} such questions: "
            "build one with more --patients, or lower --size"
        )
    return list(found.values())


def write_questions(questions: Iterable[Question], path: Path | str) -> Path:
    """Write questions as JSON Lines, in the format of a user's own questions.

    The keys are `id`, `question`, `answerable`, `gold_sql`, `template` and `database`. Unanswerable
    questions of our own templates also have `kind`.
    """
    kinds = {template.name: template.kind for template in UNANSWERABLE}
    lines: list[str] = []
    for question in questions:
        line: dict[str, str | bool | None] = {
            "id": question.id,
            "question": question.text,
            "answerable": question.answerable,
            "gold_sql": question.gold_sql,
            "template": question.template,
            "database": question.database,
        }
        if question.template in kinds:
            line["kind"] = kinds[question.template]
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    write_whole(path, "".join(lines))
    return Path(path)
