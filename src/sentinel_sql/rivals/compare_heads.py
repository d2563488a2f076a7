"""Scores candidate heads, and the rivals beside them, out of fold under the same folds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sentinel_sql.errors import CannotFitError, InputError, StoreError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.crossfit import assign_folds, out_of_fold
from sentinel_sql.monitor.features.grounding import keys_of
from sentinel_sql.monitor.head import Bools, FittedHead, Floats, Head, Ints
from sentinel_sql.monitor.snapshots import Task, fit_heads, read_run
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.pipeline.fit import FEWEST
from sentinel_sql.pipeline.scoring import label_of
from sentinel_sql.questions.pools import PoolName, Pools
from sentinel_sql.rivals.candidates import (
    CandidateRow,
    CandidateScores,
    ComparedRuns,
    candidates,
)
from sentinel_sql.rivals.kinds import RIVALS, Rival
from sentinel_sql.trajectory.record import Trajectory, commitment
from sentinel_sql.trajectory.render import SCORING_TOKENS

SEEDS = (1, 2, 3)
"""Of folds and fits; ours: three tell whether a lead is one of the seed."""

TIMED_STEPS = 200
"""Steps that a head reads and scores one at a time to tell what one costs; ours."""

OnProgress = Callable[[int, int], None]
"""Is told how many candidates are done, and of how many."""


def compare_heads(
    trajectories: Iterable[Trajectory],
    pools: Pools,
    labels: Mapping[str, Label],
    header: LabelsHeader,
    *,
    heads: Mapping[str, Head[Any]],
    default: str,
    seeds: Sequence[int] = SEEDS,
    among: Sequence[PoolName] = ("train",),
    with_rivals: bool = True,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Exhibit[CandidateRow]:
    """Compare heads by their out-of-fold scores of the train pool, under the same folds.

    Args:
        trajectories: the store's runs.
        pools: the manifest; every run's question must be in it.
        labels: by run id; runs without one, or without a verdict, are left out.
        header: of the labels file: clock and schema.
        heads: the candidates, simplest first. One that lacks an extra or a file is listed as not
            tried, with its reason.
        default: the head that is the default now.
        seeds: of folds and fits, one or more.
        among: the pools whose runs are taken together. A choice made with the held-out pool
            among them spends it.
        with_rivals: score the rivals of `RIVALS` that need no model under the same folds, too.
        on_progress: told after each candidate.

    Raises:
        InputError: no seed, or a kind of head that can't be compared.
        PoolsError: a run whose question the manifest doesn't know.
        StoreError: no run of these pools, or a run that contradicts itself.
        LabelsError: labels that don't fit the runs.
        CannotFitError: too few runs of a class, or of templates.
    """
    if not seeds:
        raise InputError("no seed to compare under: give at least one")
    taken = [
        run
        for run in trajectories
        if pools.pool_of(run.question.id) in among
        and (label := labels.get(run.question.id)) is not None
        and not label.without_verdict
    ]
    if not taken:
        raise StoreError(
            f"the store holds no labelled run of the pools {', '.join(among)}: collect and label "
            "some first"
        )
    runs = _columns(taken, pools, labels)
    judged = runs.answered & runs.answerable
    _require_classes(runs)
    folds = {
        seed: assign_folds(
            templates=runs.templates,
            strata=runs.answerable + 2 * runs.answered + 4 * runs.correct,
            needed=(
                runs.answerable,
                ~runs.answerable,
                runs.correct,
                judged & ~runs.correct,
            ),
            seed=seed,
        )
        for seed in seeds
    }
    beside = RIVALS if with_rivals else {}
    scored: list[CandidateScores] = []
    total = len(heads) + len(beside)
    for name, head in heads.items():
        try:
            scored.append(_head_scores(name, head, taken, runs, header, folds))
        except InputError as error:  # an extra or a file that isn't here
            scored.append(CandidateScores(name=name, kind="head", why_not=str(error)))
        on_progress(len(scored), total)
    for name, rival in beside.items():
        scored.append(_rival_scores(name, rival, taken, runs, folds))
        on_progress(len(scored), total)
    return candidates(runs, scored, default=default, seed=seeds[0])


def _columns(
    taken: Sequence[Trajectory], pools: Pools, labels: Mapping[str, Label]
) -> ComparedRuns:
    found = [label_of(run, labels) for run in taken]
    answered = np.array([run.outcome.kind == "answered" for run in taken], np.bool_)
    answerable = np.array([label.answerable for label in found], np.bool_)
    ended = [run.steps[-1].observation.kind if run.steps else "none" for run in taken]
    return ComparedRuns(
        templates=tuple(pools.template_of(run.question.id) for run in taken),
        answered=answered,
        answerable=answerable,
        correct=answered & answerable & np.array([label.correct is True for label in found]),
        clean=answered & np.array([kind == "rows" for kind in ended], np.bool_),
    )


def _require_classes(runs: ComparedRuns) -> None:
    counts = {
        "unanswerable": int((~runs.answerable).sum()),
        "correctly answered": int(runs.correct.sum()),
        "wrongly answered": int((runs.answered & runs.answerable & ~runs.correct).sum()),
    }
    if min(counts.values()) < FEWEST:
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise CannotFitError(
            f"too few runs of a kind to compare heads on ({told}; {FEWEST} of each are needed): "
            "collect more runs"
        )


def _head_scores(
    name: str,
    head: Head[Any],
    taken: Sequence[Trajectory],
    runs: ComparedRuns,
    header: LabelsHeader,
    folds: Mapping[int, Ints],
) -> CandidateScores:
    schema = header.schema if header.schema.tables else None
    keys = keys_of(schema)
    read = [read_run(run, head=head, keys=keys, clock=header.clock) for run in taken]
    ends = np.cumsum([len(run.scoring) for run in read])
    starts = np.concatenate([[0], ends[:-1]])
    tasks = (
        Task(targets=~runs.answerable, trained_on=np.ones(len(taken), np.bool_)),
        Task(targets=runs.correct, trained_on=runs.answered & runs.answerable),
    )
    correct, answerable, at_start = [], [], []
    for seed, fold in folds.items():
        unanswerable, right = out_of_fold(
            head, read, tasks, templates=runs.templates, folds=fold, seed=seed
        )
        correct.append(right[ends - 1])
        answerable.append(1.0 - unanswerable[ends - 1])
        at_start.append(1.0 - unanswerable[starts])
    fitted = fit_heads(head, read, tasks, templates=runs.templates, seed=min(folds))
    return CandidateScores(
        name=name,
        kind="head",
        correct=tuple(correct),
        answerable=tuple(answerable),
        answerable_at_start=tuple(at_start),
        seconds=_seconds_a_step(
            head,
            fitted,
            taken,
            lambda run: Surroundings(keys=keys, clock=run.question.clock or header.clock),
        ),
    )


def _seconds_a_step(
    head: Head[Any],
    fitted: Sequence[FittedHead[Any]],
    taken: Sequence[Trajectory],
    around: Callable[[Trajectory], Surroundings],
) -> float | None:
    """Return the mean time to read one more step and to score both heads, as a live run would."""
    seconds, steps = 0.0, 0
    for run in taken:
        reading = head.read(run.question, around(run))
        for step in run.steps:
            committed = commitment(step, commit_on_error=run.agent.commit_on_error)
            started = time.perf_counter()
            reading.observe(step, committed)
            snapshot = reading.snapshot(SCORING_TOKENS)
            for its in fitted:
                its.score([snapshot])
            seconds += time.perf_counter() - started
            steps += 1
        if steps >= TIMED_STEPS:
            break
    return seconds / steps if steps else None


def _rival_scores(
    name: str,
    rival: Rival,
    taken: Sequence[Trajectory],
    runs: ComparedRuns,
    folds: Mapping[int, Ints],
) -> CandidateScores:
    """Score a rival as the correctness head is: fitted on answers to answerable questions."""
    prefixes = [run.prefix(len(run.steps)) for run in taken]
    inputs = [
        rival.read(prefix) if asked else None
        for prefix, asked in zip(prefixes, runs.answered, strict=True)
    ]
    known = np.array([read is not None for read in inputs], np.bool_)
    trained_on = known & runs.answered & runs.answerable
    columns = tuple(
        _out_of_fold(rival, inputs, known, trained_on, runs.correct, fold, seed)
        for seed, fold in (folds.items() if rival.fit else [next(iter(folds.items()))])
    )
    return CandidateScores(name=name, kind="rival", correct=columns)


def _out_of_fold(
    rival: Rival,
    inputs: Sequence[Any],
    known: Bools,
    trained_on: Bools,
    correct: Bools,
    folds: Ints,
    seed: int,
) -> Floats:
    scores = np.full(len(inputs), np.nan)
    if rival.fit is None:
        scores[known] = [inputs[i] for i in np.flatnonzero(known).tolist()]
        return scores
    for fold in np.unique(folds):
        on = np.flatnonzero(trained_on & (folds != fold)).tolist()
        held = np.flatnonzero(known & (folds == fold)).tolist()
        if not held or len(np.unique(correct[on])) < 2:
            continue
        scorer = rival.fit([inputs[i] for i in on], correct[on], seed=seed)
        scores[held] = scorer([inputs[i] for i in held])
    return scores
