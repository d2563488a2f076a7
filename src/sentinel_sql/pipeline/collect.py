"""Runs an agent over many questions and records every run; can be resumed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Protocol

from sentinel_sql.agent.react import Asked, make_trajectory
from sentinel_sql.arguments import checked
from sentinel_sql.database.executor import Database
from sentinel_sql.database.probes.probe import Prober
from sentinel_sql.errors import InputError, QuestionsError, StoreError
from sentinel_sql.pipeline.ask_many import Tally, ask_many
from sentinel_sql.pipeline.inputs import AnyQuestions, questions_from
from sentinel_sql.pipeline.probe import with_probes
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import AgentInfo, Step, Trajectory
from sentinel_sql.trajectory.store import StoreManifest, TrajectoryStore, read_trajectories


class Agent(Protocol):
    """An agent that yields steps, such as `ReactAgent`.

    All workers share one agent, so it must keep no state of a run.
    """

    @property
    def info(self) -> AgentInfo:
        """The identity of this agent."""
        ...

    def steps(self, question: Asked) -> Iterator[Step]:
        """Run on a question, and yield each step when it is done."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """The progress of a collection.

    Attributes:
        total: questions to run in this call.
        done: runs recorded.
        failed: runs that failed; the next call tries them again.
        seconds: time since the start.
    """

    total: int
    done: int
    failed: int
    seconds: float

    @property
    def rate(self) -> float:
        """Recorded runs per second; 0 before the first."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left at this rate; None before the first run."""
        return (self.total - self.done - self.failed) / self.rate if self.rate else None


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectSummary:
    """The result of a collection.

    Attributes:
        store: folder of the runs.
        asked: number of questions given.
        done: runs recorded by this call.
        already_there: questions with a run in the store before this call.
        failed: reason → number of runs that failed.
        gaps: ids of the given questions that have no run in the store now, in order.
        steps: steps of the new runs.
        prompt_tokens: tokens read for them, as reported by the endpoint.
        completion_tokens: tokens generated for them, as reported by the endpoint.
        notes: fault of a reply (`StepNote`: cut, unreadable telemetry) → number of replies.
        seconds: wall time.
        interrupted: True if the user ended it early.
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
    notes: Mapping[str, int]
    seconds: float
    interrupted: bool


@checked
def collect(
    questions: AnyQuestions,
    agent: Agent,
    database: Database,
    *,
    store: str | PathLike[str],
    workers: int = 4,
    limit: int | None = None,
    prober: Prober | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> CollectSummary:
    """Run the agent on the questions without a run in the store, and record every run.

    Questions are started in the order given. A run counts as recorded when it is on the disk, so
    the end of the process loses only unfinished runs. Ctrl-C and SIGTERM end the collection with a
    summary, and drop unfinished runs.

    Args:
        questions: the questions, with distinct ids, or their file.
        agent: the agent; shared by the workers.
        database: the agent's database; its name, clock and schema go into the store's manifest.
        store: the store's folder; made if absent.
        workers: runs at the same time, ≥ 1.
        limit: most new runs of this call; None for all.
        prober: adds probes to each finished run; the agent never sees them.
        on_progress: called with (progress) in this thread after each run.

    Raises:
        InputError: the agent yields something else than a `Step`.
        QuestionsError: an id is given twice.
        StoreError: the store is another agent's, in use, damaged or can't be written, or holds
            runs of other questions under ids of these.
        DatabaseError: the database can't be read any more.
        EndpointError: the endpoint is unusable: its first answer says so, or runs keep failing.
            Runs recorded before are kept.
    """
    questions = questions_from(questions)
    _refuse_doubles(questions)
    manifest = StoreManifest(
        agent=agent.info,
        database=database.name,
        clock=database.clock,
        schema_sha256=database.schema.sha256,
    )
    with TrajectoryStore.open(store, manifest=manifest) as opened:
        held = opened.ids
        _refuse_others(questions, held, store)
        missing = [question for question in questions if question.id not in held]
        due = missing[:limit]
        recorded: list[_Usage] = []

        def keep(run: Trajectory) -> Future[None]:
            stored = opened.submit(run)
            stored.add_done_callback(
                lambda done: None if done.exception() else recorded.append(_usage(run))
            )
            return stored

        def show(tally: Tally) -> None:
            if on_progress is not None:
                on_progress(
                    Progress(
                        total=len(due), done=tally.done, failed=tally.failed, seconds=tally.seconds
                    )
                )

        tally = ask_many(
            due,
            partial(_runs, agent, database, prober),
            keep,
            workers=workers,
            what="runs",
            place=opened.folder,
            on_progress=show,
        )
    held = opened.ids
    return CollectSummary(
        store=opened.folder,
        asked=len(questions),
        done=len(recorded),
        already_there=len(questions) - len(missing),
        failed=tally.failures,
        gaps=tuple(question.id for question in questions if question.id not in held),
        steps=sum(usage.steps for usage in recorded),
        prompt_tokens=sum(usage.prompt_tokens for usage in recorded),
        completion_tokens=sum(usage.completion_tokens for usage in recorded),
        notes=dict(Counter(note for usage in recorded for note in usage.notes)),
        seconds=tally.seconds,
        interrupted=tally.interrupted,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Usage:
    """Steps, tokens and notes of one run."""

    steps: int
    prompt_tokens: int
    completion_tokens: int
    notes: tuple[str, ...]


def _usage(run: Trajectory) -> _Usage:
    known = [step.usage for step in run.steps if step.usage is not None]
    return _Usage(
        steps=len(run.steps),
        prompt_tokens=sum(usage.prompt_tokens or 0 for usage in known),
        completion_tokens=sum(usage.completion_tokens or 0 for usage in known),
        notes=tuple(note for step in run.steps for note in step.notes),
    )


def _runs(
    agent: Agent,
    database: Database,
    prober: Prober | None,
    question: Question,
    stop: threading.Event,
) -> Iterator[Trajectory]:
    """Yield the run on one question, or nothing if the collection ends before it does."""
    try:
        run = make_trajectory(agent.info, question, database, _until(stop, agent.steps(question)))
    except _StoppedError:
        return
    yield run if prober is None else with_probes(run, prober)


def _until(stop: threading.Event, steps: Iterator[Step]) -> Iterator[Step]:
    for step in steps:
        if not isinstance(step, Step):
            raise InputError(
                "an agent to collect from yields each step as a Step, and this one is of type "
                f"{type(step).__name__}: yield Steps, or keep the agent's logs and import them "
                "with import_runs"
            )
        yield step
        if stop.is_set():
            raise _StoppedError


class _StoppedError(Exception):
    """The collection ends, so this run is dropped."""


def _refuse_others(
    questions: Sequence[Question], held: Collection[str], store: str | PathLike[str]
) -> None:
    """Refuse questions whose ids the store holds for others, which would never be asked."""
    texts = {question.id: question.text for question in questions if question.id in held}
    if not texts:
        return
    others = [
        run.question.id
        for run in read_trajectories(store)
        if texts.get(run.question.id, run.question.text) != run.question.text
    ]
    if others:
        raise StoreError(
            f"{store} holds runs of other questions under {len(others)} of these ids, such as "
            f"{others[0]}; collect into another store, or give the questions ids of their own"
        )


def _refuse_doubles(questions: Sequence[Question]) -> None:
    counts = Counter(question.id for question in questions)
    twice = next((identity for identity, count in counts.items() if count > 1), None)
    if twice is not None:
        raise QuestionsError(f"two questions have the id {twice}: give each question once")
