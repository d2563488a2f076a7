"""One connection to PostgreSQL that runs one statement at a time, read-only and within limits.

psycopg drives its connection by generators that say what they wait for. Here they are waited for
with a deadline: at first the server is asked to cancel, and if that doesn't help, the connection is
closed. So no second thread is needed, and a late cancel can't hit the next statement.
"""

from __future__ import annotations

import fcntl
import math
import select
import struct
import termios
import time
from contextlib import suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

Result = TypeVar("Result")

CANCEL_AT: Final = 1.1
"""Share of the deadline at which the client cancels; the server's own timeout comes before it."""

CLOSE_AT: Final = 1.35
"""Share of the deadline at which the client closes a connection that doesn't answer a cancel."""

_POLLED: Final = {
    Wait.R: select.POLLIN,
    Wait.W: select.POLLOUT,
    Wait.RW: select.POLLIN | select.POLLOUT,
}
_INTEGER: Final = struct.Struct("i")


class OutOfTimeError(Exception):
    """The server doesn't end a statement that was cancelled; its connection is closed."""


class TooMuchAtOnceError(Exception):
    """One portion of a result takes more bytes than a whole result may."""


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose statements end at a deadline, and whose portions of rows are bounded."""

    seconds: float = math.inf
    """Time of one statement."""
    started: float = math.inf
    """Start of the statement, by `time.perf_counter`; infinite where nothing is bounded."""
    most_bytes: float = math.inf
    cancelled: bool = False

    def bound(self, started: float, seconds: float, *, most_bytes: float = math.inf) -> None:
        """Bound all that is waited for from now on."""
        self.started, self.seconds, self.most_bytes = started, seconds, most_bytes
        self.cancelled = False

    def unbound(self) -> None:
        """Bound nothing any more."""
        self.started = math.inf

    def wait(
        self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None
    ) -> Result:
        """Wait for a generator of psycopg's, and cancel what runs too long.

        Raises:
            OutOfTimeError: the cancel had no effect.
            TooMuchAtOnceError: more than `most_bytes` arrived, and no portion is complete.
        """
        if self.started == math.inf:
            return super().wait(gen, interval, timeout)
        try:
            return self._bounded(gen)
        except (OutOfTimeError, TooMuchAtOnceError, KeyboardInterrupt):
            self.close()
            raise

    def _bounded(self, gen: PQGen[Result]) -> Result:
        socket = self.pgconn.socket
        poller = select.poll()
        received = 0
        try:
            waits = next(gen)
            while True:
                pause = self._pause()
                if pause <= 0:
                    self._end()
                    continue
                poller.register(socket, _POLLED[waits])
                event = sum(mask for _, mask in poller.poll(1000 * pause))
                if event & ~select.POLLOUT:
                    received += _waiting_bytes(socket)
                    if received > self.most_bytes:
                        raise TooMuchAtOnceError
                readable = Ready.R if event & ~select.POLLOUT else Ready.NONE
                writable = Ready.W if event & select.POLLOUT else Ready.NONE
                waits = gen.send(Ready(readable | writable))
        except StopIteration as end:
            result: Result = end.value
            return result

    def _pause(self) -> float:
        share = CLOSE_AT if self.cancelled else CANCEL_AT
        return self.started + share * self.seconds - time.perf_counter()

    def _end(self) -> None:
        if self.cancelled:
            raise OutOfTimeError
        self.cancelled = True
        left = self.started + CLOSE_AT * self.seconds - time.perf_counter()
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=max(0.05, left))


def connect(conninfo: str) -> BoundedConnection:
    """Connect, without any bound or setting yet.

    Raises:
        psycopg.Error: there is no connection.
    """
    return BoundedConnection.connect(conninfo, autocommit=True)


def _waiting_bytes(socket: int) -> int:
    (count,) = _INTEGER.unpack(fcntl.ioctl(socket, termios.FIONREAD, _INTEGER.pack(0)))
    return int(count)
