"""Tables of the page: intervals stand beside their estimates, and numbers are rounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sentinel_sql.evaluation_store.tables import DictionaryRow, Table
from sentinel_sql.report.terminal.table import UNKNOWN

MOST_ROWS = 80
"""Most rows of a table on a page (ours); the CSV has all rows."""

_NAMES = {
    **{name: name.upper() for name in ("auroc", "auc", "aurc", "ece")},
    "rs": "RS(λ)",
    "stakes": "λ",
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell: its text, the text of its interval, and whether it is a number or a row heading."""

    text: str
    span: str | None
    number: bool
    names: bool


@dataclass(frozen=True, kw_only=True)
class Heading:
    """One column: its name, its meaning, and whether its cells have intervals."""

    name: str
    meaning: str
    spanned: bool


@dataclass(frozen=True, kw_only=True)
class PageTable:
    """A table of the page; `left_out` is the number of rows that only the CSV has."""

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
    """Return a table for the page.

    Args:
        name: the name of the table.
        table: the table on disk.
        file: the path of the CSV, relative to the page.
        paper: for each row whether it is the paper's; none is if empty.
        most: most rows to show.
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
    """Return a readable name of a column."""
    return " ".join(_NAMES.get(word, word) for word in column.split("_"))


def number(value: Any, column: DictionaryRow) -> str:
    """Return one value as readable text."""
    if value is None:
        return UNKNOWN
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
