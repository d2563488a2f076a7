"""Collects the confidences of an agent's own model in its answers; can be resumed."""

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
"""Called with (records made, all records)."""


@dataclass(frozen=True, kw_only=True)
class AskSummary:
    """The result of collecting confidences.

    Attributes:
        store: folder of the records.
        answers: recorded answers to ask about.
        done: method → records made by this call.
        already_there: records that the store held before.
        failed: reason → answers that failed; the next call tries them again.
        missing: records still to be made.
        calls, prompt_tokens, completion_tokens, seconds: the cost of this call.
        interrupted: True if the user ended it early.
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
    """Return the runs that ended in an answer, after checking that this agent ran them.

    Raises:
        StoreError: the runs are of another agent, or none ended in an answer.
    """
    ours = agent.info.fingerprint
    for run in runs:
        if run.agent.fingerprint != ours:
            raise StoreError(
                f"run {run.question.id} is of the agent [{run.agent.fingerprint}], but these "
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
) -> AskSummary:
    """Ask about every answer by every method, and store each record before the next one.

    Args:
        runs: the result of `answers_of`, in the order of asking.
        asker: the agent that answered, and its models.
        methods: the ways to ask.
        store: the folder of confidences; made if absent, else resumed.
        workers: answers asked about at the same time, ≥ 1.
        limit: most answers of this call; None for all.
        on_progress: called with (records made, all records).

    Raises:
        StoreError: the store holds answers of another agent or other settings, is in use, is
            damaged or can't be written.
        EndpointError: the endpoint is unusable. Records made before are kept.
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
        already_there = len([1 for one in _pairs(runs, methods) if one in opened.held])
        due = still_due(runs, methods, opened.held, limit)
        total = sum(len(missing) for _, missing in due)
        made: list[Confidence] = []

        def keep(record: Confidence) -> None:
            opened.append(record)
            made.append(record)

        tally = ask_many(
            due,
            ask,
            keep,
            workers=workers,
            what="records",
            place=opened.folder,
            on_progress=lambda so_far: on_progress(so_far.done, total),
        )
        return AskSummary(
            store=opened.folder,
            answers=len(runs),
            done=dict(Counter(record.method for record in made)),
            already_there=already_there,
            failed=tally.failures,
            missing=len([1 for one in _pairs(runs, methods) if one not in opened.held]),
            calls=sum(record.calls for record in made),
            prompt_tokens=sum(record.prompt_tokens or 0 for record in made),
            completion_tokens=sum(record.completion_tokens or 0 for record in made),
            seconds=sum(record.seconds for record in made),
            interrupted=tally.interrupted,
        )


def _pairs(runs: Sequence[Trajectory], methods: Sequence[Method]) -> Iterator[tuple[str, Method]]:
    return ((run.question.id, method) for run in runs for method in methods)


def _require_same_answers(store: ConfidenceStore, runs: Sequence[Trajectory]) -> None:
    hashes = {run.question.id: answer_hash(run) for run in runs}
    for record in store.held.values():
        if hashes.get(record.run, record.answer) != record.answer:
            raise StoreError(
                f"{store.folder} holds a confidence in another answer of run {record.run}: use "
                "another folder for these runs"
            )
