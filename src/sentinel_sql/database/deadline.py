"""Stop statements that run past their deadline: by a watching thread, or by SQLite's own steps.

SQLite's progress handler counts steps of its machine, and one step may be a search through
megabytes, so it may miss a deadline by seconds. A worker process uses it all the same: a timer
ends that process anyway, and one without a second thread runs SQLite a tenth faster, because
memory is then had without locks. Elsewhere another thread's interrupt comes on time. Ours.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

AGAIN_SECONDS = 0.02
"""Pause between two interrupts of one statement: SQLite forgets one that comes while it is
still preparing the statement."""

STEPS = 20_000
"""Steps of SQLite's machine between two looks at the time: about a millisecond."""


class Deadline(Protocol):
    """A way to interrupt a statement."""

    def watching(
        self, connection: sqlite3.Connection, deadline: float
    ) -> AbstractContextManager[None]:
        """Interrupt `connection` while it is in this block after `deadline` (`perf_counter`)."""
        ...


class StepDeadline:
    """Interrupts the one connection of a process without a second thread."""

    def __init__(self) -> None:
        self._deadline = math.inf
        self._connection: sqlite3.Connection | None = None

    def watching(
        self, connection: sqlite3.Connection, deadline: float
    ) -> AbstractContextManager[None]:
        """Interrupt `connection` while it is in this block after `deadline` (`perf_counter`)."""
        self._deadline = deadline
        if connection is not self._connection:
            connection.set_progress_handler(self._passed, STEPS)
            self._connection = connection
        return nullcontext()

    def _passed(self) -> bool:
        return time.perf_counter() > self._deadline


class Deadlines:
    """Interrupts connections whose statements run too long; `close` ends its thread."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._watched: dict[sqlite3.Connection, float] = {}
        self._thread: threading.Thread | None = None
        self._wakes_at = math.inf
        self._closed = False

    @contextmanager
    def watching(self, connection: sqlite3.Connection, deadline: float) -> Iterator[None]:
        """Interrupt `connection` while it is in this block after `deadline` (`perf_counter`)."""
        with self._change:
            self._watched[connection] = deadline
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._watch, name="sentinel-deadlines", daemon=True
                )
                self._thread.start()
            elif deadline < self._wakes_at:
                # most queries end before the thread wakes for an earlier one, and cost nothing
                self._change.notify()
        try:
            yield
        finally:
            # under the lock, so that no interrupt meant for this block strikes the next one
            with self._change:
                del self._watched[connection]
                if self._closed:
                    self._change.notify()

    def close(self) -> None:
        """End the thread, once the last statement that it watches has ended."""
        with self._change:
            self._closed = True
            self._change.notify()
            ends_now = not self._watched
        if self._thread is not None and ends_now:
            self._thread.join()

    def _watch(self) -> None:
        with self._change:
            while self._watched or not self._closed:
                now = time.perf_counter()
                for connection, deadline in self._watched.items():
                    if deadline <= now:
                        connection.interrupt()
                next_deadline = min(self._watched.values(), default=math.inf)
                self._wakes_at = max(next_deadline, now + AGAIN_SECONDS)
                pause = self._wakes_at - now
                self._change.wait(pause if pause < threading.TIMEOUT_MAX else None)
