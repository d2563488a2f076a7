"""Read a SQLite database's tables, columns, declared types and foreign keys."""

from __future__ import annotations

import sqlite3

from sentinel_sql.schema import ForeignKey, Schema


def read_schema(connection: sqlite3.Connection) -> Schema:
    """Return the tables and views of the main database in its own order, names in lower case.

    A foreign key that names no column refers to the other table's primary key, as in SQLite;
    one that refers to a table or column that isn't there is kept as it is declared.
    """
    names = [
        str(name)
        for (name,) in connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        )
    ]
    tables = {name.lower(): _columns(connection, name) for name in names}
    keys = tuple(key for name in names for key in _foreign_keys(connection, name))
    return Schema(tables=tables, foreign_keys=keys)


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    # table_xinfo, unlike table_info, lists generated columns; hidden = 1 is a virtual
    # table's internal column
    try:
        rows = connection.execute(
            "SELECT name, type FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1", (table,)
        ).fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        rows = []  # a view over a table that is gone, or a virtual table of an absent module
    return {str(name).lower(): str(kind or "") for name, kind in rows}


def _foreign_keys(connection: sqlite3.Connection, table: str) -> list[ForeignKey]:
    rows = connection.execute(
        'SELECT id, seq, "from", "table", "to" FROM pragma_foreign_key_list(?, \'main\') '
        "ORDER BY id, seq",
        (table,),
    ).fetchall()
    return [
        ForeignKey(
            table=table.lower(),
            column=str(column).lower(),
            to_table=str(to_table).lower(),
            to_column=str(to_column or _primary_key(connection, to_table, seq)).lower(),
        )
        for _, seq, column, to_table, to_column in rows
    ]


def _primary_key(connection: sqlite3.Connection, table: str, position: int) -> str:
    row = connection.execute(
        "SELECT name FROM pragma_table_info(?, 'main') WHERE pk = ?", (table, position + 1)
    ).fetchone()
    return str(row[0]) if row else ""
