"""Shares few runners of SQL, such as worker processes, among many threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, Protocol, TypeVar

from sentinel_sql.errors import DatabaseError

PATIENCE = 0.05
"""Seconds that a query waits for a busy worker before it starts another (our choice): as long as a
worker takes to start. Most queries take less, so that few workers serve many threads."""


class Runner(Protocol):
    """What runs SQL for one thread at a time."""

    @property
    def usable(self) -> bool:
        """Whether it waits for a statement."""
        ...

    @property
    def closed(self) -> bool:
        """Whether it has ended, so that another has to take its place."""
        ...

    def close(self) -> None:
        """End it."""
        ...


AnyRunner = TypeVar("AnyRunner", bound=Runner)


class RunnerPool(Generic[AnyRunner]):
    """Hands out idle runners, or starts a new one if none becomes idle soon.

    After a fork, `reset_after_fork` gives the child runners of its own.

    Args:
        start: makes a runner; may raise DatabaseError.
        what: what is closed by `close`, for the error of a later use.
        patience: seconds to wait for a busy runner.
    """

    def __init__(
        self, start: Callable[[], AnyRunner], *, what: str, patience: float = PATIENCE
    ) -> None:
        self._start = start
        self._what = what
        self._patience = patience
        self._returned = threading.Condition()
        self.idle: list[AnyRunner] = []
        self._busy = 0
        self._closed = False
        self._left_to_parent: list[AnyRunner] = []

    @contextmanager
    def runner(self) -> Iterator[AnyRunner]:
        """Give a runner for the length of a `with` block.

        Raises:
            DatabaseError: the pool is closed, or no runner starts.
        """
        taken = self._take()
        try:
            yield taken
        finally:
            self._give_back(taken)

    def close(self) -> None:
        """End every runner; a busy one ends after its statement."""
        with self._returned:
            self._closed = True
            idle, self.idle = self.idle, []
            self._returned.notify_all()
        for runner in idle:
            runner.close()

    def reset_after_fork(self) -> None:
        """Use new runners and locks in a forked process; the parent keeps its own."""
        self._left_to_parent.extend(self.idle)
        self.idle, self._busy = [], 0
        self._returned = threading.Condition()

    def _take(self) -> AnyRunner:
        with self._returned:
            if self._patience:
                self._returned.wait_for(self._needs_no_wait, self._patience)
            if self._closed:
                raise DatabaseError(f"{self._what} was closed; open it again")
            idle = self.idle.pop() if self.idle else None
            self._busy += 1
        try:
            while idle is not None:
                if idle.usable:
                    return idle
                idle.close()
                with self._returned:
                    idle = self.idle.pop() if self.idle else None
            return self._start()
        except BaseException:
            with self._returned:
                self._busy -= 1
            raise

    def _needs_no_wait(self) -> bool:
        return bool(self._closed or self.idle) or not self._busy

    def _give_back(self, runner: AnyRunner) -> None:
        if runner.closed:
            # start another one now, so that the next query needn't wait for it
            with suppress(DatabaseError):
                runner = self._start()
        with self._returned:
            self._busy -= 1
            self._returned.notify()
            if not (self._closed or runner.closed):
                self.idle.append(runner)
                return
        runner.close()
