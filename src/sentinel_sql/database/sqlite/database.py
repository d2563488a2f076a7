"""A SQLite database with the `Database` protocol: read-only, bounded, with its own clock."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import weakref
from contextlib import closing, suppress
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from sentinel_sql.address import without_secrets
from sentinel_sql.arguments import checked
from sentinel_sql.database.clock import check_clock, default_clock
from sentinel_sql.database.deadline import Deadlines
from sentinel_sql.database.executor import DatabaseHealth, ExecutionResult, Limits
from sentinel_sql.database.sqlite.connection import (
    REMEDIES,
    Connection,
    FileFaultError,
    connect,
    primary_code,
)
from sentinel_sql.database.sqlite.schema_reader import read_schema
from sentinel_sql.database.worker.process import WorkerProcess
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.schema import Schema
from sentinel_sql.storage.paths import path_of

_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


PATIENCE = 0.05
"""Seconds that a query waits for a busy worker before it starts another (our choice): as long as a
worker takes to start. Most queries take less, so that few workers serve many threads."""

_Runner: TypeAlias = Connection | WorkerProcess


class SqliteDatabase:
    """A read-only SQLite file; safe to use from several threads.

    SQL runs in worker processes. Each execution takes an idle process, or starts a new one if none
    becomes idle soon. Make a
    database with `open`, and `close` it, or use it in a `with` statement. After a fork, parent and
    child each use their own workers.
    """

    def __init__(
        self,
        *,
        uri: str,
        path: Path,
        name: str,
        clock: str,
        schema: Schema,
        limits: Limits,
        in_process: bool,
    ) -> None:
        self._uri = uri
        self._path = path
        self._name = name
        self._clock = clock
        self._schema = schema
        self._limits = limits
        self._in_process = in_process
        self._deadlines = Deadlines()
        self._returned = threading.Condition()
        self._idle: list[_Runner] = []
        self._busy = 0
        self._closed = False
        _opened.add(self)

    @classmethod
    @checked
    def open(
        cls,
        path: str | PathLike[str],
        *,
        name: str | None = None,
        clock: str | None = None,
        limits: Limits | None = None,
        in_process: bool = False,
    ) -> SqliteDatabase:
        """Open a file.

        Args:
            path: the file.
            name: the database's name in questions; by default the file name without extension.
            clock: the database's current time, `YYYY-MM-DD HH:MM:SS`; by default that of
                `KNOWN_CLOCKS` for this name, else the machine's at opening.
            limits: bounds of each execution.
            in_process: run SQL in this process; only for SQL that you trust. Memory is then
                unbounded, and what SQLite can't interrupt has no deadline.

        Raises:
            DatabaseError: the file is missing, no SQLite database, damaged, locked or empty.
            InputError: the clock is no time.
        """
        path = path_of(path)
        name = path.stem if name is None else name
        clock = default_clock(name) if clock is None else check_clock(clock)
        if not os.path.isfile(path):
            what = "is a folder" if os.path.isdir(path) else "isn't there"
            raise DatabaseError(
                f"database {without_secrets(str(path))} {what}; give the path of a SQLite file"
            )
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
            in_process=in_process,
        )
        # an error of the setup is raised here, not at a query
        try:
            connection = database._connection()
        except sqlite3.DatabaseError as error:
            raise _fault(path, primary_code(error), str(error)) from error
        if in_process:
            database._idle.append(connection)
        else:
            connection.close()
            database._idle.append(database._start())
        return database

    @property
    def name(self) -> str:
        """Name by which questions and trajectories refer to it."""
        return self._name

    @property
    def file(self) -> Path:
        """The file of the database."""
        return self._path

    @property
    def clock(self) -> str:
        """The database's own current time, `YYYY-MM-DD HH:MM:SS`."""
        return self._clock

    @property
    def dialect(self) -> str:
        """`sqlite`."""
        return "sqlite"

    @property
    def schema(self) -> Schema:
        """Tables, views, columns and foreign keys at the time of opening."""
        return self._schema

    @property
    def limits(self) -> Limits:
        """Bounds of each execution."""
        return self._limits

    @property
    def memory_held_by(self) -> str:
        """What bounds a query's memory: the operating system, SQLite's heap limit, or nobody."""
        if self._in_process:
            return "nobody"
        worker = self._take()
        try:
            if isinstance(worker, WorkerProcess):
                worker.make_ready()
                return worker.memory_held_by
            return "nobody"
        except FileFaultError as fault:
            raise _fault(self._path, fault.code, str(fault)) from fault
        finally:
            self._give_back(worker)

    def execute(self, sql: str) -> ExecutionResult:
        """Run one read-only statement; errors of the SQL are results, not exceptions.

        Raises:
            InputError: `sql` is no text.
            DatabaseError: the file is damaged, locked or unreadable, or this object is closed.
        """
        if not isinstance(sql, str):
            raise InputError(
                f"SQL is a text, and this is {type(sql).__name__}: give one statement as a str"
            )
        started = time.perf_counter()
        runner = self._take()
        try:
            return runner.run(sql, started)
        except FileFaultError as fault:
            raise _fault(self._path, fault.code, str(fault)) from fault
        except sqlite3.DatabaseError as error:
            raise _fault(self._path, primary_code(error), str(error)) from error
        finally:
            self._give_back(runner)

    def health(self) -> DatabaseHealth:
        """Return what bounds a query's memory."""
        return DatabaseHealth(
            detail=f"a query's memory is held to {self._limits.memory / 1e6:,.0f} MB by "
            f"{self.memory_held_by}"
        )

    def close(self) -> None:
        """End every worker; a busy worker ends after its execution."""
        with self._returned:
            self._closed = True
            idle, self._idle = self._idle, []
            self._returned.notify_all()
        for runner in idle:
            runner.close()
        self._deadlines.close()

    def __enter__(self) -> SqliteDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> _Runner:
        with self._returned:
            if not self._in_process:
                self._returned.wait_for(self._needs_no_wait, PATIENCE)
            if self._closed:
                raise DatabaseError(f"database {self._path} was closed; open it again")
            idle = self._idle.pop() if self._idle else None
            self._busy += 1
        try:
            while idle is not None:
                if idle.usable:
                    return idle
                idle.close()
                with self._returned:
                    idle = self._idle.pop() if self._idle else None
            return self._start()
        except BaseException:
            with self._returned:
                self._busy -= 1
            raise

    def _needs_no_wait(self) -> bool:
        return bool(self._closed or self._idle) or not self._busy

    def _start(self) -> _Runner:
        if not self._in_process:
            return WorkerProcess(self._uri, clock=self._clock, limits=self._limits)
        try:
            return self._connection()
        except sqlite3.DatabaseError as error:
            raise _fault(self._path, primary_code(error), str(error)) from error

    def _connection(self) -> Connection:
        return Connection(
            self._uri, clock=self._clock, limits=self._limits, deadline=self._deadlines
        )

    def _give_back(self, runner: _Runner) -> None:
        if runner.closed:
            # start another one now, so that the next query needn't wait for it
            with suppress(DatabaseError):
                runner = self._start()
        with self._returned:
            self._busy -= 1
            self._returned.notify()
            if not (self._closed or runner.closed):
                self._idle.append(runner)
                return
        runner.close()

    def _reset_after_fork(self) -> None:
        """Use new workers, locks and threads in a forked process; the parent keeps its own."""
        _left_to_parents.extend(self._idle)
        self._idle, self._busy = [], 0
        self._returned = threading.Condition()
        self._deadlines = Deadlines()


def open_sqlite(
    address: str, *, name: str | None, clock: str | None, limits: Limits
) -> SqliteDatabase:
    """Open a path or an address such as `sqlite:///ward.sqlite` or `sqlite:////data/ward.sqlite`.

    Raises:
        DatabaseError: the file is missing, no SQLite database, damaged, locked or empty.
        InputError: the clock is no time.
    """
    path = re.sub(r"sqlite(\+\w+)?:///?", "", address, count=1)
    return SqliteDatabase.open(path, name=name, clock=clock, limits=limits)


_opened: weakref.WeakSet[SqliteDatabase] = weakref.WeakSet()
_left_to_parents: list[_Runner] = []


def _after_fork() -> None:
    for database in _opened:
        database._reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)


def _first_look(path: Path) -> tuple[str, Schema]:
    """Return a URI that can read the file, and its schema."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return uri, _schema_at(uri)
    except sqlite3.DatabaseError as error:
        # A file in WAL mode needs a `-shm` file even for reading. If the folder can't be written,
        # there is no writer, so the file may be read as immutable, unless a writer left changes
        # in a separate file.
        pending = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-journal"))
        if primary_code(error) in _UNWRITABLE and not any(map(_has_content, pending)):
            uri += "&immutable=1"
            with suppress(sqlite3.DatabaseError):
                return uri, _schema_at(uri)
        raise _fault(path, primary_code(error), str(error)) from error


def _schema_at(uri: str) -> Schema:
    with closing(connect(uri)) as connection:
        return read_schema(connection)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _fault(path: Path, code: int | None, words: str) -> DatabaseError:
    remedy = REMEDIES.get(code or -1, f"can't be read ({words}); check the file")
    return DatabaseError(f"database {path} {remedy}")
