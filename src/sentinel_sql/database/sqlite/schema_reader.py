"""Reads a SQLite database's tables, columns, declared types and keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from sentinel_sql.schema import ForeignKey, Schema, folded, written

_INNER_PARTS = (
    *("content", "segments", "segdir", "docsize", "stat", "data", "idx", "config"),
    *("node", "parent", "rowid"),
)


def read_schema(connection: sqlite3.Connection) -> Schema:
    """Return the tables and views of the main database in its own order, names folded.

    SQLite's own tables and the inner tables of virtual tables are left out. A foreign key
    without a column refers to the other table's primary key, as in SQLite. A foreign key to a
    missing table or column is kept as declared.
    """
    inner = _inner_tables(connection)
    names = [
        str(name)
        for (name,) in connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        )
        if name not in inner
    ]
    columns = {name: _columns(connection, name) for name in names}
    return Schema(
        tables={
            folded(name): {folded(column.name): column.kind for column in columns[name]}
            for name in names
        },
        foreign_keys=tuple(key for name in names for key in _foreign_keys(connection, name)),
        primary_keys={
            folded(name): key for name in names if (key := _primary_key_of(columns[name]))
        },
        table_sql=_spellings(names),
        column_sql={
            folded(name): spelled
            for name in names
            if (spelled := _spellings(column.name for column in columns[name]))
        },
    )


def _spellings(names: Iterable[str]) -> dict[str, str]:
    """Return how SQL writes the names that need quotes and aren't stored in lower case."""
    return {
        folded(name): text
        for name in names
        if (text := written(name)) != written(folded(name)) and text.startswith('"')
    }


def _inner_tables(connection: sqlite3.Connection) -> set[str]:
    """Return the tables in which full-text search, R*Tree and other modules keep their data."""
    try:
        rows = connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"
        )
        return {str(name) for (name,) in rows}
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
    # SQLite before 3.37 doesn't list them, so they are recognised by name
    rows = connection.execute("SELECT name, rootpage FROM main.sqlite_master WHERE type = 'table'")
    tables = list(rows)
    virtual = [str(name) for name, rootpage in tables if not rootpage]
    return {str(name) for name, _ in tables for owner in virtual if name in _inner_names(owner)}


def _inner_names(owner: str) -> set[str]:
    return {f"{owner}_{part}" for part in _INNER_PARTS}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Column:
    name: str
    kind: str
    key_position: int


def _columns(connection: sqlite3.Connection, table: str) -> list[_Column]:
    # table_xinfo, unlike table_info, lists generated columns; hidden = 1 is a virtual
    # table's internal column
    try:
        rows = connection.execute(
            "SELECT name, type, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1", (table,)
        ).fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        rows = []  # a view over a missing table, or a virtual table of a missing module
    return [
        _Column(name=str(name), kind=str(kind or ""), key_position=position)
        for name, kind, position in rows
    ]


def _primary_key_of(columns: list[_Column]) -> tuple[str, ...]:
    key = [column for column in columns if column.key_position]
    return tuple(folded(column.name) for column in sorted(key, key=attrgetter("key_position")))


def _foreign_keys(connection: sqlite3.Connection, table: str) -> list[ForeignKey]:
    rows = connection.execute(
        'SELECT id, seq, "from", "table", "to" FROM pragma_foreign_key_list(?, \'main\') '
        "ORDER BY id, seq",
        (table,),
    ).fetchall()
    return [
        ForeignKey(
            table=folded(table),
            column=folded(str(column)),
            to_table=folded(str(to_table)),
            to_column=folded(str(to_column or _primary_key(connection, to_table, seq))),
        )
        for _, seq, column, to_table, to_column in rows
    ]


def _primary_key(connection: sqlite3.Connection, table: str, position: int) -> str:
    row = connection.execute(
        "SELECT name FROM pragma_table_info(?, 'main') WHERE pk = ?", (table, position + 1)
    ).fetchone()
    return str(row[0]) if row else ""
