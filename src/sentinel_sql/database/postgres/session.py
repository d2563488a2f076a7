"""One session of a PostgreSQL database: its settings, and one statement at a time."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg import adapt, sql
from psycopg.abc import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import fetch, send
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from sentinel_sql.database.cells import cell_of
from sentinel_sql.database.executor import Cell, ExecutionResult, Limits
from sentinel_sql.database.failures import failed, out_of_memory, too_long
from sentinel_sql.database.kept_rows import KeptRows
from sentinel_sql.database.postgres.connection import (
    BoundedConnection,
    OutOfTimeError,
    connect,
)
from sentinel_sql.database.postgres.values import PLAIN_TYPES, register_loaders

BEGIN: Final = "BEGIN TRANSACTION READ ONLY"
ROLLBACK: Final = "ROLLBACK"
ROLLBACK_SECONDS: Final = 1.0

CHUNK: Final = 100
"""Rows that libpq hands over at once."""

LOCK_SECONDS: Final = 5.0
"""Most seconds that a statement waits for a writer's lock."""

TIME_ZONE: Final = "UTC"

_MEMORY_STATES: Final = ("53200", "53400")
"""Out of memory; more temporary files than the limit."""
_SERVER_FAULTS: Final = ("08", "53", "57P", "58", "25P", "XX001", "XX002", "28")
"""Beginnings of the SQLSTATEs that no statement is to blame for: connection, resources, shutdown,
input and output, damaged data, a session that timed out, rights to connect."""
_CANCELLED: Final = "57014"


class StaleSessionError(Exception):
    """The session was lost before the statement began; another session may run it."""


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
            TooMuchAtOnceError: these rows together are more than a result may take.
        """
        connection = self._connection
        connection.bound(started, self._limits.seconds, most_bytes=self._limits.total)
        try:
            connection.execute(BEGIN)
        except (psycopg.Error, OutOfTimeError) as error:
            connection.close()
            raise StaleSessionError from error
        try:
            return self._fetch(statement, started, size)
        except OutOfTimeError:
            return too_long(self._limits, started)
        except psycopg.Error as error:
            return self._failure(error, started)
        finally:
            self._roll_back()

    def _fetch(self, statement: str, started: float, size: int) -> ExecutionResult:
        connection, pgconn = self._connection, self._connection.pgconn
        # the extended protocol takes one statement only
        pgconn.send_query_params(statement.encode(), None)
        if size > 1:
            pgconn.set_chunked_rows_mode(size)
        else:
            pgconn.set_single_row_mode()
        connection.wait(send(pgconn))
        kept = KeptRows(self._limits, None)
        transformer: Transformer = adapt.Transformer(connection)
        columns: tuple[str, ...] | None = None
        converted: list[int] = []
        while (part := connection.wait(fetch(pgconn))) is not None:
            if part.status not in _WITH_ROWS:
                if part.status != ExecStatus.FATAL_ERROR:
                    continue
                raise error_from_result(part, encoding="utf-8")
            first = columns is None
            transformer.set_pgresult(part, set_loaders=first)
            if first:
                columns, converted = _columns(part)
            if part.ntuples and not self._keep(kept, transformer, part.ntuples, converted):
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
        for row in rows:
            if converted:
                cells: list[Cell] = list(row)
                for place in converted:
                    cells[place] = cell_of(cells[place])
                row = tuple(cells)
            if not kept.add(row):
                return False
        return True

    def _stop(self) -> None:
        """Cancel the rest of a result, and drop what is on its way."""
        connection = self._connection
        with suppress(psycopg.Error):
            connection.cancel_safe(timeout=max(0.1, self._limits.seconds))
        while connection.wait(fetch(connection.pgconn)) is not None:
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

    def _roll_back(self) -> None:
        connection = self._connection
        if not connection.closed:
            connection.bound(time.perf_counter(), ROLLBACK_SECONDS)
            try:
                connection.execute(ROLLBACK)
            except (psycopg.Error, OutOfTimeError):
                connection.close()
        connection.unbound()

    def _set_up(self) -> None:
        connection = self._connection
        settings = session_settings(self._limits)
        row = connection.execute("SELECT current_schemas(true), current_setting('search_path')")
        schemas, path = row.fetchone() or ((), "")
        if "pg_catalog" in schemas and schemas[0] != "pg_catalog":
            # else functions of the user's could stand in for the server's
            settings["search_path"] = f"pg_catalog, {path}"
        calls = sql.SQL(", ").join([sql.SQL("set_config(%s, %s, false)")] * len(settings))
        values = [part for setting in settings.items() for part in setting]
        connection.execute(sql.SQL("SELECT {}").format(calls), values)
        files = f"{math.ceil(self._limits.memory / 1024)}kB"
        # where the role may not set it, the server's own limit stands; `health` tells it
        with suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT set_config('temp_file_limit', %s, false)", (files,))


_WITH_ROWS: Final = (ExecStatus.TUPLES_OK, ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK)


def session_settings(limits: Limits) -> dict[str, str]:
    """Return the settings of each session; every role may make these."""
    milliseconds = max(1, math.ceil(1000 * limits.seconds))
    return {
        "default_transaction_read_only": "on",
        "statement_timeout": f"{milliseconds}ms",
        "lock_timeout": f"{min(milliseconds, round(1000 * LOCK_SECONDS))}ms",
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
