"""Collects how sure an agent's own model is of its answers; resumes where it stopped."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.errors import StoreError
from sentinel_sql.pipeline.ask_many import ask_many
from sentinel_sql.rivals.confidences import (
    Confidence,
    ConfidencesManifest,
    ConfidenceStore,
    Method,
    answer_hash,
    still_due,
)
from sentinel_sql.rivals.self_report_questions import Asker
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import Trajectory

OnProgress = Callable[[int, int], None]
"""Told how many records are made, and of how many."""


@dataclass(frozen=True, kw_only=True)
class AskedSummary:
    """What asking brought.

    Attributes:
        store: the folder that holds the records.
        answers: recorded answers asked about, or to be.
        done: records made this time, by method.
        already_there: records that the store held before.
        failed: reason → how many answers failed for it; they are tried again next time.
        missing: records that are still to be made.
        calls, prompt_tokens, completion_tokens, seconds: what this time cost.
        interrupted: the user ended it before its end.
    """

    store: Path
    answers: int
    done: Mapping[str, int]
    already_there: int
    failed: Mapping[str, int]
    missing: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    interrupted: bool


def answers_of(runs: Sequence[Trajectory], agent: ReactAgent) -> list[Trajectory]:
    """Return the runs that ended in an answer, after checking that this very agent ran them.

    Raises:
        StoreError: another agent did, or none ended in an answer.
    """
    ours = agent.info.fingerprint
    for run in runs:
        if run.agent.fingerprint != ours:
            raise StoreError(
                f"run {run.question.id} is of the agent [{run.agent.fingerprint}], and these "
                f"settings make [{ours}]; {difference(run.agent.fingerprint, ours)}: give the "
                "model, prompt, notes, examples and cap that it was collected with"
            )
    answered = [run for run in runs if run.outcome.kind == "answered"]
    if not answered:
        raise StoreError("no run to ask about: none of these ended in an answer")
    return answered


def ask_confidences(
    runs: Sequence[Trajectory],
    asker: Asker,
    methods: Sequence[Method],
    *,
    store: str | Path,
    workers: int = 1,
    limit: int | None = None,
    on_progress: OnProgress = lambda _done, _total: None,
) -> AskedSummary:
    """Ask about every answer by every method, and keep each record before the next is read.

    Args:
        runs: what `answers_of` gave, in the order in which they are asked about.
        asker: the agent that answered, and its models.
        methods: how to ask.
        store: the folder of confidences; made if absent, resumed where it stopped.
        workers: answers asked about at once, ≥ 1.
        limit: at most so many answers this time; None for all.
        on_progress: called after each record.

    Raises:
        StoreError: the store is about another agent's answers or other settings, in use, damaged
            or can't be written.
        EndpointError: the endpoint is unusable. What was recorded before stays.
    """

    def ask(due: tuple[Trajectory, list[Method]], stop: threading.Event) -> Iterator[Confidence]:
        run, missing = due
        for method in missing:
            if not stop.is_set():
                yield asker.ask(run, method)

    first = runs[0].question
    manifest = ConfidencesManifest(
        agent=asker.agent.info, database=first.database, clock=first.clock
    )
    with ConfidenceStore.open(store, manifest=manifest) as opened:
        for method in methods:
            opened.require(method, asker.settings(method))
        _require_same_answers(opened, runs)
        there = len([1 for one in _pairs(runs, methods) if one in opened.held])
        due = still_due(runs, methods, opened.held, limit)
        total = sum(len(missing) for _, missing in due)
        made: list[Confidence] = []

        def keep(record: Confidence) -> None:
            opened.append(record)
            made.append(record)

        asked = ask_many(
            due,
            ask,
            keep,
            workers=workers,
            what="records",
            place=opened.folder,
            on_progress=lambda so_far: on_progress(so_far.done, total),
        )
        return AskedSummary(
            store=opened.folder,
            answers=len(runs),
            done=dict(Counter(record.method for record in made)),
            already_there=there,
            failed=asked.failures,
            missing=len([1 for one in _pairs(runs, methods) if one not in opened.held]),
            calls=sum(record.calls for record in made),
            prompt_tokens=sum(record.prompt_tokens or 0 for record in made),
            completion_tokens=sum(record.completion_tokens or 0 for record in made),
            seconds=sum(record.seconds for record in made),
            interrupted=asked.interrupted,
        )


def _pairs(runs: Sequence[Trajectory], methods: Sequence[Method]) -> Iterator[tuple[str, Method]]:
    return ((run.question.id, method) for run in runs for method in methods)


def _require_same_answers(store: ConfidenceStore, runs: Sequence[Trajectory]) -> None:
    hashes = {run.question.id: answer_hash(run) for run in runs}
    for record in store.held.values():
        if hashes.get(record.run, record.answer) != record.answer:
            raise StoreError(
                f"{store.folder}: is about another answer of run {record.run} than this store "
                "holds: use another folder for these runs"
            )
