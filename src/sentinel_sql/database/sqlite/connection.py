"""One connection to a SQLite file that runs agents' SQL within its limits."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress

from sentinel_sql.database.deadline import Deadline
from sentinel_sql.database.executor import ExecutionResult, Limits
from sentinel_sql.database.failures import failed, out_of_memory, too_long
from sentinel_sql.database.kept_rows import KeptRows, PassOn
from sentinel_sql.database.sqlite.clock_calls import CLOCK_FUNCTION, to_clock, with_clock
from sentinel_sql.database.sqlite.quoted_names import QuotedNames
from sentinel_sql.database.sqlite.safety import (
    LONGEST_SQL,
    READ_PRAGMAS,
    Gatekeeper,
    forbidden,
    only_statement,
    set_sqlite_limits,
)

BUSY_SECONDS = 2.0
"""Seconds to wait for a writer before the database counts as locked."""

WIDE_ROW = 20
"""Number of columns above which texts are cut one by one as they are read. Python's own decoding is
many times faster, but holds all whole cells of a row at once."""

HEAP_SHARE = 0.9
"""Share of a process's memory for SQLite; Python needs the rest to report a failure."""

MAPPED = 1 << 30
"""Bytes of the file that a worker maps instead of copying; they belong to the system's cache, not
to the process. If the file is cut meanwhile, the worker ends, but not its parent."""

_EPONYMOUS = ("json_each", "json_tree", *(f"pragma_{name}" for name in sorted(READ_PRAGMAS)))

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
"""SQLite's primary result code → a fault of the file or the machine, never of the query."""


class FileFaultError(Exception):
    """A fault of the file or the machine, with SQLite's primary result code and message."""

    def __init__(self, code: int | None, words: str) -> None:
        super().__init__(words)
        self.code = code


class Connection:
    """One connection, ready to run agents' SQL; used by one thread at a time.

    Args:
        uri: URI of the file.
        clock: the database's own current time.
        limits: bounds of each execution. Memory is bounded only if `alone`.
        deadline: interrupts statements that run too long.
        alone: True if no other SQLite runs in this process. SQLite's heap limit is then set, and
            sorting and temporary tables stay in memory.
    """

    usable = True
    closed = False

    def __init__(
        self,
        uri: str,
        *,
        clock: str,
        limits: Limits,
        deadline: Deadline,
        alone: bool = False,
    ) -> None:
        self._limits = limits
        self._deadline = deadline
        self._clock = clock
        self._gatekeeper = Gatekeeper()
        self._sqlite = connect(uri, wait=min(BUSY_SECONDS, limits.seconds / 2))
        try:
            self._set_up(alone)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it."""
        self.closed = True
        self._sqlite.close()

    def run(self, sql: str, started: float, pass_on: PassOn | None = None) -> ExecutionResult:
        """Run `sql`. A text that isn't UTF-8 is no error.

        Args:
            sql: one statement.
            started: start of its time, by `time.perf_counter`.
            pass_on: gets all rows but the last portion; without it the result holds all rows.

        Raises:
            sqlite3.DatabaseError: a fault of the file or the machine (a key of `REMEDIES`).
        """
        if len(sql) > LONGEST_SQL:
            return failed("refused", f"longer than {LONGEST_SQL} characters", started)
        statement = only_statement(sql)
        if statement is None:
            return failed("refused", "not allowed: only one statement may run at a time", started)
        reason = forbidden(statement)
        if reason is not None:
            return failed("refused", reason, started)
        names = QuotedNames(with_clock(statement, self._clock))
        self._gatekeeper.refusal = None
        try:
            with self._deadline.watching(self._sqlite, started + self._limits.seconds):
                try:
                    return self._fetch(names, started, pass_on)
                except sqlite3.OperationalError as error:
                    if "Could not decode to UTF-8" not in str(error):
                        raise
                    if pass_on is not None:
                        pass_on(None)
                    return self._fetch(names, started, pass_on, decode=self._decode)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as error:
            return self._failure(error, names, started)

    def _fetch(
        self,
        names: QuotedNames,
        started: float,
        pass_on: PassOn | None,
        decode: Callable[[bytes], str] = str,
    ) -> ExecutionResult:
        self._sqlite.text_factory = decode
        with closing(self._sqlite.cursor()) as cursor:
            cursor.execute(names.sql)
            if cursor.description is None:
                return failed("error", "no SQL statement was given", started)
            columns = tuple(names.as_written(column[0]) for column in cursor.description)
            if len(columns) > WIDE_ROW:
                self._sqlite.text_factory = self._decode
            kept = KeptRows(self._limits, pass_on)
            # hold only one row at a time: a row may be as large as SQLite's limits allow
            while kept.add(cursor.fetchone()):
                pass
        return ExecutionResult(
            kind="rows" if kept.count else "empty",
            columns=columns,
            rows=tuple(kept.rows),
            truncated=kept.full or kept.cells_cut,
            cells_cut=kept.cells_cut,
            seconds=time.perf_counter() - started,
        )

    def _failure(self, error: BaseException, names: QuotedNames, started: float) -> ExecutionResult:
        if self._gatekeeper.refusal:
            return failed("refused", self._gatekeeper.refusal, started)
        code = primary_code(error)
        if code in REMEDIES:
            raise error
        if code == sqlite3.SQLITE_INTERRUPT:
            return too_long(self._limits, started)
        if isinstance(error, MemoryError) or code == sqlite3.SQLITE_NOMEM:
            megabytes = f"{self._limits.memory / 1e6:,.0f} MB"
            return out_of_memory(f"the query needs more memory than its {megabytes}", started)
        return failed("error", names.explain(str(error)) or type(error).__name__, started)

    def _set_up(self, alone: bool) -> None:
        connection = self._sqlite
        if alone:
            connection.execute(f"PRAGMA hard_heap_limit = {int(HEAP_SHARE * self._limits.memory)}")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA mmap_size = {MAPPED}")
        for view in _views_with_clock(connection, self._clock):
            connection.execute(view)
        connection.execute("PRAGMA query_only = ON")
        for table in (*_EPONYMOUS, *_virtual_tables(connection)):
            # SQLite declares these at their first use, which the authorizer would deny later
            with suppress(sqlite3.OperationalError):
                connection.execute(f"SELECT 1 FROM {table} LIMIT 0").close()  # noqa: S608
        clock = self._clock
        connection.create_function(
            CLOCK_FUNCTION, 1, lambda value: to_clock(value, clock), deterministic=True
        )
        set_sqlite_limits(connection)
        self._gatekeeper.allow(
            str(name)
            for (name,) in connection.execute(
                "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view')"
            )
        )
        connection.set_authorizer(self._gatekeeper)

    def _decode(self, text: bytes) -> str:
        # Drops bytes that aren't UTF-8, like EHRSQL-2024's scorer. A character has at most 4 bytes,
        # so at least one character too many is left, and `KeptRows` sees the cut.
        return text[: 4 * (self._limits.cell + 1)].decode(errors="ignore")


def connect(uri: str, wait: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open a plain connection for any thread, which waits `wait` seconds for writers."""
    return sqlite3.connect(
        uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False
    )


def primary_code(error: BaseException) -> int | None:
    """Return SQLite's primary result code of an error, or None if it has none."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _views_with_clock(connection: sqlite3.Connection, clock: str) -> list[str]:
    """Return temporary views that replace the file's views, if one of those asks for the time.

    All views are then replaced, because a view of the file never uses a temporary view.
    """
    rows = connection.execute("SELECT sql FROM main.sqlite_master WHERE type = 'view'")
    views = [str(sql) for (sql,) in rows]
    with_time = [with_clock(sql, clock) for sql in views]
    if with_time == views:
        return []
    create = len("CREATE")  # SQLite itself wrote this word into its list of views
    return [f"{sql[:create]} TEMP{sql[create:]}" for sql in with_time]


def _virtual_tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0"
    )
    return ['"{}"'.format(name.replace('"', '""')) for (name,) in rows]
