"""A table on disk as a table on a page: intervals beside their estimates, numbers for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sentinel_sql.evaluation_store.tables import DictionaryRow, Table
from sentinel_sql.report.terminal.table import NOT_SAID

MOST_ROWS = 80
"""Rows of one table that a page shows (ours: nobody reads on); the CSV has them all."""

_NAMES = {
    **{name: name.upper() for name in ("auroc", "auc", "aurc", "ece")},
    "rs": "RS(λ)",
    "stakes": "λ",
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell: its text, its interval's text, and whether it is a number or names its row."""

    text: str
    span: str | None
    number: bool
    names: bool


@dataclass(frozen=True, kw_only=True)
class Heading:
    """One column: its name, what it means, and whether its cells have intervals beside them."""

    name: str
    meaning: str
    spanned: bool


@dataclass(frozen=True, kw_only=True)
class PageTable:
    """A table as the page shows it; `left_out` rows stand in the CSV alone."""

    name: str
    title: str
    note: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    paper: tuple[bool, ...]
    left_out: int
    file: str


def page_table(
    name: str,
    table: Table,
    file: str,
    *,
    paper: Sequence[bool] = (),
    most: int = MOST_ROWS,
) -> PageTable:
    """Lay a table out.

    Args:
        name: of the table.
        table: as it was read.
        file: the CSV, relative to the page.
        paper: which rows are the paper's; none if empty.
        most: rows to show.
    """
    names = {column.column for column in table.columns}
    shown = [
        column
        for column in table.columns
        if not any(column.column == f"{other}_{end}" for other in names for end in ("low", "high"))
    ]
    rows = table.rows[:most]
    return PageTable(
        name=name,
        title=table.title,
        note=table.note,
        headings=tuple(
            Heading(
                name=heading(column.column),
                meaning=_meaning(column),
                spanned=f"{column.column}_low" in names,
            )
            for column in shown
        ),
        rows=tuple(_row(row, shown, names) for row in rows),
        paper=tuple(paper[: len(rows)]) or (False,) * len(rows),
        left_out=len(table.rows) - len(rows),
        file=file,
    )


def heading(column: str) -> str:
    """Return a column's name for people."""
    return " ".join(_NAMES.get(word, word) for word in column.split("_"))


def number(value: Any, column: DictionaryRow) -> str:
    """Write one value for people."""
    if value is None:
        return NOT_SAID
    if column.type == "truth":
        return "yes" if value else "no"
    if column.type == "text":
        return str(value)
    if column.type == "integer":
        return f"{value:,}".replace("-", "−")
    if column.unit == "share":
        return f"{100 * value:.1f} %".replace("-", "−")
    if column.column in ("stakes", "threshold"):
        return f"{value:.4g}"
    signed = "[−" in (column.range or "") or column.column in ("gain", "lead")
    if abs(value) >= 100:
        return f"{value:,.1f}".replace("-", "−")
    return f"{value:{'+' if signed else ''}.3f}".replace("-", "−")


def _row(row: Any, shown: Sequence[DictionaryRow], names: set[str]) -> tuple[Cell, ...]:
    cells = []
    for index, column in enumerate(shown):
        span = None
        ends = (f"{column.column}_low", f"{column.column}_high")
        if names.issuperset(ends) and row[ends[0]] is not None:
            span = f"{number(row[ends[0]], column)} … {number(row[ends[1]], column)}"
        cells.append(
            Cell(
                text=number(row[column.column], column),
                span=span,
                number=column.type in ("integer", "number"),
                names=index == 0,
            )
        )
    return tuple(cells)


def _meaning(column: DictionaryRow) -> str:
    parts = [column.meaning, column.unit, column.range]
    return "; ".join(part for part in parts if part)
