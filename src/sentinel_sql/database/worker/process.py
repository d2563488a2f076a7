"""Controls a worker process: starts it, sends it statements, and ends it when it hangs."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from sentinel_sql.database.executor import Cell, ExecutionResult, Limits
from sentinel_sql.database.failures import out_of_memory, too_long
from sentinel_sql.database.sqlite.connection import FileFaultError
from sentinel_sql.database.worker.serve import LONGEST_SECONDS
from sentinel_sql.database.worker.wire import HEAD, frame_of, message_of
from sentinel_sql.errors import DatabaseError

START_SECONDS = (1.0, 5.0, 30.0)
"""Most seconds for the start of a worker, and of those that replace it (our choice). A start takes
60 ms, more on a busy machine; a worker that was stopped or killed is replaced soon."""

HANDOVER_SECONDS, HANDOVER_SHARE = 0.25, 0.2
"""Seconds, and at most this share of the deadline, within which a worker should have read a
statement (our choice; it takes less than a millisecond). A worker that hasn't, or that somebody
kills within this time, is replaced, and the statement runs once more."""

_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that neither a query nor a worker's own limits send."""

LONGER_GRACE = 1.2
"""Multiple of the deadline after which a query is ended from outside, if its timer failed."""

_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from sentinel_sql.database.worker.serve import main; main()"
)
_ROOT = str(Path(__file__).resolve().parents[3])
_CHUNK = 1 << 18
_COUNT = struct.Struct("i")
"""The number that the system returns for the bytes in a pipe."""
_Process: TypeAlias = "subprocess.Popen[bytes]"


class WorkerProcess:
    """One worker for one database file; used by one thread at a time.

    It starts at once, and the first query waits until it is ready. A process that is stopped or
    killed before it has read a query is replaced, and the query runs in the next one.
    """

    def __init__(self, uri: str, *, clock: str, limits: Limits) -> None:
        self._limits = limits
        self.memory_held_by = ""
        bounds = [limits.seconds, limits.rows, limits.cell, limits.total, limits.memory]
        self._setup = [uri, clock, *bounds]
        self._seconds = limits.seconds * LONGER_GRACE
        self._handover_seconds = min(HANDOVER_SECONDS, HANDOVER_SHARE * limits.seconds)
        self._start()

    def _start(self) -> None:
        self._ready = False
        self.closed = False
        self._received = b""
        self._process = _start_process()
        self._finalizer = weakref.finalize(self, _end, self._process, os.getpid())
        self._requests, self._replies = _pipe_ends(self._process)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(self._replies, select.POLLIN)
        self._writable.register(self._requests, select.POLLOUT)
        with suppress(_GoneError, _TooLateError):  # the first query reports it
            self._send(self._setup, time.monotonic() + START_SECONDS[0])

    @property
    def usable(self) -> bool:
        """Whether it waits for a statement: an idle worker has nothing to say unless it ended."""
        if self.closed or self._process.poll() is not None:
            return False
        return not self._ready or not self._readable.poll(0)

    def close(self) -> None:
        """End the process."""
        self.closed = True
        self._finalizer()

    def _leave(self) -> None:
        """End the process without waiting until its memory is freed."""
        self.closed = True
        self._finalizer.detach()
        self._process.kill()
        threading.Thread(target=_end, args=(self._process, os.getpid()), daemon=True).start()

    def make_ready(self) -> None:
        """Wait until the process can take a statement.

        Raises:
            FileFaultError: the process can't use the database.
            DatabaseError: the process doesn't start.
        """
        if self._ready:
            return
        kind, *fields = self._first_reply()
        if kind == "fault":
            self.close()
            raise FileFaultError(*fields)
        self.memory_held_by = fields[0]
        self._ready = True

    def _first_reply(self) -> list[Any]:
        """Return what the process says when it has started; one that doesn't is replaced."""
        for seconds in START_SECONDS:
            if self.closed:
                self._start()
            try:
                return self._receive(time.monotonic() + seconds)
            except (_GoneError, _TooLateError, ValueError):
                self.close()
        raise DatabaseError(
            f"the process that runs SQL doesn't start ({sys.executable or 'no Python'}): check "
            "memory and the limits on processes, or open the database with in_process=True"
        )

    def run(self, sql: str, started: float) -> ExecutionResult:
        """Run `sql`; if the process ends, the result says so.

        Raises:
            FileFaultError: a fault of the file or the machine.
            DatabaseError: the process doesn't start.
        """
        for last in (False, True):
            self.make_ready()
            given = time.monotonic()
            until = given + self._seconds if self._seconds < LONGEST_SECONDS else None
            try:
                if last:
                    self._send([sql], until)
                else:
                    self._hand_over(sql, given + self._handover_seconds)
                return self._answer(started, until)
            except _TooLateError:
                self._leave()
                return too_long(self._limits, started)
            except (_GoneError, ValueError):
                unread = self._is_unread()
                self.close()
                if last or not (unread or self._was_killed_since(given)):
                    return self._result_after_end(started)
            except BaseException:
                # such as an interrupt by the user: the next reply would be this one's
                self.close()
                raise
            self._start()
        raise AssertionError("the last worker gives a result")

    def _hand_over(self, sql: str, until: float) -> None:
        """Send a statement, and see that the process reads it."""
        try:
            self._send([sql], until)
            _wait(self._readable, until)
        except _TooLateError:
            if self._is_unread():
                raise _GoneError from None

    def _is_unread(self) -> bool:
        """Return whether a part of the requests still waits in the pipe; False if unknown."""
        try:
            (count,) = _COUNT.unpack(fcntl.ioctl(self._requests, termios.FIONREAD, bytes(4)))
        except OSError:
            return False
        return bool(count)

    def _was_killed_since(self, given: float) -> bool:
        """Return whether somebody ended the process right after it got its statement."""
        return (
            -self._process.returncode in _FROM_OUTSIDE
            and time.monotonic() - given < self._handover_seconds
        )

    def _answer(self, started: float, until: float | None) -> ExecutionResult:
        rows: list[tuple[Cell, ...]] = []
        while True:
            kind, *fields = self._receive(until)
            if kind == "rows":
                rows += map(tuple, fields[0])
            elif kind == "again":
                rows.clear()
            elif kind == "fault":
                raise FileFaultError(*fields)
            else:
                break
        result_kind, columns, last, truncated, cells_cut, error, timed_out, spent = fields
        if spent:
            self.close()
        if error is None:
            rows += map(tuple, last)
        else:
            rows.clear()
        return ExecutionResult(
            kind=result_kind,
            columns=tuple(columns),
            rows=tuple(rows),
            truncated=truncated,
            cells_cut=cells_cut,
            error=error,
            seconds=time.perf_counter() - started,
            timed_out=timed_out,
            out_of_memory=spent,
        )

    def _result_after_end(self, started: float) -> ExecutionResult:
        """Return a result that says why the process ended during a query."""
        code = self._process.returncode
        if code == -signal.SIGALRM or time.perf_counter() - started > self._limits.seconds:
            return too_long(self._limits, started)
        if -code in _FROM_OUTSIDE:
            return out_of_memory("the query's process was ended from outside", started)
        megabytes = self._limits.memory / 1e6
        return out_of_memory(
            f"the query ended its process; it may need more than {megabytes:,.0f} MB of memory",
            started,
        )

    def _send(self, message: list[Any], until: float | None) -> None:
        left = memoryview(frame_of(message))
        while left:
            try:
                left = left[os.write(self._requests, left) :]
            except BlockingIOError:  # the worker is stopped, or reads slowly
                _wait(self._writable, until)
            except OSError as error:
                raise _GoneError from error

    def _receive(self, until: float | None) -> list[Any]:
        parts, size = [self._received], len(self._received)
        end = HEAD.size
        while size < end or end == HEAD.size:
            if size >= end:
                parts = [b"".join(parts)]
                end += HEAD.unpack_from(parts[0])[0]
                continue
            _wait(self._readable, until)
            chunk = os.read(self._replies, _CHUNK)
            if not chunk:
                raise _GoneError
            parts.append(chunk)
            size += len(chunk)
        received = b"".join(parts)
        self._received = received[end:]
        return message_of(received[HEAD.size : end])


class _GoneError(Exception):
    """The process ended."""


class _TooLateError(Exception):
    """The process takes too long."""


def _start_process() -> _Process:
    try:
        # Isolated and without site packages: it imports only the standard library and this package
        return subprocess.Popen(  # noqa: S603 (this Python, and this package)
            [sys.executable, "-I", "-S", "-B", "-c", _CODE, _ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # the parent handles Ctrl-C
        )
    except OSError as error:
        raise DatabaseError(
            f"the process that runs SQL can't be started ({error.strerror}): check memory and the "
            "limits on processes, or open the database with in_process=True"
        ) from error


def _pipe_ends(process: _Process) -> tuple[int, int]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the worker was started without pipes")
    ends = process.stdin.fileno(), process.stdout.fileno()
    for end in ends:
        os.set_blocking(end, False)
    return ends


def _wait(poll: select.poll, until: float | None) -> None:
    left = None if until is None else (until - time.monotonic()) * 1e3
    if (left is not None and left <= 0) or not poll.poll(left):
        raise _TooLateError


def _end(process: _Process, owner: int) -> None:
    """End a worker and close its pipes; only the process that started it may end it."""
    if owner == os.getpid():
        process.kill()  # it has no state to save
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
