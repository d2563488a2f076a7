"""A DuckDB file with the `Database` protocol: read-only, bounded, with its own clock."""

from __future__ import annotations

import importlib.util
import os
import re
import time
from collections.abc import Set
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Final

from sentinel_sql.database.clock import check_clock, default_clock
from sentinel_sql.database.duckdb.faults import fault
from sentinel_sql.database.duckdb.schema_reader import read_schema, views_with_clock
from sentinel_sql.database.executor import Cell, DatabaseHealth, ExecutionResult, Limits
from sentinel_sql.database.failures import FileFaultError, failed, too_long
from sentinel_sql.database.read_only import ReadOnlyDatabase, check_database_file
from sentinel_sql.database.statements.clock import DUCKDB_CLOCK, with_clock
from sentinel_sql.database.statements.clock_views import check_views
from sentinel_sql.database.statements.duckdb_rules import DUCKDB_RULES
from sentinel_sql.database.statements.rules import check_tree
from sentinel_sql.database.statements.statement import RefusedError, read_statement
from sentinel_sql.database.worker.pool import RunnerPool
from sentinel_sql.database.worker.process import WorkerProcess
from sentinel_sql.errors import DatabaseError
from sentinel_sql.schema import Schema
from sentinel_sql.storage.paths import path_of

_SCHEMA_LIMITS: Final = Limits(rows=5_000_000, cell=10_000_000, total=1_000_000_000)
"""Bounds of the queries that read the schema, which aren't an agent's."""


class DuckdbDatabase(ReadOnlyDatabase):
    """A read-only DuckDB file; safe to use from several threads.

    Every statement is checked here and runs in a worker process; nothing of DuckDB is loaded into
    this process. Make a database with `open`, and `close` it, or use it in a `with` statement.
    While it is open, no program can write the file: that is DuckDB's rule.
    """

    dialect: Final = "duckdb"

    def __init__(
        self,
        *,
        path: Path,
        name: str,
        clock: str,
        schema: Schema,
        clock_views: Set[tuple[str, str]],
        limits: Limits,
    ) -> None:
        super().__init__(name=name, clock=clock, schema=schema, limits=limits)
        self._path = path
        self._clock_views = clock_views
        self._pool = RunnerPool(self._start, what=f"database {path}")

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        name: str | None = None,
        clock: str | None = None,
        limits: Limits | None = None,
    ) -> DuckdbDatabase:
        """Open a file.

        Args:
            path: the file, or its address `duckdb:///file`.
            name: the database's name in questions; by default the file name without extension.
            clock: the database's current time, `YYYY-MM-DD HH:MM:SS`; by default that of
                `KNOWN_CLOCKS` for this name, else the machine's at opening.
            limits: bounds of each execution.

        Raises:
            DatabaseError: the file is missing, no DuckDB database, damaged, locked or empty.
            InputError: the clock is no time.
        """
        path = path_of(re.sub(r"^duckdb(\+\w+)?:///?", "", os.fspath(path), count=1))
        name = path.stem if name is None else name
        clock = default_clock(name) if clock is None else check_clock(clock)
        check_database_file(path, kind="DuckDB")
        limits = Limits() if limits is None else limits
        schema, clock_views = _first_look(path, limits)
        if not schema.tables:
            raise DatabaseError(f"database {path} holds no tables; give the path of a filled one")
        database = cls(
            path=path,
            name=name,
            clock=clock,
            schema=schema,
            clock_views=clock_views,
            limits=limits,
        )
        database._pool.idle.append(database._start())
        return database

    @property
    def file(self) -> Path:
        """The file of the database."""
        return self._path

    def _execute(self, sql: str, started: float) -> ExecutionResult:
        try:
            statement = read_statement(sql, self.dialect)
            check_tree(statement, DUCKDB_RULES)
            check_views(statement, self._clock_views, any_case=True)
            timed = with_clock(statement, self._clock, DUCKDB_CLOCK)
        except RefusedError as refusal:
            return failed("refused", str(refusal), started)
        if time.perf_counter() - started > self._limits.seconds:
            return too_long(self._limits, started)
        return self._run(timed, started)

    def _run(self, sql: str, started: float) -> ExecutionResult:
        """Run a statement that was checked, or whose checks are off."""
        with self._pool.runner() as worker:
            try:
                return worker.run(sql, started)
            except FileFaultError as found:
                raise fault(self._path, str(found)) from None

    def health(self) -> DatabaseHealth:
        """Return what bounds a query's memory."""
        with self._pool.runner() as worker:
            try:
                worker.make_ready()
            except FileFaultError as found:
                raise fault(self._path, str(found)) from None
            held_by = worker.memory_held_by
        return DatabaseHealth(
            detail=f"a query's memory is held to {self._limits.memory / 1e6:,.0f} MB by {held_by}"
        )

    def close(self) -> None:
        """End every worker; a busy worker ends after its execution."""
        self._pool.close()

    def _start(self) -> WorkerProcess:
        return _worker(self._path, self._clock, self._limits)

    def _reset_after_fork(self) -> None:
        self._pool.reset_after_fork()


def _worker(path: Path, clock: str, limits: Limits) -> WorkerProcess:
    return WorkerProcess(
        str(path.resolve()), dialect="duckdb", clock=clock, limits=limits, packages=_packages()
    )


def _packages() -> tuple[str, ...]:
    """Return the folders where DuckDB's package lies."""
    found = importlib.util.find_spec("duckdb")
    places = [] if found is None else found.submodule_search_locations or []
    return tuple(str(Path(place).parent) for place in places)


def _first_look(path: Path, limits: Limits) -> tuple[Schema, Set[tuple[str, str]]]:
    bounds = replace(_SCHEMA_LIMITS, memory=max(limits.memory, _SCHEMA_LIMITS.memory))
    with closing(_worker(path, "", bounds)) as worker:

        def rows(query: str) -> tuple[tuple[Cell, ...], ...]:
            result = worker.run(query, time.perf_counter())
            if result.error is not None:
                raise fault(path, result.error)
            return result.rows

        try:
            return read_schema(rows), views_with_clock(rows)
        except FileFaultError as found:
            raise fault(path, str(found)) from None
