"""The strict label: the official execution match of a data set, by its equivalence mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sentinel_sql.database.equivalence import MODES, Equivalence
from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.errors import InputError
from sentinel_sql.labels.answer_form import asks_order, select_form
from sentinel_sql.questions.record import Question

OFFICIAL_MODES: Mapping[str, str] = {
    "mimic_iii": "ehrsql-v1",
    "eicu": "ehrsql-v1",
    "mimic_iv": "ehrsql-2024",
}
"""Database → mode of its data set. An official mode fits only its data set: it reads `now` as that
data set's date, and accepts what its scorer accepts."""

OTHERS_MODE = "sentinel-1"


def mode_named(name: str) -> Equivalence:
    """Return the equivalence mode of that name.

    Raises:
        InputError: there is no such mode.
    """
    if name not in MODES:
        raise InputError(f"there is no equivalence mode {name!r}: choose one of {', '.join(MODES)}")
    return MODES[name]


def mode_of(questions: Iterable[Question], database: str) -> str:
    """Return the mode of the questions' data set, or ours for other questions.

    Args:
        questions: each may name its own `database`.
        database: database of the questions that don't name one.

    Raises:
        InputError: the questions are of data sets with different modes.
    """
    names = {(question.database or database).lower() for question in questions}
    modes = {OFFICIAL_MODES.get(name, OTHERS_MODE) for name in names} or {OTHERS_MODE}
    if len(modes) > 1:
        raise InputError(
            f"the questions are of {', '.join(sorted(names))}, whose answers are compared by "
            f"{' and '.join(sorted(modes))}: choose one with --mode, or label them apart"
        )
    return modes.pop()


def strict_match(
    mode: Equivalence,
    question: str,
    gold_sql: str,
    gold: ExecutionResult,
    predicted: ExecutionResult,
    *,
    dialect: str = "sqlite",
) -> bool | None:
    """Return whether both results are the same answer under `mode` (paper section 4, "strict").

    `dialect` is the SQL of the gold query. None if a result was cut at the executor's limits and
    the rest would decide.
    """
    ordered = asks_order(question, select_form(gold_sql, dialect))
    return mode.same_answer(gold, predicted, ordered=ordered)
