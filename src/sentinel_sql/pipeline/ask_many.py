"""Asks an endpoint about many items in parallel, counts failures, and can be interrupted.

Worker threads ask. Only the caller's thread keeps results and counts, so that progress, failures
and an interruption are handled in one place.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from sentinel_sql.errors import DatabaseError, EndpointError

Item = TypeVar("Item")
Made = TypeVar("Made")

FAILURES_IN_A_ROW = 10
"""Failures in a row after which the endpoint counts as down (our choice)."""

GRACE = 5.0
"""Seconds that an early end waits for running calls (our choice)."""

_STOP_CHECK = 0.2
"""Seconds after which a waiting thread checks whether it must stop (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """The progress so far.

    Attributes:
        done: number of results kept.
        failures: reason → number of items that failed.
        seconds: time since the start.
        interrupted: True if the user ended it early.
    """

    done: int
    failures: Mapping[str, int]
    seconds: float
    interrupted: bool = False

    @property
    def failed(self) -> int:
        """Number of items that failed."""
        return sum(self.failures.values())


def ask_many(
    items: Sequence[Item],
    ask: Callable[[Item, threading.Event], Iterator[Made]],
    keep: Callable[[Made], Future[None] | None],
    *,
    workers: int,
    what: str,
    place: Path,
    on_progress: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Ask about every item, and keep each result as it arrives.

    Items are started in order. A thread continues once its last result is processed. Ctrl-C and
    SIGTERM end the work early; results that have arrived by then are kept.

    Args:
        items: the items to ask about.
        ask: yields the results of one item; called in worker threads with (item, event). It may
            return once the event is set.
        keep: called with (result) in the caller's thread. If it returns a future, the result counts
            as done when the future is; otherwise at once.
        workers: items at the same time, ≥ 1.
        what: name of the results for errors, such as `runs`.
        place: where results are kept, for errors.
        on_progress: called with (tally) in the caller's thread after each result and failure.

    Raises:
        EndpointError: the endpoint is unusable: its first answer says so, or calls keep failing.
            Results so far are kept.
        DatabaseError: the database can't be used any more. Results so far are kept.
        BaseException: any other error of `ask`, `keep` or the future.
    """
    threads = _Threads(items, ask, count=max(1, workers))
    reader = _Reader(threads.inbox, threads=len(threads.all), keep=keep, on_progress=on_progress)
    interrupted = False
    try:
        with _sigterm_as_interrupt():
            threads.start()
            reader.read()
    except KeyboardInterrupt:
        interrupted = True
        threads.stop()
        reader.read_rest()
    except (EndpointError, DatabaseError) as end:
        threads.stop()
        reader.read_rest()
        message = (
            f"{end}. {reader.done} new {what} are kept in {place}; the same command resumes there"
        )
        if isinstance(end, DatabaseError):
            raise DatabaseError(message) from end
        raise EndpointError(message, for_every_call=end.for_every_call) from end
    finally:
        threads.stop()
    return reader.tally(interrupted=interrupted)


@dataclass
class _Result(Generic[Made]):
    """A result for the reader."""

    value: Made
    processed: threading.Event = field(default_factory=threading.Event)


@dataclass
class _Fault:
    """An error that ended the work on an item."""

    error: BaseException
    processed: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class _StoreReport:
    """Reports that a result's future is done."""

    error: BaseException | None


class _ThreadEnd:
    """Reports that a thread is done."""


_Inbox: TypeAlias = queue.SimpleQueue[_Result[Made] | _Fault | _StoreReport | _ThreadEnd]


class _Threads(Generic[Item, Made]):
    """The worker threads. They are daemons, so a hanging call can't keep the process alive."""

    def __init__(
        self,
        items: Sequence[Item],
        ask: Callable[[Item, threading.Event], Iterator[Made]],
        *,
        count: int,
    ) -> None:
        self.inbox: _Inbox[Made] = queue.SimpleQueue()
        self._ask = ask
        self._stop = threading.Event()
        self._waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
        for item in items:
            self._waiting.put(item)
        self.all = [
            threading.Thread(target=self._work, name=f"sentinel-ask-{number}", daemon=True)
            for number in range(min(count, len(items)))
        ]

    def start(self) -> None:
        for thread in self.all:
            thread.start()

    def stop(self) -> None:
        """Stop starting items. The first call also waits up to `GRACE` for running threads."""
        seconds = 0.0 if self._stop.is_set() else GRACE
        self._stop.set()
        until = time.monotonic() + seconds
        for thread in self.all:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    item = self._waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    for value in self._ask(item, self._stop):
                        self._hand_over(_Result(value))
                        if self._stop.is_set():
                            return
                except BaseException as error:  # without this report the reader would wait for ever
                    self._hand_over(_Fault(error))
        finally:
            self.inbox.put(_ThreadEnd())

    def _hand_over(self, it: _Result[Made] | _Fault) -> None:
        self.inbox.put(it)
        while not (it.processed.wait(_STOP_CHECK) or self._stop.is_set()):
            pass


class _Reader(Generic[Made]):
    """Keeps and counts the threads' results, in the caller's thread."""

    def __init__(
        self,
        inbox: _Inbox[Made],
        *,
        threads: int,
        keep: Callable[[Made], Future[None] | None],
        on_progress: Callable[[Tally], None],
    ) -> None:
        self.done = 0
        self._inbox = inbox
        self._threads = threads
        self._keep = keep
        self._on_progress = on_progress
        self._failures: Counter[str] = Counter()
        self._in_a_row = 0
        self._answered = False
        self._storing = 0
        self._started = time.monotonic()

    def tally(self, *, interrupted: bool = False) -> Tally:
        return Tally(
            done=self.done,
            failures=dict(self._failures),
            seconds=time.monotonic() - self._started,
            interrupted=interrupted,
        )

    def read(self) -> None:
        """Process everything until all threads are done and all results are kept."""
        left = self._threads
        while left or self._storing:
            it = self._inbox.get()
            if isinstance(it, _ThreadEnd):
                left -= 1
            elif isinstance(it, _Fault):
                self._count_fault(it.error)
                self._on_progress(self.tally())
                it.processed.set()
            elif self._settle(it):
                self._on_progress(self.tally())
            if isinstance(it, _Result):
                it.processed.set()

    def read_rest(self) -> None:
        """Keep the results that have arrived, and wait up to `GRACE` for unfinished futures."""
        until = time.monotonic() + GRACE
        while True:
            try:
                wait = until - time.monotonic() if self._storing else 0.0
                it = self._inbox.get(timeout=max(0.0, wait))
            except queue.Empty:
                return
            if isinstance(it, _Result | _StoreReport):
                self._settle(it)

    def _settle(self, it: _Result[Made] | _StoreReport) -> bool:
        """Keep a result, or note that its future is done; return whether a result is now done."""
        if isinstance(it, _StoreReport):
            self._storing -= 1
            if it.error is not None:
                raise it.error
            self.done += 1
            return True
        self._in_a_row = 0
        self._answered = True
        stored = self._keep(it.value)
        if stored is None:
            self.done += 1
            return True
        self._storing += 1
        stored.add_done_callback(lambda future: self._inbox.put(_StoreReport(future.exception())))
        return False

    def _count_fault(self, error: BaseException) -> None:
        if not isinstance(error, EndpointError):
            raise error
        self._failures[str(error)] += 1
        self._in_a_row += 1
        never_there = error.for_every_call and not self._answered
        if never_there or self._in_a_row >= FAILURES_IN_A_ROW:
            raise error


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Make SIGTERM act like Ctrl-C. Does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
