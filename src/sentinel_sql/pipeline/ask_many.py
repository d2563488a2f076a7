"""Asks an endpoint about many items at once: counts failures, gives up in time, can be interrupted.

Threads ask; one thread, the caller's, keeps what they bring and counts. So progress, failures and
an interruption are dealt with in one place.
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

from sentinel_sql.errors import EndpointError

Item = TypeVar("Item")
Made = TypeVar("Made")

FAILURES_IN_A_ROW = 10
"""Failures without a result between them after which the endpoint counts as gone; ours."""

GRACE = 5.0
"""Seconds that an end before the end waits for calls under way; ours."""

_LOOK_UP = 0.2
"""Seconds after which a waiting thread looks whether anybody still reads; ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """How far asking is.

    Attributes:
        done: results kept.
        failures: reason → items that failed for it.
        seconds: since the start.
        interrupted: the user ended it before its end.
    """

    done: int
    failures: Mapping[str, int]
    seconds: float
    interrupted: bool = False

    @property
    def failed(self) -> int:
        """How many items failed."""
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
    """Ask about every item, and keep each result as it comes.

    Items are started in their order. A thread goes on once its last result was dealt with. Ctrl-C
    and SIGTERM end it early; results that are there by then are kept.

    Args:
        items: what to ask about.
        ask: yields the results of one item; called in any thread. It may look at the event and
            return once that is set.
        keep: keeps one result, in the caller's thread; a result counts as done once the future
            that it returns is done, or at once without one.
        workers: items asked about at once; at least one is.
        what: the results are called so in errors, such as `runs`.
        place: where they are kept, for errors.
        on_progress: called in the caller's thread after each result and each failure.

    Raises:
        EndpointError: the endpoint is unusable: its very first answer says so, or calls keep
            failing. What was kept before stays.
        BaseException: whatever else `ask`, `keep` or the future raises.
    """
    threads = _Threads(items, ask, count=max(1, workers))
    reader = _Reader(threads.inbox, threads=len(threads.all), keep=keep, on_progress=on_progress)
    interrupted = False
    try:
        with _terminated_as_interrupted():
            threads.start()
            reader.read()
    except KeyboardInterrupt:
        interrupted = True
        threads.stop()
        reader.read_rest()
    except EndpointError as end:
        threads.stop()
        reader.read_rest()
        raise EndpointError(
            f"{end}. {reader.done} {what} of this time are kept in {place}; the same command goes "
            "on from there",
            for_every_call=end.for_every_call,
        ) from end
    finally:
        threads.stop()
    return reader.tally(interrupted=interrupted)


@dataclass
class _Result(Generic[Made]):
    """A result on its way to the reader."""

    value: Made
    taken: threading.Event = field(default_factory=threading.Event)


@dataclass
class _Fault:
    """What ended the work on an item."""

    error: BaseException
    taken: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class _Stored:
    """A result's future is done."""

    error: BaseException | None


class _Ended:
    """A thread is done."""


_Inbox: TypeAlias = queue.SimpleQueue[_Result[Made] | _Fault | _Stored | _Ended]


class _Threads(Generic[Item, Made]):
    """Daemon threads, so that a call that hangs can't keep an interrupted process alive."""

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
        """Let no thread begin another item, and wait for those at work for a while, once."""
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
                        self._hand(_Result(value))
                        if self._stop.is_set():
                            return
                except BaseException as error:  # unheard, it would leave its reader waiting
                    self._hand(_Fault(error))
        finally:
            self.inbox.put(_Ended())

    def _hand(self, it: _Result[Made] | _Fault) -> None:
        self.inbox.put(it)
        while not (it.taken.wait(_LOOK_UP) or self._stop.is_set()):
            pass


class _Reader(Generic[Made]):
    """Keeps and counts what the threads bring, in the caller's thread alone."""

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
        """Deal with everything until all threads are done and all results are kept."""
        left = self._threads
        while left or self._storing:
            it = self._inbox.get()
            if isinstance(it, _Ended):
                left -= 1
            elif isinstance(it, _Fault):
                self._count_fault(it.error)
                self._on_progress(self.tally())
                it.taken.set()
            elif self._settle(it):
                self._on_progress(self.tally())
            if isinstance(it, _Result):
                it.taken.set()

    def read_rest(self) -> None:
        """Keep the results that are there, and wait a while for those on their way to the disk."""
        until = time.monotonic() + GRACE
        while True:
            try:
                wait = until - time.monotonic() if self._storing else 0.0
                it = self._inbox.get(timeout=max(0.0, wait))
            except queue.Empty:
                return
            if isinstance(it, _Result | _Stored):
                self._settle(it)

    def _settle(self, it: _Result[Made] | _Stored) -> bool:
        """Keep a result, or note that one was kept; return whether one is done by this."""
        if isinstance(it, _Stored):
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
        stored.add_done_callback(lambda future: self._inbox.put(_Stored(future.exception())))
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
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end the asking as Ctrl-C does, where signals may be handled at all."""
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
