"""A SQLite database behind the `Database` protocol: read-only, bounded, with a clock of its own."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from sentinel_sql.database.clock import (
    CLOCK_FUNCTION,
    checked_clock,
    default_clock,
    to_clock,
    with_clock,
)
from sentinel_sql.database.executor import Cell, ExecutionResult, Limits, ResultKind
from sentinel_sql.database.safety import (
    Gatekeeper,
    end_of_first_statement,
    set_sqlite_limits,
)
from sentinel_sql.database.schema_reader import read_schema
from sentinel_sql.database.sql_tokens import tokenize
from sentinel_sql.errors import DatabaseError
from sentinel_sql.schema import Schema

PROGRESS_STEPS = 10_000
"""Virtual-machine steps between two looks at the deadline: a few milliseconds at most."""

BUSY_SECONDS = 2.0
"""How long a writer that holds the file is waited for before the database counts as locked."""

WIDE_ROW = 20
"""Columns from which texts are cut one by one as they are read. Python's own decoding is many
times faster, but holds all cells of a row whole at once."""

LONGEST_ERROR = 300
"""Characters of an error that are kept: SQLite quotes an unclosed string to its end."""

_REMEDIES = {
    sqlite3.SQLITE_NOTADB: "is no SQLite database (or is encrypted); give the path of one",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy (`sqlite3 FILE .recover` may help)",
    sqlite3.SQLITE_BUSY: "is locked by another program; close that program and try again",
    sqlite3.SQLITE_LOCKED: "is locked by another program; close that program and try again",
    sqlite3.SQLITE_PROTOCOL: "is locked by another program; close that program and try again",
    sqlite3.SQLITE_CANTOPEN: "can't be opened; check that it and its folder may be read",
    sqlite3.SQLITE_PERM: "can't be opened; check that it and its folder may be read",
    sqlite3.SQLITE_AUTH: "can't be opened; check that it and its folder may be read",
    sqlite3.SQLITE_IOERR: "can't be read from its disk; check the disk or copy the file elsewhere",
    sqlite3.SQLITE_READONLY: "needs recovery by a program that may write it; open it there once",
}
"""Faults of the file or the machine by SQLite's primary result code: never the query's doing."""


class SqliteDatabase:
    """A SQLite file that can be read and never changed; safe to use from several threads.

    Each execution takes an idle connection or opens another, so as many are open as ever ran at
    once. Make one with `open`, and `close` it, or use it in a `with` statement.
    """

    def __init__(
        self, *, uri: str, path: Path, name: str, clock: str, schema: Schema, limits: Limits
    ) -> None:
        self._uri = uri
        self._path = path
        self._name = name
        self._clock = clock
        self._schema = schema
        self._limits = limits
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        name: str | None = None,
        clock: str | None = None,
        limits: Limits | None = None,
    ) -> SqliteDatabase:
        """Open a file.

        Args:
            path: the file.
            name: name by which questions refer to it; by default the file's without its ending.
            clock: the database's current time, `YYYY-MM-DD HH:MM:SS`; by default that of
                `KNOWN_CLOCKS` for this name, else the machine's at opening.
            limits: bounds of each execution.

        Raises:
            DatabaseError: the file is missing, no SQLite database, damaged, locked or empty.
            InputError: the clock is no time.
        """
        path = Path(path)
        name = path.stem if name is None else name
        clock = default_clock(name) if clock is None else checked_clock(clock)
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "isn't there"
            raise DatabaseError(f"database {path} {what}; give the path of a SQLite file")
        uri, schema = _first_look(path)
        if not schema.tables:
            raise DatabaseError(f"database {path} holds no tables; give the path of a filled one")
        database = cls(
            uri=uri,
            path=path,
            name=name,
            clock=clock,
            schema=schema,
            limits=Limits() if limits is None else limits,
        )
        database._give_back(database._take())  # what can't be set up shows now, not at a query
        return database

    @property
    def name(self) -> str:
        """Name by which questions and trajectories refer to it."""
        return self._name

    @property
    def clock(self) -> str:
        """The database's own current time, `YYYY-MM-DD HH:MM:SS`."""
        return self._clock

    @property
    def schema(self) -> Schema:
        """Tables, views, columns and foreign keys, as they were at opening."""
        return self._schema

    @property
    def limits(self) -> Limits:
        """Bounds of each execution."""
        return self._limits

    def execute(self, sql: str) -> ExecutionResult:
        """Run one read-only statement; never raises for what the SQL does wrong.

        Raises:
            DatabaseError: the file is damaged, locked or unreadable, or this object is closed.
        """
        started = time.perf_counter()
        tokens = tokenize(sql)
        end = end_of_first_statement(tokens)
        if end is None:
            return _failed("refused", "only one statement may run at a time", started)
        if end == 0:
            return _failed("error", "no SQL statement was given", started)
        sql = with_clock(sql[:end], self._clock, tokens)
        connection = self._take()
        try:
            return connection.run(sql, started)
        except sqlite3.DatabaseError as error:
            raise _fault(self._path, error) from error
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close every connection; one in use is closed when its execution ends."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> SqliteDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> _Connection:
        with self._lock:
            if self._closed:
                raise DatabaseError(f"database {self._path} was closed; open it again")
            if self._idle:
                return self._idle.pop()
        try:
            return _Connection(self._uri, self._clock, self._schema, self._limits)
        except sqlite3.DatabaseError as error:
            raise _fault(self._path, error) from error

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()


class _Connection:
    """One connection, ready to run agents' SQL; used by one thread at a time."""

    def __init__(self, uri: str, clock: str, schema: Schema, limits: Limits) -> None:
        self._limits = limits
        self._deadline = time.perf_counter() + limits.seconds
        self._gatekeeper = Gatekeeper(schema.tables.keys())
        self._sqlite = _connect(uri)
        try:
            self._set_up(clock, schema)
        except BaseException:
            self._sqlite.close()
            raise

    def close(self) -> None:
        self._sqlite.close()

    def run(self, sql: str, started: float) -> ExecutionResult:
        """Run `sql`, lenient with texts that aren't UTF-8; raises on faults of the file."""
        self._deadline = started + self._limits.seconds
        self._gatekeeper.refusal = None
        try:
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
            columns = tuple(column[0] for column in cursor.description or ())
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
            return _failed("refused", self._gatekeeper.refusal, started)
        code = _primary_code(error)
        if code in _REMEDIES:
            raise error
        if code == sqlite3.SQLITE_INTERRUPT:
            limit = f"{self._limits.seconds:g} s"
            return _failed("error", f"interrupted: the query ran longer than {limit}", started)
        if isinstance(error, MemoryError):
            return _failed("error", "the query needs more memory than there is", started)
        return _failed("error", str(error) or type(error).__name__, started)

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
        widest = max(len(columns) for columns in schema.tables.values())
        set_sqlite_limits(connection, self._limits, widest)
        connection.set_progress_handler(self._is_late, PROGRESS_STEPS)
        connection.set_authorizer(self._gatekeeper)

    def _decoded(self, text: bytes) -> str:
        # Drops what isn't UTF-8, as the official EHRSQL-2024 scorer does. A character takes at
        # most 4 bytes, so one too many is left for `_Kept` to see that the cell is cut.
        return text[: 4 * (self._limits.cell + 1)].decode(errors="ignore")

    def _is_late(self) -> bool:
        return time.perf_counter() > self._deadline


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


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


def _first_look(path: Path) -> tuple[str, Schema]:
    """Return the URI by which the file can be read, and its schema."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return uri, _schema_at(uri)
    except sqlite3.DatabaseError as error:
        # A file in WAL mode wants a `-shm` beside it even for reading. Where the folder can't
        # be written there is no writer either, so the file may be read as one that won't change.
        pending = path.with_name(f"{path.name}-wal")
        if _primary_code(error) == sqlite3.SQLITE_CANTOPEN and not _has_content(pending):
            uri += "&immutable=1"
            with suppress(sqlite3.DatabaseError):
                return uri, _schema_at(uri)
        raise _fault(path, error) from error


def _schema_at(uri: str) -> Schema:
    with closing(_connect(uri)) as connection:
        return read_schema(connection)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _views_with_clock(connection: sqlite3.Connection, clock: str) -> list[str]:
    """Return temporary views that stand before the file's own, if one of those asks the time.

    All are made anew then: a view of the file never sees a temporary one.
    """
    views = [
        (sql, tokenize(sql))
        for (sql,) in connection.execute(
            "SELECT sql FROM main.sqlite_master WHERE type = 'view' AND sql IS NOT NULL"
        )
    ]
    answered = [with_clock(sql, clock, tokens) for sql, tokens in views]
    if answered == [sql for sql, _ in views]:
        return []
    create = len("CREATE")  # SQLite itself wrote this word into its list of views
    return [f"{sql[:create]} TEMP{sql[create:]}" for sql in answered]


def _virtual_tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0"
    )
    return ['"{}"'.format(name.replace('"', '""')) for (name,) in rows]


def _primary_code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _fault(path: Path, error: sqlite3.Error) -> DatabaseError:
    remedy = _REMEDIES.get(_primary_code(error) or -1, f"can't be read ({error}); check the file")
    return DatabaseError(f"database {path} {remedy}")


def _failed(kind: ResultKind, reason: str, started: float) -> ExecutionResult:
    line = " ".join(reason.split())
    return ExecutionResult(
        kind=kind,
        error=line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…",
        seconds=time.perf_counter() - started,
    )
