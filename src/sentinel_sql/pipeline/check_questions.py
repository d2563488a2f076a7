"""Checks question files against their database: each gold query, and the shipped answer."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sentinel_sql.database.executor import Cell, Database, ExecutionResult
from sentinel_sql.labels.strict import mode_named, strict_match
from sentinel_sql.questions.record import Question

NAMED = 20
"""Mismatches and errors that a report names; the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """How the gold queries of a question file fare on a database.

    Every answerable question is in one of `matched`, `mismatched`, `errors` (its gold SQL
    can't be executed), `uncompared` (it executes, no answer is shipped) and `cut` (its result
    is longer than the executor keeps, and the rest would decide). `empty_gold` counts those
    whose gold executes to no rows. `mismatched_ids`, `empty_gold_ids` and `error_ids` (id → the
    database's words) name the first `NAMED`.
    """

    mode: str
    answerable: int
    unanswerable: int
    matched: int
    mismatched: int
    errors: int
    uncompared: int
    cut: int
    empty_gold: int
    mismatched_ids: tuple[str, ...]
    empty_gold_ids: tuple[str, ...]
    error_ids: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "mode": self.mode,
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "matched": self.matched,
            "mismatched": self.mismatched,
            "errors": self.errors,
            "uncompared": self.uncompared,
            "cut": self.cut,
            "empty_gold": self.empty_gold,
            "mismatched_ids": list(self.mismatched_ids),
            "empty_gold_ids": list(self.empty_gold_ids),
            "error_ids": dict(self.error_ids),
        }


def check_questions(
    questions: Sequence[Question],
    database: Database,
    mode: str,
    on_progress: Callable[[int, int], None] | None = None,
) -> CheckReport:
    """Execute each distinct gold SQL once and compare it with the answers that are shipped.

    Args:
        questions: of this database.
        database: executes the gold SQL after the mode has prepared it.
        mode: name of an equivalence mode. EHRSQL-2024 ships its answers as text, so only
            `ehrsql-2024` can match them.
        on_progress: told (answerable questions done, answerable questions in all).

    Raises:
        InputError: no such mode.
    """
    equivalence = mode_named(mode)
    by_gold: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if question.gold_sql is not None:
            by_gold[question.gold_sql].append(question)
    found: dict[str, list[str]] = defaultdict(list)
    error_of: dict[str, str] = {}
    total, done = sum(map(len, by_gold.values())), 0
    for gold_sql, asked in by_gold.items():
        gold = database.execute(equivalence.postprocess(gold_sql))
        for question in asked:
            if gold.kind in ("error", "refused"):
                found["errors"].append(question.id)
                error_of[question.id] = gold.error or gold.kind
            elif question.gold_answer is None:
                found["uncompared"].append(question.id)
            else:
                shipped = _shipped(question.gold_answer)
                same = strict_match(equivalence, question.text, gold_sql, gold, shipped)
                found[{True: "matched", False: "mismatched", None: "cut"}[same]].append(question.id)
            if gold.kind == "empty":
                found["empty_gold"].append(question.id)
            done += 1
            if on_progress is not None:
                on_progress(done, total)
    return CheckReport(
        mode=mode,
        answerable=sum(question.answerable for question in questions),
        unanswerable=sum(not question.answerable for question in questions),
        matched=len(found["matched"]),
        mismatched=len(found["mismatched"]),
        errors=len(found["errors"]),
        uncompared=len(found["uncompared"]),
        cut=len(found["cut"]),
        empty_gold=len(found["empty_gold"]),
        mismatched_ids=tuple(found["mismatched"][:NAMED]),
        empty_gold_ids=tuple(found["empty_gold"][:NAMED]),
        error_ids={question_id: error_of[question_id] for question_id in found["errors"][:NAMED]},
    )


def _shipped(answer: str) -> ExecutionResult:
    """Read a printed answer: a list of rows, or else the text of its one cell."""
    rows: tuple[tuple[Cell, ...], ...] = ((answer,),)
    try:
        value = ast.literal_eval(answer)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        value = None
    if isinstance(value, list) and all(isinstance(row, list | tuple) for row in value):
        rows = tuple(tuple(row) for row in value)
    width = len(rows[0]) if rows else 0
    return ExecutionResult(kind="rows" if rows else "empty", columns=("",) * width, rows=rows)
