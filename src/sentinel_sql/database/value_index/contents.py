"""Reads the distinct texts of the chosen columns, with their codes, through any `Database`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sentinel_sql.database.executor import Cell, Database, ExecutionResult
from sentinel_sql.database.value_index.column_choice import Candidate, candidates

PAGE = 5_000
"""Rows of one query, so that a column of any size passes the bounds of an execution."""

MOST_CODES = 2
"""Most codes of a label that are kept (our choice); a label with more has none."""

_UNLIKE_NAMES = re.compile(r"[\d\W_]*")
"""Numbers, dates and signs, which name nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexBounds:
    """Bounds of a value index (our choices); a column that exceeds one is left out.

    Attributes:
        values: most distinct texts of one column.
        total: most texts of all columns.
        megabytes: most text of all columns.
        longest: most characters of one text; longer ones are skipped.
        mean: most characters of a column's texts on average; above, it is free text.
        unique: largest share of distinct texts among a column's rows, outside lookup tables.
    """

    values: int = 150_000
    total: int = 400_000
    megabytes: int = 64
    longest: int = 300
    mean: int = 120
    unique: float = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredText:
    """A stored text, and the first codes that stand for it."""

    text: str
    codes: tuple[str | int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnContents:
    """One indexed column and its distinct texts."""

    table: str
    column: str
    code: str | None
    texts: tuple[StoredText, ...]


def read_contents(
    database: Database, *, opted_in: Iterable[str] = (), bounds: IndexBounds
) -> Iterator[ColumnContents]:
    """Yield the columns to index with their texts; a column that can't be read is left out."""
    left, bytes_left = bounds.total, bounds.megabytes * 1_000_000
    for candidate in candidates(database.schema, opted_in):
        if not _fits(database, candidate, bounds):
            continue
        texts = _texts(database, candidate, bounds)
        size = sum(len(stored.text.encode(errors="replace")) for stored in texts)
        if not texts or len(texts) > left or size > bytes_left:
            continue
        left, bytes_left = left - len(texts), bytes_left - size
        yield ColumnContents(
            table=candidate.table, column=candidate.column, code=candidate.code, texts=texts
        )


def _fits(database: Database, candidate: Candidate, bounds: IndexBounds) -> bool:
    """Return whether a column's size and form are those of names, codes or labels."""
    table = database.schema.sql_of_table(candidate.table)
    column = database.schema.sql_of_column(candidate.table, candidate.column)
    result = _rows(
        database.execute(
            f"SELECT COUNT({column}), COUNT(DISTINCT {column}), AVG(LENGTH({column})) "  # noqa: S608
            f"FROM {table}"
        )
    )
    if not result:
        return False
    rows, distinct, mean = (cell if isinstance(cell, int | float) else 0 for cell in result[0])
    if not 0 < distinct <= bounds.values:
        return False
    if candidate.opted_in:
        return True
    return mean <= bounds.mean and (candidate.lookup or distinct <= bounds.unique * rows)


def _texts(database: Database, candidate: Candidate, bounds: IndexBounds) -> tuple[StoredText, ...]:
    """Return a column's texts; none if most of them are numbers, dates or signs."""
    texts: list[StoredText] = []
    unlike = 0
    for text, *codes in _pages(database, candidate):
        if not isinstance(text, str) or len(text) > bounds.longest:
            continue
        if _UNLIKE_NAMES.fullmatch(text):
            unlike += 1
            continue
        texts.append(StoredText(text=text, codes=_distinct_codes(codes)))
    return tuple(texts) if unlike <= len(texts) else ()


def _distinct_codes(cells: Sequence[Cell]) -> tuple[str | int, ...]:
    """Return the codes of (number of codes, lowest, highest); none if there are more than two."""
    count, *codes = cells
    if not isinstance(count, int) or count > MOST_CODES:
        return ()
    return tuple(dict.fromkeys(code for code in codes if isinstance(code, str | int)))


def _pages(database: Database, candidate: Candidate) -> Iterator[tuple[Cell, ...]]:
    """Yield (text, number of codes, lowest code, highest code) by text, read page by page."""
    table = database.schema.sql_of_table(candidate.table)
    column = database.schema.sql_of_column(candidate.table, candidate.column)
    code = "NULL"
    if candidate.code is not None:
        code = database.schema.sql_of_column(candidate.table, candidate.code)
    after = ""
    while True:
        result = database.execute(
            f"SELECT {column}, COUNT(DISTINCT {code}), MIN({code}), MAX({code}) FROM {table} "  # noqa: S608
            f"WHERE {column} IS NOT NULL{after} "
            f"GROUP BY {column} ORDER BY {column} LIMIT {PAGE}"
        )
        rows = _rows(result)
        yield from rows
        last = rows[-1][0] if rows else None
        if not isinstance(last, str) or "\0" in last:
            return
        if len(rows) < PAGE and not result.truncated:
            return
        after = f" AND {column} > '" + last.replace("'", "''") + "'"


def _rows(result: ExecutionResult) -> tuple[tuple[Cell, ...], ...]:
    return result.rows if result.kind == "rows" else ()
