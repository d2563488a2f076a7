"""One connection to a SQLite file, ready to run agents' SQL: watched, timed and bounded."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress

from sentinel_sql.database.bounded_functions import bound_functions
from sentinel_sql.database.clock import CLOCK_FUNCTION, to_clock, with_clock
from sentinel_sql.database.deadline import Deadlines
from sentinel_sql.database.executor import Cell, ExecutionResult, Limits, ResultKind
from sentinel_sql.database.safety import Gatekeeper, set_sqlite_limits
from sentinel_sql.schema import Schema

BUSY_SECONDS = 2.0
"""How long a writer that holds the file is waited for before the database counts as locked."""

WIDE_ROW = 20
"""Columns from which texts are cut one by one as they are read. Python's own decoding is many
times faster, but holds all cells of a row whole at once."""

LONGEST_ERROR = 300
"""Characters of an error that are kept: SQLite quotes an unclosed string to its end."""

REMEDIES: Mapping[int, str] = {
    sqlite3.SQLITE_NOTADB: "is no SQLite database (or is encrypted); give the path of one",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy (`sqlite3 FILE .recover` may help)",
    sqlite3.SQLITE_BUSY: "is locked by another program; close that program and try again",
    sqlite3.SQLITE_LOCKED: "is locked by another program; close that program and try again",
    sqlite3.SQLITE_PROTOCOL: "is locked by another program; close that program and try again",
    sqlite3.SQLITE_CANTOPEN: "can't be opened; check that it and its folder may be read, or "
    "copy it with all files of its name to a folder that may be written",
    sqlite3.SQLITE_PERM: "can't be opened; check that it and its folder may be read",
    sqlite3.SQLITE_AUTH: "can't be opened; check that it and its folder may be read",
    sqlite3.SQLITE_IOERR: "can't be read from its disk; check the disk or copy the file elsewhere",
    sqlite3.SQLITE_READONLY: "needs recovery by a program that may write it; open it there once",
}
"""Faults of the file or the machine by SQLite's primary result code: never the query's doing."""


class Connection:
    """One connection, ready to run agents' SQL; used by one thread at a time."""

    def __init__(
        self, uri: str, *, clock: str, schema: Schema, limits: Limits, deadlines: Deadlines
    ) -> None:
        self._limits = limits
        self._deadlines = deadlines
        self._gatekeeper = Gatekeeper(schema.tables.keys())
        self._worker = connect(":memory:")
        self._sqlite = connect(uri)
        try:
            self._set_up(clock, schema)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it."""
        self._sqlite.close()
        self._worker.close()

    def run(self, sql: str, started: float) -> ExecutionResult:
        """Run `sql`; texts that aren't UTF-8 are no error.

        Raises:
            sqlite3.DatabaseError: a fault of the file or the machine, a key of `REMEDIES`.
        """
        self._gatekeeper.refusal = None
        try:
            with self._deadlines.watching(self._sqlite, started + self._limits.seconds):
                try:
                    return self._fetch(sql, started)
                except sqlite3.OperationalError as error:
                    if "Could not decode to UTF-8" not in str(error):
                        raise
                    return self._fetch(sql, started, decoded=self._decoded)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as error:
            return self._failure(error, started)

    def _fetch(
        self, sql: str, started: float, decoded: Callable[[bytes], str] = str
    ) -> ExecutionResult:
        self._sqlite.text_factory = decoded
        with closing(self._sqlite.cursor()) as cursor:
            cursor.execute(sql)
            if cursor.description is None:
                return failed("error", "no SQL statement was given", started)
            columns = tuple(column[0] for column in cursor.description)
            if len(columns) > WIDE_ROW:
                self._sqlite.text_factory = self._decoded
            kept = _Kept(self._limits)
            # never two rows in hand: one may be as large as SQLite's limits allow
            while kept.add(cursor.fetchone()):
                pass
        return ExecutionResult(
            kind="rows" if kept.rows else "empty",
            columns=columns,
            rows=tuple(kept.rows),
            truncated=kept.full or kept.cells_cut,
            cells_cut=kept.cells_cut,
            seconds=time.perf_counter() - started,
        )

    def _failure(self, error: BaseException, started: float) -> ExecutionResult:
        if self._gatekeeper.refusal:
            return failed("refused", self._gatekeeper.refusal, started)
        code = primary_code(error)
        if code in REMEDIES:
            raise error
        if code == sqlite3.SQLITE_INTERRUPT:
            limit = f"{self._limits.seconds:g} s"
            return failed("error", f"interrupted: the query ran longer than {limit}", started)
        if isinstance(error, MemoryError):
            return failed("error", "the query needs more memory than there is", started)
        return failed("error", str(error) or type(error).__name__, started)

    def _set_up(self, clock: str, schema: Schema) -> None:
        connection = self._sqlite
        for view in _views_with_clock(connection, clock):
            connection.execute(view)
        connection.execute("PRAGMA query_only = ON")
        for table in ("json_each", "json_tree", *_virtual_tables(connection)):
            # SQLite declares these at their first use, which the authorizer would deny
            with suppress(sqlite3.OperationalError):
                connection.execute(f"SELECT 1 FROM {table} LIMIT 0").close()  # noqa: S608
        connection.create_function(
            CLOCK_FUNCTION, 1, lambda value: to_clock(value, clock), deterministic=True
        )
        bound_functions(connection, self._worker, self._gatekeeper.refuse)
        widest = max(len(columns) for columns in schema.tables.values())
        for bounded in (connection, self._worker):
            set_sqlite_limits(bounded, self._limits, widest)
        connection.set_authorizer(self._gatekeeper)

    def _decoded(self, text: bytes) -> str:
        # Drops what isn't UTF-8, as the official EHRSQL-2024 scorer does. A character takes at
        # most 4 bytes, so one too many is left for `_Kept` to see that the cell is cut.
        return text[: 4 * (self._limits.cell + 1)].decode(errors="ignore")


class _Kept:
    """Rows of one result, cut and counted as they come."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._room = limits.total
        self.rows: list[tuple[Cell, ...]] = []
        self.full = False
        self.cells_cut = False

    def add(self, row: tuple[Cell, ...] | None) -> bool:
        """Keep a row and say whether to go on; the first row is kept whatever it takes."""
        if row is None:
            return False
        if len(self.rows) >= self._limits.rows:
            self.full = True
            return False
        longest = self._limits.cell
        if any(isinstance(cell, (str, bytes)) and len(cell) > longest for cell in row):
            row = tuple(cell[:longest] if isinstance(cell, (str, bytes)) else cell for cell in row)
            self.cells_cut = True
        self._room -= sum(map(sys.getsizeof, row), sys.getsizeof(row))
        if self._room < 0 and self.rows:
            self.full = True
            return False
        self.rows.append(row)
        return True


def connect(uri: str) -> sqlite3.Connection:
    """Open a plain connection that waits a little for writers, and that any thread may use."""
    return sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def failed(kind: ResultKind, reason: str, started: float) -> ExecutionResult:
    """Return the result of an execution that gave no rows, its reason in one short line."""
    line = " ".join(reason.split())
    return ExecutionResult(
        kind=kind,
        error=line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…",
        seconds=time.perf_counter() - started,
    )


def primary_code(error: BaseException) -> int | None:
    """Return SQLite's primary result code of an error, or None if it has none."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _views_with_clock(connection: sqlite3.Connection, clock: str) -> list[str]:
    """Return temporary views that stand before the file's own, if one of those asks the time.

    All are made anew then: a view of the file never sees a temporary one.
    """
    rows = connection.execute("SELECT sql FROM main.sqlite_master WHERE type = 'view'")
    views = [str(sql) for (sql,) in rows]
    answered = [with_clock(sql, clock) for sql in views]
    if answered == views:
        return []
    create = len("CREATE")  # SQLite itself wrote this word into its list of views
    return [f"{sql[:create]} TEMP{sql[create:]}" for sql in answered]


def _virtual_tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0"
    )
    return ['"{}"'.format(name.replace('"', '""')) for (name,) in rows]
