"""Runs an agent over many questions and records every run; resumes where it stopped."""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sentinel_sql.agent.react import Asked, finished
from sentinel_sql.database.executor import Database
from sentinel_sql.errors import EndpointError, QuestionsError
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import AgentInfo, Step, Trajectory
from sentinel_sql.trajectory.store import StoreManifest, TrajectoryStore

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a collection is.

    Attributes:
        total: questions to run this time.
        done: runs recorded.
        failed: runs that failed; they count as gaps and are tried again next time.
        seconds: since the start.
    """

    total: int
    done: int
    failed: int
    seconds: float

    @property
    def rate(self) -> float:
        """Recorded runs a second; 0 before the first."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes at this rate; None before the first run."""
        return (self.total - self.done - self.failed) / self.rate if self.rate else None


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectSummary:
    """What a collection brought.

    Attributes:
        store: the folder that holds the runs.
        asked: questions given.
        done: runs recorded this time.
        already_there: questions whose runs the store held before.
        failed: reason → how many runs failed for it.
        gaps: ids of the questions given that have no run in the store now, in their order.
        steps: steps of the runs recorded this time.
        prompt_tokens: tokens read for them, as far as the endpoint told.
        completion_tokens: tokens generated for them, as far as the endpoint told.
        seconds: wall time.
        interrupted: the user ended it before its end.
    """

    store: Path
    asked: int
    done: int
    already_there: int
    failed: Mapping[str, int]
    gaps: tuple[str, ...]
    steps: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    interrupted: bool


def collect(
    questions: Sequence[Question],
    agent: Agent,
    database: Database,
    *,
    store: str | Path,
    workers: int = 4,
    limit: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> CollectSummary:
    """Run the agent over the questions that the store lacks, and record every run.

    Questions are started in the order given. A run is recorded once it is on the disk, so that
    whatever ends the process costs the runs under way and no other. Ctrl-C and SIGTERM end the
    collection with a summary; runs under way then are given up.

    Args:
        questions: what to ask, ids all different.
        agent: who answers; shared by the workers.
        database: the agent's database, for the store's manifest.
        store: the store's folder; made if absent.
        workers: runs under way at once, ≥ 1.
        limit: at most so many new runs this time; None for all.
        on_progress: called in this thread after each run.

    Raises:
        QuestionsError: an id is given twice.
        StoreError: the store is another agent's, in use, damaged or can't be written.
        DatabaseError: the database can't be read any more.
        EndpointError: the endpoint is unusable: its very first answer says so, or runs keep
            failing. What was recorded before stays.
    """
    _refuse_doubles(questions)
    manifest = StoreManifest(
        agent=agent.info,
        database=database.name,
        clock=database.clock,
        schema_sha256=database.schema.sha256,
    )
    with TrajectoryStore.open(store, manifest=manifest) as opened:
        held = opened.ids
        missing = [question for question in questions if question.id not in held]
        work = _Collection(missing[:limit], agent, database, opened, on_progress)
        work.run(max(1, workers))
        now_held = opened.ids
        return CollectSummary(
            store=Path(store),
            asked=len(questions),
            done=work.done,
            already_there=len(questions) - len(missing),
            failed=dict(work.failures),
            gaps=tuple(question.id for question in questions if question.id not in now_held),
            steps=work.steps,
            prompt_tokens=work.prompt_tokens,
            completion_tokens=work.completion_tokens,
            seconds=work.seconds,
            interrupted=work.interrupted,
        )


def _refuse_doubles(questions: Sequence[Question]) -> None:
    counts = Counter(question.id for question in questions)
    twice = next((identity for identity, count in counts.items() if count > 1), None)
    if twice is not None:
        raise QuestionsError(f"question id {twice} is given twice; give each question once")


class _Collection:
    """One collection under way: workers take questions and count, this thread shows and ends."""

    def __init__(
        self,
        questions: Sequence[Question],
        agent: Agent,
        database: Database,
        store: TrajectoryStore,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.done = self.steps = self.prompt_tokens = self.completion_tokens = 0
        self.failures: Counter[str] = Counter()
        self.interrupted = False
        self.seconds = 0.0
        self._questions = questions
        self._agent = agent
        self._info = agent.info
        self._database = database
        self._store = store
        self._on_progress = on_progress
        self._waiting: queue.SimpleQueue[Question] = queue.SimpleQueue()
        self._counted: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._end: BaseException | None = None
        self._in_a_row = 0

    def run(self, workers: int) -> None:
        started = time.monotonic()
        for question in self._questions:
            self._waiting.put(question)
        # Daemons, so that a call that hangs can't keep an interrupted process alive.
        threads = [
            threading.Thread(target=self._work, name=f"sentinel-collect-{number}", daemon=True)
            for number in range(min(workers, len(self._questions)))
        ]
        try:
            with _terminated_as_interrupted():
                for thread in threads:
                    thread.start()
                for _ in self._questions:
                    self._counted.get()
                    if self._end is not None:
                        raise self._end
                    self.seconds = time.monotonic() - started
                    self._show()
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
                self._store.append(trajectory)
            except _StoppedError:
                return
            except EndpointError as error:
                self._count_failure(error)
            except BaseException as error:
                self._end_with(error)
            else:
                self._count_run(trajectory)
            self._counted.put(None)

    def _until_stopped(self, question: Question) -> Iterator[Step]:
        for step in self._agent.steps(question):
            yield step
            if self._stop.is_set():
                raise _StoppedError

    def _count_run(self, trajectory: Trajectory) -> None:
        usages = [step.usage for step in trajectory.steps if step.usage is not None]
        with self._guard:
            self.done += 1
            self._in_a_row = 0
            self.steps += len(trajectory.steps)
            self.prompt_tokens += sum(usage.prompt_tokens or 0 for usage in usages)
            self.completion_tokens += sum(usage.completion_tokens or 0 for usage in usages)

    def _count_failure(self, error: EndpointError) -> None:
        with self._guard:
            self.failures[str(error)] += 1
            self._in_a_row += 1
            gone = self._in_a_row >= FAILURES_IN_A_ROW or (error.for_every_call and not self.done)
            done = self.done
        if gone:
            end = EndpointError(
                f"{error}. {done} runs of this time are kept in {self._store.folder}; the same "
                "command goes on from there",
                for_every_call=error.for_every_call,
            )
            end.__cause__ = error
            self._end_with(end)

    def _end_with(self, error: BaseException) -> None:
        with self._guard:
            self._end = self._end or error
        self._stop.set()

    def _show(self) -> None:
        if self._on_progress is None:
            return
        with self._guard:
            now = Progress(
                total=len(self._questions),
                done=self.done,
                failed=self.failures.total(),
                seconds=self.seconds,
            )
        self._on_progress(now)


class _StoppedError(Exception):
    """The collection ends, so this run is given up."""


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
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
