"""A SQLite database behind the `Database` protocol: read-only, bounded, with a clock of its own."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing, suppress
from os import PathLike
from pathlib import Path

from sentinel_sql.database.clock import checked_clock, default_clock, with_clock
from sentinel_sql.database.deadline import Deadlines
from sentinel_sql.database.executor import ExecutionResult, Limits
from sentinel_sql.database.safety import LONGEST_SQL, only_statement
from sentinel_sql.database.schema_reader import read_schema
from sentinel_sql.database.sqlite_connection import (
    REMEDIES,
    Connection,
    connect,
    failed,
    primary_code,
)
from sentinel_sql.errors import DatabaseError
from sentinel_sql.schema import Schema

_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


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
        self._deadlines = Deadlines()
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
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
        if not os.path.isfile(path):
            what = "is a folder" if os.path.isdir(path) else "isn't there"
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
        if len(sql) > LONGEST_SQL:
            return failed("refused", f"longer than {LONGEST_SQL} characters", started)
        statement = only_statement(sql)
        if statement is None:
            return failed("refused", "not allowed: only one statement may run at a time", started)
        statement = with_clock(statement, self._clock)
        connection = self._take()
        try:
            return connection.run(statement, started)
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
        self._deadlines.close()

    def __enter__(self) -> SqliteDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> Connection:
        with self._lock:
            if self._closed:
                raise DatabaseError(f"database {self._path} was closed; open it again")
            if self._idle:
                return self._idle.pop()
        try:
            return Connection(
                self._uri,
                clock=self._clock,
                schema=self._schema,
                limits=self._limits,
                deadlines=self._deadlines,
            )
        except sqlite3.DatabaseError as error:
            raise _fault(self._path, error) from error

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()


def _first_look(path: Path) -> tuple[str, Schema]:
    """Return the URI by which the file can be read, and its schema."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return uri, _schema_at(uri)
    except sqlite3.DatabaseError as error:
        # A file in WAL mode wants a `-shm` beside it even for reading. Where the folder can't
        # be written there is no writer either, so the file may be read as one that won't
        # change, unless a writer left behind what isn't in it yet.
        pending = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-journal"))
        if primary_code(error) in _UNWRITABLE and not any(map(_has_content, pending)):
            uri += "&immutable=1"
            with suppress(sqlite3.DatabaseError):
                return uri, _schema_at(uri)
        raise _fault(path, error) from error


def _schema_at(uri: str) -> Schema:
    with closing(connect(uri)) as connection:
        return read_schema(connection)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _fault(path: Path, error: sqlite3.Error) -> DatabaseError:
    remedy = REMEDIES.get(primary_code(error) or -1, f"can't be read ({error}); check the file")
    return DatabaseError(f"database {path} {remedy}")
