"""Runs an agent over many questions and records every run; resumes where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentinel_sql.database.executor import Database
from sentinel_sql.database.probes import Prober
from sentinel_sql.errors import EndpointError, QuestionsError
from sentinel_sql.pipeline.workers import Agent, Workers
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.store import StoreManifest, TrajectoryStore


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
        notes: what was wrong with a reply (`StepNote`: cut, unreadable telemetry) → how many.
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
    notes: Mapping[str, int]
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
    prober: Prober | None = None,
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
        prober: adds probes to each run once it is over; the agent never sees them.
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
        due = missing[:limit]
        work = Workers(due, agent, database, opened, prober=prober)

        def show() -> None:
            if on_progress is not None:
                on_progress(
                    Progress(
                        total=len(due),
                        done=work.done,
                        failed=work.failures.total(),
                        seconds=work.seconds,
                    )
                )

        work.run(max(1, workers), show)
    # The store is closed here, so all that was recorded is counted.
    if work.end is not None:
        raise _with_what_is_kept(work.end, work.done, opened.folder)
    held = opened.ids
    return CollectSummary(
        store=opened.folder,
        asked=len(questions),
        done=work.done,
        already_there=len(questions) - len(missing),
        failed=dict(work.failures),
        gaps=tuple(question.id for question in questions if question.id not in held),
        steps=work.steps,
        prompt_tokens=work.prompt_tokens,
        completion_tokens=work.completion_tokens,
        notes=dict(work.notes),
        seconds=work.seconds,
        interrupted=work.interrupted,
    )


def _with_what_is_kept(end: BaseException, done: int, folder: Path) -> BaseException:
    if not isinstance(end, EndpointError):
        return end
    error = EndpointError(
        f"{end}. {done} runs of this time are kept in {folder}; the same command goes on from "
        "there",
        for_every_call=end.for_every_call,
    )
    error.__cause__ = end
    return error


def _refuse_doubles(questions: Sequence[Question]) -> None:
    counts = Counter(question.id for question in questions)
    twice = next((identity for identity, count in counts.items() if count > 1), None)
    if twice is not None:
        raise QuestionsError(f"question id {twice} is given twice; give each question once")
