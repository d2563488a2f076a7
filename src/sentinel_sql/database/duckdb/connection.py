"""The only connection of a worker process to a DuckDB file; it runs agents' SQL within its limits.

It knows nothing of the walk over the statement's tree, which the parent process makes. DuckDB's own
bounds hold without it: the file is opened read-only, no other file or address can be reached, and
no setting can be changed.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import duckdb

from sentinel_sql.database.cells import cell_of, json_cell
from sentinel_sql.database.executor import Cell, ExecutionResult, Limits
from sentinel_sql.database.failures import FileFaultError, failed, out_of_memory, too_long
from sentinel_sql.database.kept_rows import KeptRows, PassOn

MEMORY_SHARE: Final = 0.7
"""Share of a process's memory for DuckDB's buffers; it needs more beside them, as does Python."""

CHUNK: Final = 500
"""Rows that are fetched at once."""

_SETTINGS: Final[Mapping[str, str | int]] = {
    "threads": 1,
    "temp_directory": "",  # what doesn't fit into memory fails, and writes no file
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",  # else a Python variable could be read as a table
}

_LOCKS: Final = (
    "SET TimeZone = 'UTC'",
    "SET enable_progress_bar = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)

_ENGINE_FAULTS: Final = (duckdb.FatalException, duckdb.InternalException)
_FILE_FAULTS: Final = (duckdb.IOException, duckdb.SerializationException)

_AS_THEY_ARE: Final = frozenset(
    [
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
        "FLOAT",
        "DOUBLE",
        "VARCHAR",
        "BLOB",
        "BIT",
    ]
)
"""Types whose values arrive as cells."""

_INTERVAL: Final = "INTERVAL"

_REFUSED: Final[Mapping[str, str]] = {
    "MULTI": "PIVOT without its values; write them, as in ON ward IN ('icu', 'surgery')"
}
"""DuckDB's kind of a statement → what an agent is told, where its name says too little."""

_Converter: TypeAlias = Callable[[Any], Cell]


class WorkerConnection:
    """One connection, used by one thread at a time.

    Args:
        path: the file.
        clock: not used; the parent writes the time into the statement.
        limits: bounds of each execution.

    Raises:
        FileFaultError: DuckDB can't use the file.
    """

    memory_held_by = "DuckDB's memory limit"

    def __init__(self, path: str, clock: str, limits: Limits) -> None:
        del clock
        self._limits = limits
        try:
            self._duckdb = connect(path, limits)
        except (duckdb.Error, OSError) as error:
            raise FileFaultError(None, str(error)) from error

    def run(self, sql: str, started: float, pass_on: PassOn | None = None) -> ExecutionResult:
        """Run one statement that reads.

        Args:
            sql: its text.
            started: start of its time, by `time.perf_counter`.
            pass_on: gets all rows but the last portion; without it the result holds all rows.

        Raises:
            FileFaultError: a fault of the file or the disk.
        """
        try:
            statements = self._duckdb.extract_statements(sql)
            if len(statements) != 1:
                return failed(
                    "refused", "not allowed: exactly one statement may run at a time", started
                )
            if statements[0].type != duckdb.StatementType.SELECT:
                kind = str(statements[0].type).rpartition(".")[2]
                return failed("refused", f"not allowed: {_REFUSED.get(kind, kind)}", started)
            return self._fetch(sql, statements[0], started, pass_on)
        except (duckdb.Error, MemoryError, RuntimeError, ValueError) as error:
            return self._failure(error, started)

    def _fetch(
        self, sql: str, statement: duckdb.Statement, started: float, pass_on: PassOn | None
    ) -> ExecutionResult:
        cursor = self._duckdb.execute(statement)
        described = cursor.description or []
        kinds = [str(column[1]) for column in described]
        if _INTERVAL in kinds:
            cursor = self._duckdb.execute(_with_interval_texts(sql, kinds))
        converters = {
            place: converter
            for place, kind in enumerate(kinds)
            if (converter := _converter(kind)) is not None
        }
        kept = KeptRows(self._limits, pass_on)
        until = started + self._limits.seconds
        while rows := cursor.fetchmany(CHUNK):
            if converters:
                rows = [_converted(row, converters) for row in rows]
            if not all(map(kept.add, rows)):
                break
            if time.perf_counter() > until:
                return too_long(self._limits, started)
        return ExecutionResult(
            kind="rows" if kept.count else "empty",
            columns=tuple(str(column[0]) for column in described),
            rows=tuple(kept.rows),
            truncated=kept.full or kept.cells_cut,
            cells_cut=kept.cells_cut,
            seconds=time.perf_counter() - started,
        )

    def _failure(self, error: Exception, started: float) -> ExecutionResult:
        words = _first_part(str(error))
        if isinstance(error, duckdb.InterruptException):
            return too_long(self._limits, started)
        if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
            megabytes = f"{self._limits.memory / 1e6:,.0f} MB"
            return out_of_memory(f"the query needs more memory than its {megabytes}", started)
        if isinstance(error, _ENGINE_FAULTS):
            # DuckDB takes no further statement after this one
            return out_of_memory(f"the query broke DuckDB: {words}", started)
        if isinstance(error, _FILE_FAULTS):
            raise FileFaultError(None, words) from error
        if isinstance(error, duckdb.PermissionException):
            return failed("refused", f"not allowed: {words.partition(': ')[2] or words}", started)
        return failed("error", words or type(error).__name__, started)


def connect(path: str, limits: Limits) -> duckdb.DuckDBPyConnection:
    """Open a file read-only, and lock it and its settings.

    Raises:
        duckdb.Error: DuckDB can't use the file.
    """
    settings: dict[str, str | bool | int | float | list[str]] = {
        **_SETTINGS,
        "memory_limit": f"{int(MEMORY_SHARE * limits.memory)}B",
        "max_execution_time": max(1, math.ceil(1000 * min(limits.seconds, 1e9))),
    }
    connection = duckdb.connect(path, read_only=True, config=settings)
    for lock in _LOCKS:
        connection.execute(lock)
    return connection


def _with_interval_texts(sql: str, kinds: Sequence[str]) -> str:
    """Return a query for the same rows with texts for intervals: Python's hold no months."""
    names = [f"c{place}" for place in range(len(kinds))]
    chosen = ", ".join(
        f"CAST({name} AS VARCHAR)" if kind == _INTERVAL else name
        for name, kind in zip(names, kinds, strict=True)
    )
    text = sql.strip().rstrip(";")
    return f"SELECT {chosen} FROM ({text}\n) AS t ({', '.join(names)})"  # noqa: S608


def _interval(text: Cell) -> Cell:
    """Return DuckDB's text of an interval as PostgreSQL writes it."""
    return re.sub(r"\bmonth(s?)\b", r"mon\1", text) if isinstance(text, str) else text


def _converter(kind: str) -> _Converter | None:
    """Return what makes cells of a column's values, None where they are cells already."""
    if kind in _AS_THEY_ARE:
        return None
    return _CONVERTERS.get(kind, cell_of)


_CONVERTERS: Final[Mapping[str, _Converter]] = {"JSON": json_cell, _INTERVAL: _interval}


def _converted(row: tuple[Any, ...], converters: Mapping[int, _Converter]) -> tuple[Cell, ...]:
    cells = list(row)
    for place, converter in converters.items():
        cells[place] = converter(cells[place])
    return tuple(cells)


def _first_part(words: str) -> str:
    """Return DuckDB's message without the SQL that it quotes and the functions that it lists."""
    return re.split(r"\n\s*(?:LINE \d+:|Candidate functions:)", words, maxsplit=1)[0].strip()
