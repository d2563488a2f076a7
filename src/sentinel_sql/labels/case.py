"""One answer to judge, as shown to a language model or a human rater."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass
from typing import Self

from sentinel_sql.database.executor import Cell, ExecutionResult
from sentinel_sql.labels.rules import Answer

ROWS_SHOWN = 20
"""Rows of a result that are shown by default (our choice)."""

CELL_SHOWN = 200
"""Characters of a cell that are shown (our choice): enough to distinguish stored texts."""

COLUMNS_SHOWN = 30
"""Columns that are shown (our choice): a wider result is a whole table, not an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """An answer that the strict comparison rejected, and the gold answer, as plain text.

    Attributes:
        run_id: id of the run; never shown to the judge.
        question: text of the question.
        gold_sql: the gold query.
        gold_result: first rows of its result.
        answer_sql: the agent's final query.
        answer_result: first rows of its result.
    """

    run_id: str
    question: str
    gold_sql: str
    gold_result: str
    answer_sql: str
    answer_result: str

    @classmethod
    def of(
        cls, run_id: str, question: str, gold: Answer, answer: Answer, *, rows: int = ROWS_SHOWN
    ) -> Self:
        """Make a case of two executed queries; at most `rows` rows of each result are kept."""
        return cls(
            run_id=run_id,
            question=question,
            gold_sql=gold.sql.strip(),
            gold_result=shown_result(gold.result, rows=rows),
            answer_sql=answer.sql.strip(),
            answer_result=shown_result(answer.result, rows=rows),
        )

    @property
    def sha256(self) -> str:
        """Hash of all fields; another answer or another gold makes another case."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()


def shown_result(result: ExecutionResult, *, rows: int) -> str:
    """Return a result as text: its size, column names and first rows, one row a line."""
    if result.kind in ("error", "refused"):
        return "the query failed"
    count = f"{len(result.rows)}{' or more' if result.truncated else ''}"
    head = f"{count} {'row' if count == '1' else 'rows'}, {len(result.columns)} columns"
    if rows < 1 or not result.rows:
        return head
    first = result.rows[:rows]
    lines = [" | ".join(_cell(name) for name in result.columns[:COLUMNS_SHOWN])]
    lines += [" | ".join(_cell(cell) for cell in row[:COLUMNS_SHOWN]) for row in first]
    if len(first) < len(result.rows):
        lines.append(f"… {len(result.rows) - len(first)} more rows")
    return "\n".join([head, *lines])


def _cell(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    text = f"<{len(cell)} bytes>" if isinstance(cell, bytes) else " ".join(str(cell).split())
    return text if len(text) <= CELL_SHOWN else text[: CELL_SHOWN - 1] + "…"
