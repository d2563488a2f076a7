"""Copies the hospital from its SQLite file into PostgreSQL or DuckDB."""

from __future__ import annotations

import csv
import re
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from sentinel_sql.address import kind_of_address, shown_address
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital.copies.comments import MARK
from sentinel_sql.hospital.copies.tables import declarations
from sentinel_sql.hospital.schema import TABLES, columns
from sentinel_sql.installation import missing_extra

_NULL: Final = "\\N"
"""How a file for DuckDB writes NULL; no text of the hospital looks like it."""


def dialect_of_address(address: str) -> str:
    """Return the dialect of a database that the hospital can be copied into.

    Raises:
        InputError: it can't be copied there.
    """
    dialect = _DIALECTS.get(kind_of_address(address) or "")
    if dialect is None:
        raise InputError(
            f"the hospital can't be copied into {shown_address(address)}: give duckdb:///FILE or "
            "postgresql://USER@HOST/DATABASE (a SQLite file of it is made anyway)"
        )
    return dialect


def copy_hospital(source: Path, address: str) -> None:
    """Write a hospital into a database, whole or not at all; an earlier copy is replaced.

    Args:
        source: the SQLite file of the hospital.
        address: `duckdb:///FILE`, which is made if absent, or `postgresql://USER@HOST/DATABASE`
            with a role that may create tables.

    Raises:
        InputError: the database holds something other than an earlier copy.
        DatabaseError: the database can't be written.
        MissingExtraError: the package for this kind of database isn't installed.
    """
    dialect = dialect_of_address(address)
    with (
        closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as hospital,
        _TARGETS[dialect](address) as target,
    ):
        present = target.tables()
        _require_copy(present, address)
        declared = declarations(dialect)
        for table in reversed(list(declared.tables)):
            if table in present:
                target.execute(f"DROP TABLE {table} CASCADE")
        for table, statement in declared.tables.items():
            target.execute(statement)
            names = ", ".join(columns(table))
            target.fill(table, hospital.execute(f"SELECT {names} FROM {table}"))  # noqa: S608
        for statement in declared.after:
            target.execute(statement)


def _require_copy(present: Mapping[str, str], address: str) -> None:
    """Refuse a database with other tables, which might be somebody's own."""
    others = sorted(set(present) - set(TABLES))
    if others or (present and MARK not in present.get("patients", "")):
        named = others[0] if others else next(iter(present))
        raise InputError(
            f"{shown_address(address)} holds the table {named}, which isn't of an earlier "
            "hospital: name an empty database"
        )


class _Target(Protocol):
    """An open database in one transaction."""

    def tables(self) -> dict[str, str]:
        """Return the tables and views there, with their comments."""
        ...

    def execute(self, statement: str) -> None:
        """Run one statement."""
        ...

    def fill(self, table: str, rows: Iterator[Collection[Any]]) -> None:
        """Add rows to a table."""
        ...


class _PostgresTarget:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self) -> dict[str, str]:
        rows = self._connection.execute(
            "SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c "
            "WHERE c.relnamespace = current_schema()::regnamespace "
            "AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
        )
        return {name: comment or "" for name, comment in rows}

    def execute(self, statement: str) -> None:
        self._connection.execute(statement)

    def fill(self, table: str, rows: Iterator[Collection[Any]]) -> None:
        statement = f"COPY {table} ({', '.join(columns(table))}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


class _DuckTarget:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self) -> dict[str, str]:
        rows = self._connection.execute(
            "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal "
            "AND database_name = current_database() "
            "UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE NOT internal "
            "AND database_name = current_database()"
        ).fetchall()
        return {name: comment or "" for name, comment in rows}

    def execute(self, statement: str) -> None:
        self._connection.execute(statement)

    def fill(self, table: str, rows: Iterator[Collection[Any]]) -> None:
        # row by row DuckDB would take minutes
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.csv"
            with file.open("w", encoding="utf-8", newline="") as sink:
                csv.writer(sink, quoting=csv.QUOTE_MINIMAL).writerows(
                    [_NULL if cell is None else cell for cell in row] for row in rows
                )
            self._connection.execute(
                f"COPY {table} FROM '{_quoted(str(file))}' "
                f"(FORMAT csv, HEADER false, NULL '{_NULL}', DELIMITER ',', QUOTE '\"')"
            )


@contextmanager
def _postgres(address: str) -> Iterator[_Target]:
    try:
        import psycopg
    except ImportError as error:
        raise missing_extra("PostgreSQL databases", "postgres") from error
    from sentinel_sql.database.postgres.faults import fault

    plain = re.sub(r"^(postgres(ql)?)(\+\w+)?:", r"\1:", address, flags=re.IGNORECASE)
    try:
        with psycopg.connect(plain, connect_timeout=10) as connection:
            yield _PostgresTarget(connection)
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseError(
            f"{shown_address(address)} can't be written, because the role may not create tables: "
            "give a role that may"
        ) from error
    except psycopg.Error as error:
        raise fault(plain, error) from None


@contextmanager
def _duckdb(address: str) -> Iterator[_Target]:
    try:
        import duckdb
    except ImportError as error:
        raise missing_extra("DuckDB databases", "duckdb") from error
    file = Path(re.sub(r"^duckdb(\+\w+)?:/{1,3}", "", address, flags=re.IGNORECASE))
    if str(file) in ("", "."):
        raise InputError(f"{address} names no file: give duckdb:///FILE")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(str(file)) as connection:
            connection.execute("BEGIN")
            yield _DuckTarget(connection)
            connection.execute("COMMIT")
        file.chmod(0o600)
    except (OSError, duckdb.Error) as error:
        words = " ".join(str(error).split())[:200]
        raise DatabaseError(
            f"can't write the hospital to {file}: {words}; check that it is a DuckDB file that "
            "nothing else has open"
        ) from error


def _quoted(text: str) -> str:
    return text.replace("'", "''")


_TARGETS: Final[Mapping[str, Callable[[str], Any]]] = {"postgres": _postgres, "duckdb": _duckdb}
_DIALECTS: Final[Mapping[str, str]] = {
    "postgres": "postgres",
    "postgresql": "postgres",
    "duckdb": "duckdb",
}
"""Kind of address → dialect."""
