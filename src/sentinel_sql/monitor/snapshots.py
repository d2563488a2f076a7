"""Snapshots of recorded runs: every prefix is read once, for all folds and heads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentinel_sql.monitor.features.ten_features import FeatureState
from sentinel_sql.monitor.head import Bools, FittedHead, Floats, Head, JointHead
from sentinel_sql.monitor.surroundings import NOWHERE, Surroundings
from sentinel_sql.trajectory.record import Trajectory, commitment
from sentinel_sql.trajectory.render import SCORING_TOKENS, TRAINING_TOKENS, Commitment


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRun:
    """One run as a head and the features see it.

    Attributes:
        training: T + 1 head inputs, t = 0 … T, cut to the training limit.
        scoring: the same inputs cut to the scoring limit. Where a prefix is shorter than both
            limits, the two are one object.
        features: the ten features of the last prefix, shape (10,).
        committed: whether the run ends in an answer or an abstention; None at the step cap.
    """

    training: tuple[Any, ...]
    scoring: tuple[Any, ...]
    features: Floats
    committed: Commitment | None


def read_run(
    trajectory: Trajectory, *, head: Head[Any], surroundings: Surroundings = NOWHERE
) -> ReadRun:
    """Read a recorded run step by step, as a live session would."""
    question = trajectory.question
    surroundings = surroundings.of(question)
    reading = head.read(question, surroundings)
    state = FeatureState(question, surroundings)
    training, scoring = [reading.snapshot(TRAINING_TOKENS)], [reading.snapshot(SCORING_TOKENS)]
    committed: Commitment | None = None
    for step in trajectory.steps:
        committed = commitment(step, commit_on_error=trajectory.agent.commit_on_error)
        reading.observe(step, committed)
        state.observe(step, committed)
        training.append(reading.snapshot(TRAINING_TOKENS))
        scoring.append(reading.snapshot(SCORING_TOKENS))
    return ReadRun(
        training=tuple(training),
        scoring=tuple(scoring),
        features=state.vector(),
        committed=committed,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What one head learns from n runs.

    Attributes:
        targets: shape (n,).
        trained_on: shape (n,), the runs to fit on, with both classes.
        head: the kind to fit, with settings of this task alone; None for that of all heads.
    """

    targets: Bools
    trained_on: Bools
    head: Head[Any] | None = None


def fit_heads(
    head: Head[Any],
    runs: Sequence[ReadRun],
    tasks: Sequence[Task],
    *,
    templates: Sequence[str],
    seed: int,
) -> tuple[FittedHead[Any], ...]:
    """Fit one head for each task. The target of a snapshot is that of its run.

    Args:
        head: the kind of all heads.
        runs: n runs.
        tasks: what each head learns.
        templates: n template names.
        seed: of the fits.
    """
    sizes = [len(run.training) for run in runs]
    inputs = [snapshot for run in runs for snapshot in run.training]
    names = np.unique(np.asarray(templates), return_inverse=True)[1].astype(np.int64)
    groups = np.repeat(names, sizes)
    targets = [np.repeat(task.targets, sizes) for task in tasks]
    trained_on = [np.repeat(task.trained_on, sizes) for task in tasks]
    if isinstance(head, JointHead):
        return tuple(head.fit_jointly(inputs, targets, trained_on, groups=groups, seed=seed))
    return tuple(
        (task.head or head).fit(
            [snapshot for snapshot, kept in zip(inputs, on, strict=True) if kept],
            target[on],
            groups=groups[on],
            seed=seed,
        )
        for task, target, on in zip(tasks, targets, trained_on, strict=True)
    )


def score_prefixes(head: FittedHead[Any], runs: Iterable[ReadRun]) -> Floats:
    """Return the scores of all prefixes in the order of the runs, shape (P,)."""
    return head.score([snapshot for run in runs for snapshot in run.scoring])
