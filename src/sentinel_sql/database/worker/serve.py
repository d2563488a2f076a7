"""The process that runs untrusted SQL: it reads statements, and writes their results (ours).

It runs nothing else and imports little, so that it starts in about 60 ms. The operating system
bounds its memory, the size of its files, and its wall time, by a timer that ends the process even
within SQLite's own code. It ends with its parent. docs/decisions/0014 says why.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sqlite3
import sys
import time
from contextlib import suppress
from typing import Any, BinaryIO

from sentinel_sql.database.deadline import StepDeadline
from sentinel_sql.database.executor import Cell, ExecutionResult, Limits
from sentinel_sql.database.sqlite.connection import Connection, primary_code
from sentinel_sql.database.worker.wire import HEAD, frame_of, message_of

GRACE = 1.1
"""Multiple of the deadline after which a query that can't be interrupted ends with its process."""

LONGEST_SECONDS = 1e8
"""Longest time that the system's timer can hold; a longer deadline has no effect."""

LARGEST_FILE = 4_000_000
"""Most bytes of a file that the process may write. SQLite only writes the index of a write-ahead
log, if it doesn't exist yet."""


def main() -> None:
    """Serve the parent process until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    _end_with_the_parent(sys.stderr.fileno())
    setup = _request(requests)
    if setup is None:
        return
    uri, clock, seconds, rows, cell, total, memory = setup
    limits = Limits(seconds=seconds, rows=rows, cell=cell, total=total, memory=memory)
    held_by = _hold_memory(limits.memory)
    try:
        connection = Connection(
            uri, clock=clock, limits=limits, deadline=StepDeadline(), alone=True
        )
    except sqlite3.DatabaseError as error:
        _reply(replies, ["fault", primary_code(error), str(error)])
        return
    _reply(replies, ["ready", held_by])
    hard = limits.seconds * GRACE
    while (request := _request(requests)) is not None:
        if hard < LONGEST_SECONDS:
            signal.setitimer(signal.ITIMER_REAL, hard)
        spent = _serve(connection, request[0], replies)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if spent:
            return


def _serve(connection: Connection, sql: str, replies: BinaryIO) -> bool:
    """Run one statement, and return whether the process should be replaced."""

    def pass_on(rows: list[tuple[Cell, ...]] | None) -> None:
        _reply(replies, ["again"] if rows is None else ["rows", rows])

    try:
        result = connection.run(sql, time.perf_counter(), pass_on)
    except sqlite3.DatabaseError as error:
        _reply(replies, ["fault", primary_code(error), str(error)])
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


def _end_with_the_parent(lifeline: int) -> None:
    """Make the kernel end this process when the parent closes the other end of a pipe.

    The pipe has no other use. If the kernel can't do that, the timer ends a running query, and an
    idle process reads the end of its requests.
    """
    with suppress(OSError, AttributeError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)


def _hold_memory(memory: int) -> str:
    """Limit this process's memory and files, and return what enforces the limit on memory."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    if sys.platform == "linux":
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        try:
            bytes(memory)  # zeros that aren't used take no memory
        except MemoryError:
            return "the operating system"
    return "SQLite's heap limit"
