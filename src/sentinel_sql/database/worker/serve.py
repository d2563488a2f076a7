"""The process that runs untrusted SQL: it reads statements, and writes their results (ours).

It runs nothing else and imports little, so that it starts in about 60 ms. The operating system
bounds its memory, the size of its files, and its wall time, by a timer that ends the process even
within the database's own code. It ends with its parent. docs/decisions/0014 says why.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Protocol, TextIO

from sentinel_sql.database.executor import Cell, ExecutionResult, Limits
from sentinel_sql.database.failures import FileFaultError
from sentinel_sql.database.kept_rows import PassOn
from sentinel_sql.database.worker.wire import HEAD, frame_of, message_of

GRACE = 1.1
"""Multiple of the deadline after which a query that can't be interrupted ends with its process."""

LONGEST_SECONDS = 1e8
"""Longest time that the system's timer can hold; a longer deadline has no effect."""

LARGEST_FILE = 4_000_000
"""Most bytes of a file that the process may write. SQLite only writes the index of a write-ahead
log, if it doesn't exist yet."""

_CONNECTIONS: Mapping[str, str] = {
    "duckdb": "sentinel_sql.database.duckdb.connection:WorkerConnection",
    "sqlite": "sentinel_sql.database.sqlite.connection:WorkerConnection",
}
"""Dialect → the connection that serves it; only this one is imported."""


class Served(Protocol):
    """The only connection of a worker process."""

    memory_held_by: str
    """What bounds its memory if the operating system doesn't."""

    def run(self, sql: str, started: float, pass_on: PassOn | None) -> ExecutionResult:
        """Run one statement; raises FileFaultError for a fault of the file or the machine."""
        ...


def main() -> None:
    """Serve the parent process until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    requests = sys.stdin.buffer
    replies, lifeline = os.fdopen(_own(sys.stdout), "wb"), _own(sys.stderr)
    _end_with_the_parent(lifeline)
    setup = _request(requests)
    if setup is None:
        return
    dialect, uri, clock, seconds, rows, cell, total, memory = setup
    limits = Limits(seconds=seconds, rows=rows, cell=cell, total=total, memory=memory)
    connect = _connection_of(dialect)
    held = _hold_memory(limits.memory)
    try:
        connection = connect(uri, clock, limits)
    except FileFaultError as fault:
        _reply(replies, ["fault", fault.code, str(fault)])
        return
    _reply(replies, ["ready", "the operating system" if held else connection.memory_held_by])
    hard = limits.seconds * GRACE
    while (request := _request(requests)) is not None:
        if hard < LONGEST_SECONDS:
            signal.setitimer(signal.ITIMER_REAL, hard)
        spent = _serve(connection, request[0], replies)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if spent:
            return


def _connection_of(dialect: str) -> Callable[[str, str, Limits], Served]:
    module, _, name = _CONNECTIONS[dialect].partition(":")
    connection: Callable[[str, str, Limits], Served] = getattr(
        importlib.import_module(module), name
    )
    return connection


def _serve(connection: Served, sql: str, replies: BinaryIO) -> bool:
    """Run one statement, and return whether the process should be replaced."""

    def pass_on(rows: list[tuple[Cell, ...]] | None) -> None:
        _reply(replies, ["again"] if rows is None else ["rows", rows])

    try:
        result = connection.run(sql, time.perf_counter(), pass_on)
    except FileFaultError as fault:
        _reply(replies, ["fault", fault.code, str(fault)])
        return False
    _reply(replies, ["end", *_fields(result)])
    return result.out_of_memory


def _fields(result: ExecutionResult) -> list[Any]:
    return [
        result.kind,
        result.columns,
        result.rows,
        result.truncated,
        result.cells_cut,
        result.error,
        result.timed_out,
        result.out_of_memory,
    ]


def _request(requests: BinaryIO) -> list[Any] | None:
    head = requests.read(HEAD.size)
    if len(head) < HEAD.size:
        return None  # the parent is done
    (length,) = HEAD.unpack(head)
    body = requests.read(length)
    return message_of(body) if len(body) == length else None


def _reply(replies: BinaryIO, message: list[Any]) -> None:
    replies.write(frame_of(message))
    replies.flush()


def _own(stream: TextIO) -> int:
    """Return a descriptor of a stream's pipe, and let what a library prints to it be lost."""
    descriptor = os.dup(stream.fileno())
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
    return descriptor


def _end_with_the_parent(lifeline: int) -> None:
    """Make the kernel end this process when the parent closes the other end of a pipe.

    The pipe has no other use. If the kernel can't do that, the timer ends a running query, and an
    idle process reads the end of its requests.
    """
    with suppress(OSError, AttributeError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)


def _hold_memory(memory: int) -> bool:
    """Limit this process's memory and files, and return whether the limit on memory holds."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    if sys.platform == "linux":
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        try:
            bytes(memory)  # zeros that aren't used take no memory
        except MemoryError:
            return True
    return False
