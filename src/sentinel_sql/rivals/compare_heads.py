"""Scores candidate heads and rivals out of fold, on the same folds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sentinel_sql.errors import CannotFitError, InputError, StoreError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.crossfit import assign_folds, out_of_fold
from sentinel_sql.monitor.head import Bools, FittedHead, Floats, Head, Ints
from sentinel_sql.monitor.snapshots import Task, fit_heads, read_run
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.pipeline.learning.labelled_pool import FEWEST
from sentinel_sql.pipeline.scoring import label_of, surroundings_of
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
"""Seeds of folds and fits (our choice): three show whether a lead depends on the seed."""

TIMED_STEPS = 200
"""Steps that are scored one at a time to measure the time of one (our choice)."""

OnProgress = Callable[[int, int], None]
"""Called with (candidates done, all candidates)."""


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
    """Compare heads by out-of-fold scores on the same folds of the train pool.

    Args:
        trajectories: the store's runs.
        pools: the pool manifest; every run's question must be in it.
        labels: labels by run id; runs without a label or a verdict are left out.
        header: header of the labels file, with clock and schema.
        heads: the candidates, simplest first. A head whose extra or file is missing is listed as
            not tried, with the reason.
        default: the current default head.
        seeds: seeds of folds and fits, one or more.
        among: the pools whose runs are used. A choice that uses the held-out pool spends it.
        with_rivals: also score the rivals of `RIVALS` on the same folds.
        on_progress: called with (candidates done, all candidates).

    Raises:
        InputError: there is no seed, or a kind of head can't be compared.
        PoolsError: the manifest doesn't know the question of a run.
        StoreError: there is no run of these pools, or a run contradicts itself.
        LabelsError: the labels don't fit the runs.
        CannotFitError: there are too few runs of a class, or too few templates.
    """
    if not seeds:
        raise InputError("no seed to compare under: give at least one")
    trajectories_used = [
        run
        for run in trajectories
        if pools.pool_of(run.question.id) in among
        and (label := labels.get(run.question.id)) is not None
        and not label.without_verdict
    ]
    if not trajectories_used:
        raise StoreError(
            f"the store holds no labelled run of the pools {', '.join(among)}: collect and label "
            "some first"
        )
    runs = _columns(trajectories_used, pools, labels)
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
    rivals = RIVALS if with_rivals else {}
    scored: list[CandidateScores] = []
    total = len(heads) + len(rivals)
    for name, head in heads.items():
        try:
            scored.append(_head_scores(name, head, trajectories_used, runs, header, folds))
        except InputError as error:  # an extra or a file is missing
            scored.append(CandidateScores(name=name, kind="head", why_not=str(error)))
        on_progress(len(scored), total)
    for name, rival in rivals.items():
        scored.append(_rival_scores(name, rival, trajectories_used, runs, folds))
        on_progress(len(scored), total)
    return candidates(runs, scored, default=default, seed=seeds[0])


def _columns(
    trajectories_used: Sequence[Trajectory], pools: Pools, labels: Mapping[str, Label]
) -> ComparedRuns:
    found = [label_of(run, labels) for run in trajectories_used]
    answered = np.array([run.outcome.kind == "answered" for run in trajectories_used], np.bool_)
    answerable = np.array([label.answerable for label in found], np.bool_)
    last_kinds = [
        run.steps[-1].observation.kind if run.steps else "none" for run in trajectories_used
    ]
    return ComparedRuns(
        templates=tuple(pools.template_of(run.question.id) for run in trajectories_used),
        answered=answered,
        answerable=answerable,
        correct=answered & answerable & np.array([label.correct is True for label in found]),
        clean=answered & np.array([kind == "rows" for kind in last_kinds], np.bool_),
    )


def _require_classes(runs: ComparedRuns) -> None:
    counts = {
        "unanswerable": int((~runs.answerable).sum()),
        "correctly answered": int(runs.correct.sum()),
        "wrongly answered": int((runs.answered & runs.answerable & ~runs.correct).sum()),
    }
    if min(counts.values()) < FEWEST:
        classes = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise CannotFitError(
            f"too few runs of a kind to compare heads on ({classes}; {FEWEST} of each are needed): "
            "collect more runs"
        )


def _head_scores(
    name: str,
    head: Head[Any],
    trajectories_used: Sequence[Trajectory],
    runs: ComparedRuns,
    header: LabelsHeader,
    folds: Mapping[int, Ints],
) -> CandidateScores:
    surroundings = surroundings_of(header)
    read = [read_run(run, head=head, surroundings=surroundings) for run in trajectories_used]
    ends = np.cumsum([len(run.scoring) for run in read])
    starts = np.concatenate([[0], ends[:-1]])
    tasks = (
        Task(targets=~runs.answerable, trained_on=np.ones(len(trajectories_used), np.bool_)),
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
            trajectories_used,
            lambda run: surroundings.of(run.question),
        ),
    )


def _seconds_a_step(
    head: Head[Any],
    fitted: Sequence[FittedHead[Any]],
    trajectories_used: Sequence[Trajectory],
    around: Callable[[Trajectory], Surroundings],
) -> float | None:
    """Return the mean time to read one step and to score both heads, as in a live run."""
    seconds, steps = 0.0, 0
    for run in trajectories_used:
        reading = head.read(run.question, around(run))
        for step in run.steps:
            committed = commitment(step, commit_on_error=run.agent.commit_on_error)
            started = time.perf_counter()
            reading.observe(step, committed)
            snapshot = reading.snapshot(SCORING_TOKENS)
            for fitted_head in fitted:
                fitted_head.score([snapshot])
            seconds += time.perf_counter() - started
            steps += 1
        if steps >= TIMED_STEPS:
            break
    return seconds / steps if steps else None


def _rival_scores(
    name: str,
    rival: Rival,
    trajectories_used: Sequence[Trajectory],
    runs: ComparedRuns,
    folds: Mapping[int, Ints],
) -> CandidateScores:
    """Score a rival, fitted like the correctness head on answers to answerable questions."""
    prefixes = [run.prefix(len(run.steps)) for run in trajectories_used]
    inputs = [
        rival.read(prefix) if answered else None
        for prefix, answered in zip(prefixes, runs.answered, strict=True)
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
