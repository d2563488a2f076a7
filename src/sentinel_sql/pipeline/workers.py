"""The workers of a collection: they take questions until none is left or they must end."""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from sentinel_sql.agent.react import Asked, finished
from sentinel_sql.database.executor import Database
from sentinel_sql.database.probes import Prober
from sentinel_sql.errors import EndpointError
from sentinel_sql.pipeline.probe import with_probes
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import AgentInfo, Step, Trajectory
from sentinel_sql.trajectory.store import TrajectoryStore

FAILURES_IN_A_ROW = 10
"""Failed runs without a finished one between them after which the endpoint counts as gone; ours."""

GRACE = 5.0
"""Seconds that an interrupted collection waits for calls under way; ours."""


class Agent(Protocol):
    """What can be collected from: `ReactAgent`, or any agent that yields steps.

    One agent is used by all workers at once, so it keeps no state between runs.
    """

    @property
    def info(self) -> AgentInfo:
        """What tells this agent from another."""
        ...

    def steps(self, question: Asked) -> Iterator[Step]:
        """Run, and yield each step as it is done."""
        ...


class Workers:
    """Threads that take questions, run the agent and count; the thread that calls `run` waits.

    Attributes:
        done: runs on the disk.
        steps, prompt_tokens, completion_tokens: of these runs.
        notes: what was wrong with a reply → how many steps of these runs.
        failures: reason → how many runs failed for it.
        end: why the collection must end before its end, or None.
        interrupted: the user ended it.
        seconds: since the start.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        agent: Agent,
        database: Database,
        store: TrajectoryStore,
        *,
        prober: Prober | None = None,
    ) -> None:
        self.done = self.steps = self.prompt_tokens = self.completion_tokens = 0
        self.notes: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.interrupted = False
        self.end: BaseException | None = None
        self.seconds = 0.0
        self._questions = questions
        self._agent = agent
        self._info = agent.info
        self._database = database
        self._store = store
        self._prober = prober
        self._waiting: queue.SimpleQueue[Question] = queue.SimpleQueue()
        self._counted: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._in_a_row = 0
        self._answered = False

    def run(self, count: int, on_change: Callable[[], None]) -> None:
        """Work until all questions are done or `end` is set; returns early on an interruption.

        `on_change` is called in this thread after each run.
        """
        started = time.monotonic()
        for question in self._questions:
            self._waiting.put(question)
        # Daemons, so that a call that hangs can't keep an interrupted process alive.
        threads = [
            threading.Thread(target=self._work, name=f"sentinel-collect-{number}", daemon=True)
            for number in range(min(count, len(self._questions)))
        ]
        try:
            with terminated_as_interrupted():
                for thread in threads:
                    thread.start()
                for _ in self._questions:
                    self._counted.get()
                    if self.end is not None:
                        break
                    self.seconds = time.monotonic() - started
                    on_change()
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self._stop.set()
            until = time.monotonic() + GRACE
            for thread in threads:
                if thread.ident is not None:
                    thread.join(max(0.0, until - time.monotonic()))
            self.seconds = time.monotonic() - started

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                question = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                trajectory = finished(
                    self._info, question, self._database, self._until_stopped(question)
                )
                self._note_answer()
                if self._prober is not None:
                    trajectory = with_probes(trajectory, self._prober)
                # Not waited for: the disk's pace is no reason to leave the model idle.
                stored = self._store.submit(trajectory)
            except _StoppedError:
                return
            except EndpointError as error:
                self._count_failure(error)
                self._counted.put(None)
            except BaseException as error:
                self._end_with(error)
                self._counted.put(None)
            else:
                stored.add_done_callback(partial(self._count_stored, trajectory))

    def _until_stopped(self, question: Question) -> Iterator[Step]:
        for step in self._agent.steps(question):
            yield step
            if self._stop.is_set():
                raise _StoppedError

    def _note_answer(self) -> None:
        with self._guard:
            self._in_a_row = 0
            self._answered = True

    def _count_failure(self, error: EndpointError) -> None:
        with self._guard:
            self.failures[str(error)] += 1
            self._in_a_row += 1
            gone = self._in_a_row >= FAILURES_IN_A_ROW
            never_there = error.for_every_call and not self._answered
        if gone or never_there:
            self._end_with(error)

    def _count_stored(self, trajectory: Trajectory, stored: Future[None]) -> None:
        error = stored.exception()
        if error is None:
            self._count_run(trajectory)
        else:
            self._end_with(error)
        self._counted.put(None)

    def _count_run(self, trajectory: Trajectory) -> None:
        usages = [step.usage for step in trajectory.steps if step.usage is not None]
        with self._guard:
            self.done += 1
            self.steps += len(trajectory.steps)
            self.notes.update(note for step in trajectory.steps for note in step.notes)
            self.prompt_tokens += sum(usage.prompt_tokens or 0 for usage in usages)
            self.completion_tokens += sum(usage.completion_tokens or 0 for usage in usages)

    def _end_with(self, error: BaseException) -> None:
        with self._guard:
            self.end = self.end or error
        self._stop.set()


class _StoppedError(Exception):
    """The collection ends, so this run is given up."""


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end the collection as Ctrl-C does, where signals may be handled at all."""
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
