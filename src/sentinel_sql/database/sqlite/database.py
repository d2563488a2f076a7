"""A SQLite database with the `Database` protocol: read-only, bounded, with its own clock."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, suppress
from os import PathLike
from pathlib import Path
from typing import Final, TypeAlias

from sentinel_sql.arguments import checked
from sentinel_sql.database.clock import check_clock, default_clock
from sentinel_sql.database.deadline import Deadlines
from sentinel_sql.database.executor import DatabaseHealth, ExecutionResult, Limits
from sentinel_sql.database.failures import FileFaultError
from sentinel_sql.database.read_only import ReadOnlyDatabase, check_database_file
from sentinel_sql.database.sqlite.connection import (
    REMEDIES,
    Connection,
    connect,
    primary_code,
)
from sentinel_sql.database.sqlite.schema_reader import read_schema
from sentinel_sql.database.worker.pool import PATIENCE, RunnerPool
from sentinel_sql.database.worker.process import WorkerProcess
from sentinel_sql.errors import DatabaseError
from sentinel_sql.schema import Schema
from sentinel_sql.storage.paths import path_of

_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


_Runner: TypeAlias = Connection | WorkerProcess


class SqliteDatabase(ReadOnlyDatabase):
    """A read-only SQLite file; safe to use from several threads.

    SQL runs in worker processes. Each execution takes an idle process, or starts a new one if none
    becomes idle soon. Make a database with `open`, and `close` it, or use it in a `with` statement.
    After a fork, parent and child each use their own workers.
    """

    dialect: Final = "sqlite"

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
        super().__init__(name=name, clock=clock, schema=schema, limits=limits)
        self._uri = uri
        self._path = path
        self._in_process = in_process
        self._deadlines = Deadlines()
        self._pool: RunnerPool[_Runner] = RunnerPool(
            self._start, what=f"database {path}", patience=0.0 if in_process else PATIENCE
        )

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
        check_database_file(path, kind="SQLite")
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
            database._pool.idle.append(connection)
        else:
            connection.close()
            database._pool.idle.append(database._start())
        return database

    @property
    def file(self) -> Path:
        """The file of the database."""
        return self._path

    @property
    def memory_held_by(self) -> str:
        """What bounds a query's memory: the operating system, SQLite's heap limit, or nobody."""
        if self._in_process:
            return "nobody"
        with self._pool.runner() as worker:
            if not isinstance(worker, WorkerProcess):
                return "nobody"
            try:
                worker.make_ready()
            except FileFaultError as fault:
                raise _fault(self._path, fault.code, str(fault)) from fault
            return worker.memory_held_by

    def _execute(self, sql: str, started: float) -> ExecutionResult:
        with self._pool.runner() as runner:
            try:
                return runner.run(sql, started)
            except FileFaultError as fault:
                raise _fault(self._path, fault.code, str(fault)) from fault
            except sqlite3.DatabaseError as error:
                raise _fault(self._path, primary_code(error), str(error)) from error

    def health(self) -> DatabaseHealth:
        """Return what bounds a query's memory."""
        return DatabaseHealth(
            detail=f"a query's memory is held to {self._limits.memory / 1e6:,.0f} MB by "
            f"{self.memory_held_by}"
        )

    def close(self) -> None:
        """End every worker; a busy worker ends after its execution."""
        self._pool.close()
        self._deadlines.close()

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

    def _reset_after_fork(self) -> None:
        """Use new workers, locks and threads in a forked process; the parent keeps its own."""
        self._pool.reset_after_fork()
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
