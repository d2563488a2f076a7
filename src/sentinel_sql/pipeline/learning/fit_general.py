"""Fits the general monitor: named features of several agents' runs, for agents without any.

It reads no n-grams and keeps no words, so that nothing in it is of one database. Of the held-out
pool, nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np

from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.calibration import fit_map
from sentinel_sql.monitor.crossfit import assign_folds, out_of_fold
from sentinel_sql.monitor.delivery_estimator import head_alone
from sentinel_sql.monitor.families.table import COVERAGE, DEFAULT_FAMILIES
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Estimators, Monitor
from sentinel_sql.monitor.snapshots import Task, fit_heads, read_run
from sentinel_sql.monitor.thresholds import Gate, Thresholds
from sentinel_sql.pipeline.learning.labelled_pool import LabelledPool, require_classes, sort_by_pool
from sentinel_sql.pipeline.scoring import surroundings_of
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.record import Trajectory

FAMILIES = tuple(name for name in DEFAULT_FAMILIES if name != COVERAGE)
"""The families it reads; that of coverage weighs words of the fit's own questions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRuns:
    """The labelled runs of one agent.

    Attributes:
        runs: all of one agent.
        labels: by run id.
        header: of the labels.
        pools: the pools of their questions.
    """

    runs: Iterable[Trajectory]
    labels: Mapping[str, Label]
    header: LabelsHeader
    pools: Pools


def fit_general(agents: Sequence[AgentRuns], *, seed: int = 42) -> Monitor:
    """Fit both heads on the runs of all agents, from train and calibration pools.

    Its maps are of these agents, so it is marked as uncalibrated: its confidences rank.

    Raises:
        CannotFitError: there are too few runs of a kind.
        PoolsError, StoreError, LabelsError: as in `fit`.
    """
    kind = LinearHead(families=FAMILIES, ngrams=False)
    parts: list[LabelledPool] = []
    fingerprints: list[str] = []
    for each in agents:
        agent, by_pool, _ = sort_by_pool(each.runs, each.pools, each.labels)
        fingerprints.append(agent.fingerprint)
        parts.append(
            LabelledPool.read(
                [*by_pool["train"], *by_pool["calibration"]],
                labels=each.labels,
                pools=each.pools,
                reader=partial(read_run, head=kind, surroundings=surroundings_of(each.header)),
            )
        )
    pool = LabelledPool(
        runs=[run for part in parts for run in part.runs],
        templates=[name for part in parts for name in part.templates],
        answerable=np.concatenate([part.answerable for part in parts]),
        correct=np.concatenate([part.correct for part in parts]),
    )
    answered = pool.answered
    require_classes(
        {
            "train": {
                "answerable": pool.answerable,
                "unanswerable": ~pool.answerable,
                "correctly answered": pool.correct,
                "wrongly answered": answered & ~pool.correct,
            }
        }
    )
    tasks = (
        Task(targets=~pool.answerable, trained_on=np.ones(len(pool.runs), np.bool_)),
        Task(targets=pool.correct, trained_on=answered),
    )
    folds = assign_folds(
        templates=pool.templates,
        strata=pool.answerable + 2 * answered + 4 * pool.correct,
        needed=(pool.answerable, ~pool.answerable, pool.correct, answered & ~pool.correct),
        seed=seed,
    )
    unanswerable, correct = out_of_fold(
        kind, pool.runs, tasks, templates=pool.templates, folds=folds, seed=seed
    )
    answerability, correctness = fit_heads(
        kind, pool.runs, tasks, templates=pool.templates, seed=seed
    )
    last = pool.last[answered]
    return Monitor(
        estimators=Estimators(
            head=kind,
            answerability=answerability,
            correctness=correctness,
            delivery=head_alone(correctness=correct[last], correct=pool.correct[answered]),
            prefix_map=fit_map(correct, np.repeat(pool.correct, pool.sizes)),
            delivery_map=fit_map(correct[last], pool.correct[answered]),
            unanswerable_map=fit_map(unanswerable[last], ~pool.answerable[answered]),
            schema=None,
            clock=None,
        ),
        agent="any",
        thresholds=Thresholds(
            gate=Gate(theta=None, rule="none", answerable=0, stopped=0),
            early_stops=(),
            calibrated=False,
        ),
        calibration=PrefixScores.empty(),
        facts={
            "agents": fingerprints,
            "seed": seed,
            "schema_known": False,
            "probed": False,
            "covered": False,
            "versions": {name: version(name) for name in ("sentinel-sql", "numpy", "scikit-learn")},
            "runs": {"train": len(pool.runs), "calibration": 0},
            "answers": int(answered.sum()),
            "folds": int(folds.max()) + 1,
            "chosen": {
                "answerability": dict(answerability.facts()),
                "correctness": dict(correctness.facts()),
            },
            "train_auroc_out_of_fold": pool.aurocs(unanswerable, correct),
        },
    )
