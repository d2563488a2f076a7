"""The strict label: the official execution match of a data set, by its equivalence mode."""

from __future__ import annotations

from sentinel_sql.database.equivalence import MODES, Equivalence
from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.errors import InputError
from sentinel_sql.labels.asked import asks_order, select_form


def mode_named(name: str) -> Equivalence:
    """Return the equivalence mode of that name.

    Raises:
        InputError: there is none.
    """
    if name not in MODES:
        raise InputError(f"there is no equivalence mode {name!r}: choose one of {', '.join(MODES)}")
    return MODES[name]


def strict_match(
    mode: Equivalence,
    question: str,
    gold_sql: str,
    gold: ExecutionResult,
    predicted: ExecutionResult,
) -> bool | None:
    """Say whether both executions gave the same answer under `mode` (paper section 4, "strict").

    None where a result was cut at the executor's limits and the rest would decide.
    """
    ordered = asks_order(question, select_form(gold_sql))
    return mode.same_answer(gold, predicted, ordered=ordered)
