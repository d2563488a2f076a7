"""One session of a PostgreSQL database: its settings, and one statement at a time."""

from __future__ import annotations

import math
import sys
import time
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg import adapt, sql
from psycopg.abc import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import fetch, send
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from sentinel_sql.database.cells import cell_of
from sentinel_sql.database.executor import Cell, ExecutionResult, Limits
from sentinel_sql.database.failures import failed, out_of_memory, too_long
from sentinel_sql.database.kept_rows import KeptRows
from sentinel_sql.database.postgres.connection import (
    BoundedConnection,
    OutOfTimeError,
    TooMuchAtOnceError,
    connect,
)
from sentinel_sql.database.postgres.values import (
    PLAIN_TYPES,
    register_lenient_loaders,
    register_loaders,
)

BEGIN: Final = "BEGIN TRANSACTION READ ONLY"
ROLLBACK: Final = "ROLLBACK"
ANSWER_SECONDS: Final = 5.0
"""Seconds in which a server that isn't down answers a statement that does nothing."""

CHUNK: Final = 100
"""Rows that libpq hands over at once."""

BUFFERED: Final = 8_000_000
"""Bytes of other rows that may wait in the system's buffers beside those that are read."""

DROPPING_SECONDS: Final = 0.003
"""Seconds in which the rest of a short result is read for nothing: as long as a cancel takes."""

LOCK_SECONDS: Final = 5.0
"""Most seconds that a statement waits for a table that another session locks."""

LONGEST_TIMEOUT: Final = 1_000_000_000
"""Milliseconds; the server's settings are integers of 31 bits."""

TIME_ZONE: Final = "UTC"

_MEMORY_STATES: Final = ("53200", "53400")
"""Out of memory; more temporary files than the limit."""
_SERVER_FAULTS: Final = ("08", "28", "40", "53", "55P03", "57P", "58", "25P", "XX001", "XX002")
"""Beginnings of the SQLSTATEs that no reading statement is to blame for: connection, rights to
connect, deadlocks, resources, tables that others lock, shutdown, input and output, a session that
timed out, damaged data."""
_CANCELLED: Final = "57014"


class StaleSessionError(Exception):
    """The session was lost before the statement began; another session may run it."""


class UnansweredError(Exception):
    """The server neither ended the statement in time nor took the request to cancel it."""


class Session:
    """A session that runs one read-only statement after another; not for two threads at once."""

    def __init__(self, conninfo: str, limits: Limits) -> None:
        """Connect and set up.

        Raises:
            psycopg.Error: there is no connection, or the server refuses a setting.
        """
        self.new = True
        self._limits = limits
        self._connection: BoundedConnection = connect(conninfo)
        try:
            register_loaders(self._connection)
            self._set_up()
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """True if it can't be used any more."""
        return self._connection.closed

    @property
    def connection(self) -> BoundedConnection:
        """The connection itself, for the catalog's queries."""
        return self._connection

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def run(self, statement: str, started: float, size: int = CHUNK) -> ExecutionResult:
        """Run one statement in a read-only transaction of its own.

        Args:
            statement: its text.
            started: start of its time, by `time.perf_counter`.
            size: rows that arrive together.

        Raises:
            StaleSessionError: the connection was lost before.
            psycopg.Error: a fault of the server or of the connection.
            UnansweredError: perhaps there is no server any more.
            TooMuchAtOnceError: these rows together are more than a result may take.
        """
        connection = self._connection
        connection.bound(started, self._limits.seconds, most_bytes=self._limits.total + BUFFERED)
        begun = False
        try:
            self._send(statement)
            self._begin()
            begun = True
            return self._fetch(started, size)
        except OutOfTimeError:
            if connection.cancelled:
                return too_long(self._limits, started)
            raise UnansweredError from None
        except psycopg.Error as error:
            if not begun:
                connection.close()
                raise StaleSessionError from error
            return self._failure(error, started)
        finally:
            self._end()

    def _send(self, statement: str) -> None:
        """Send the statement between BEGIN and ROLLBACK, all at once: one round trip, not three."""
        pgconn = self._connection.pgconn
        pgconn.enter_pipeline_mode()
        for text in (BEGIN, statement, ROLLBACK):
            # this protocol takes one statement only
            pgconn.send_query_params(text.encode(), None)
        pgconn.pipeline_sync()
        self._connection.wait(send(pgconn))

    def _begin(self) -> None:
        while (part := self._next()) is not None:
            if part.status == ExecStatus.FATAL_ERROR:
                raise error_from_result(part, encoding="utf-8")

    def _next(self) -> PGresult | None:
        part: PGresult | None = self._connection.wait(fetch(self._connection.pgconn))
        return part

    def _fetch(self, started: float, size: int) -> ExecutionResult:
        connection, pgconn = self._connection, self._connection.pgconn
        if size > 1 and psycopg.capabilities.has_stream_chunked():
            pgconn.set_chunked_rows_mode(size)
        else:
            pgconn.set_single_row_mode()
        kept = KeptRows(self._limits, None)
        transformer: Transformer = adapt.Transformer(connection)
        columns: tuple[str, ...] | None = None
        converted: list[int] = []
        while (part := self._next()) is not None:
            if part.status not in _WITH_ROWS:
                if part.status != ExecStatus.FATAL_ERROR:
                    continue
                raise error_from_result(part, encoding="utf-8")
            first = columns is None
            transformer.set_pgresult(part, set_loaders=first)
            if first:
                columns, converted = _columns(part)
            try:
                more = self._keep(kept, transformer, part.ntuples, converted)
            except (psycopg.DataError, ValueError, OverflowError, RecursionError) as error:
                self._stop()
                return failed("error", f"a value can't be read: {type(error).__name__}", started)
            if not more:
                self._stop()
                break
        if columns is None:
            return failed("error", "the statement gave no result", started)
        return ExecutionResult(
            kind="rows" if kept.count else "empty",
            columns=columns,
            rows=tuple(kept.rows),
            truncated=kept.full or kept.cells_cut,
            cells_cut=kept.cells_cut,
            seconds=time.perf_counter() - started,
        )

    def _keep(
        self, kept: KeptRows, transformer: Transformer, count: int, converted: list[int]
    ) -> bool:
        rows: list[tuple[Any, ...]] = transformer.load_rows(0, count, tuple)
        if converted:
            rows = [_with_cells(row, converted) for row in rows]
        more = kept.add_all(rows)
        # a fast server sends a whole row within one read, before anything could be counted
        taken = max(map(_size, rows), default=0) if kept.cells_cut or kept.full else 0
        if taken > self._connection.most_bytes:
            self._connection.close()
            raise TooMuchAtOnceError
        return more

    def _stop(self) -> None:
        """Drop the rest of a result, or cancel a long one: a cancel takes another connection."""
        until = time.perf_counter() + DROPPING_SECONDS
        while time.perf_counter() < until:
            if self._next() is None:
                return
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=max(0.1, self._limits.seconds))
        while self._next() is not None:
            pass

    def _failure(self, error: psycopg.Error, started: float) -> ExecutionResult:
        state = error.sqlstate
        if state == _CANCELLED:
            spent = time.perf_counter() - started
            if self._connection.cancelled or spent >= 0.9 * self._limits.seconds:
                return too_long(self._limits, started)
            raise error
        words = error.diag.message_primary or str(error)
        if state in _MEMORY_STATES:
            return out_of_memory(f"the query needs more memory than it may have: {words}", started)
        if state is None or state.startswith(_SERVER_FAULTS) or self._connection.closed:
            raise error
        if error.diag.message_hint:
            words = f"{words}. Hint: {error.diag.message_hint}"
        return failed("error", words, started)

    def _end(self) -> None:
        """Read the end of what was sent, and roll back where the server hasn't."""
        connection = self._connection
        if not connection.closed:
            connection.bound(time.perf_counter(), ANSWER_SECONDS)
            try:
                while (part := self._next()) is None or part.status != ExecStatus.PIPELINE_SYNC:
                    pass
                connection.pgconn.exit_pipeline_mode()
                if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                    connection.execute(ROLLBACK)
            except (psycopg.Error, OutOfTimeError):
                connection.close()
        connection.unbound()

    def _set_up(self) -> None:
        connection = self._connection
        if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
            connection.execute("SET client_encoding = SQL_ASCII")  # else some texts are errors
            register_lenient_loaders(connection)
        settings = session_settings(self._limits)
        row = connection.execute("SELECT current_schemas(true), current_setting('search_path')")
        schemas, path = row.fetchone() or ((), "")
        if "pg_catalog" in schemas and schemas[0] != "pg_catalog":
            # else functions of the user's could stand in for the server's
            settings["search_path"] = f"pg_catalog, {path}"
        calls = sql.SQL(", ").join([sql.SQL("set_config(%s, %s, false)")] * len(settings))
        values = [part for setting in settings.items() for part in setting]
        connection.execute(sql.SQL("SELECT {}").format(calls), values)
        kilobytes = min(math.ceil(self._limits.memory / 1024), 2_147_483_647)
        # where the role may not set it, the server's own limit stands; `health` tells it
        with suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute(_HOLD_FILES, {"kilobytes": kilobytes})


_HOLD_FILES: Final = """
SELECT set_config('temp_file_limit', %(kilobytes)s || 'kB', false)
FROM pg_catalog.pg_settings
WHERE name = 'temp_file_limit' AND setting::bigint NOT BETWEEN 0 AND %(kilobytes)s
"""
"""Lowers the limit; a lower one of the server's stays."""

_WITH_ROWS: Final = (ExecStatus.TUPLES_OK, ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK)


def session_settings(limits: Limits) -> dict[str, str]:
    """Return the settings of each session; every role may make these."""
    milliseconds = min(max(1, math.ceil(1000 * limits.seconds)), LONGEST_TIMEOUT)
    return {
        "default_transaction_read_only": "on",
        "statement_timeout": f"{milliseconds}ms",
        "lock_timeout": f"{max(1, min(milliseconds // 2, round(1000 * LOCK_SECONDS)))}ms",
        "idle_in_transaction_session_timeout": f"{2 * milliseconds + 1000}ms",
        "TimeZone": TIME_ZONE,
        "DateStyle": "ISO, YMD",
        "IntervalStyle": "postgres",
        "extra_float_digits": "1",
        "bytea_output": "hex",
        "standard_conforming_strings": "on",
    }


def _columns(part: PGresult) -> tuple[tuple[str, ...], list[int]]:
    """Return the names of a result's columns, and the places of those that must be converted."""
    names = tuple(
        (part.fname(place) or b"").decode("utf-8", "replace") for place in range(part.nfields)
    )
    return names, [place for place in range(part.nfields) if part.ftype(place) not in PLAIN_TYPES]


def _size(row: tuple[Cell, ...]) -> int:
    return sum(map(sys.getsizeof, row))


def _with_cells(row: tuple[Any, ...], converted: list[int]) -> tuple[Cell, ...]:
    cells: list[Cell] = list(row)
    for place in converted:
        cells[place] = cell_of(cells[place])
    return tuple(cells)
