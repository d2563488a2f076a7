"""The labelled runs of one pool as a head reads them, sorted and checked before a fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from sentinel_sql.errors import CannotFitError, LabelsError, StoreError
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.head import Bools, Floats, Ints
from sentinel_sql.monitor.snapshots import ReadRun
from sentinel_sql.pipeline.scoring import label_of
from sentinel_sql.questions.pools import PoolName, Pools
from sentinel_sql.trajectory.record import AgentInfo, Trajectory

FEWEST = 5
"""Fewest runs of each class for a fit (our choice: below it, a figure is a coincidence)."""


@dataclass(frozen=True, kw_only=True)
class LabelledPool:
    """The runs of one pool as a head reads them, with their labels in columns."""

    runs: list[ReadRun]
    templates: list[str]
    answerable: Bools
    correct: Bools

    @classmethod
    def read(
        cls,
        trajectories: Iterable[Trajectory],
        *,
        labels: Mapping[str, Label],
        pools: Pools,
        reader: Callable[[Trajectory], ReadRun],
    ) -> LabelledPool:
        """Read runs; errors are those of `label_of` and of the pools."""
        runs: list[ReadRun] = []
        templates: list[str] = []
        found: list[Label] = []
        for trajectory in trajectories:
            found.append(label_of(trajectory, labels))
            templates.append(pools.template_of(trajectory.question.id))
            runs.append(reader(trajectory))
        return cls(
            runs=runs,
            templates=templates,
            answerable=np.array([label.answerable for label in found], np.bool_),
            correct=np.array([label.correct is True for label in found], np.bool_),
        )

    @property
    def answered(self) -> Bools:
        """Whether each run committed an answer."""
        return np.array([run.committed == "answer" for run in self.runs], np.bool_)

    @property
    def judged(self) -> Bools:
        """Whether each run answered a question that has an answer."""
        return self.answered & self.answerable

    @property
    def features(self) -> Floats:
        """The ten features of each run's last prefix, shape (n, 10)."""
        return np.array([run.features for run in self.runs])

    @property
    def sizes(self) -> Ints:
        """The number of prefixes of each run."""
        return np.array([len(run.scoring) for run in self.runs], np.int64)

    @property
    def last(self) -> Ints:
        """The row of each run's last prefix among all prefixes."""
        return np.cumsum(self.sizes) - 1

    def aurocs(self, unanswerable: Floats, correct: Floats) -> dict[str, float | None]:
        """Return the AUROC of both heads for scores of all prefixes; None with one class."""
        last, on = self.last, self.judged
        return {
            "answerability": auroc(~self.answerable, unanswerable[last]),
            "answerability_at_0": auroc(~self.answerable, unanswerable[last - self.sizes + 1]),
            "correctness": auroc(self.correct[on], correct[last][on]),
        }


def auroc(targets: Bools, scores: Floats) -> float | None:
    """Return the AUROC, or None with one class."""
    return float(roc_auc_score(targets, scores)) if 0 < targets.sum() < len(targets) else None


def sort_by_pool(
    trajectories: Iterable[Trajectory], pools: Pools, labels: Mapping[str, Label]
) -> tuple[AgentInfo, Mapping[PoolName, list[Trajectory]], Counter[str]]:
    """Return the agent, its runs to fit on by pool, and how many runs were left out, by reason.

    Raises:
        PoolsError, StoreError, LabelsError: as in `fit`.
    """
    by_pool: dict[PoolName, list[Trajectory]] = {"train": [], "calibration": []}
    agents: dict[str, AgentInfo] = {}
    seen: set[str] = set()
    unknown: list[str] = []
    left_out: Counter[str] = Counter()
    for trajectory in trajectories:
        name = trajectory.question.id
        agents[trajectory.agent.fingerprint] = trajectory.agent
        if name in seen:
            raise StoreError(f"run {name} is in the store twice: give each run its own id")
        seen.add(name)
        if name not in pools:
            unknown.append(name)
        elif (pool := pools.pool_of(name)) in by_pool:
            label = labels.get(name)
            if label is None or label.without_verdict:
                left_out["unlabelled" if label is None else "unjudged"] += 1
            else:
                by_pool[pool].append(trajectory)
    pools.require(unknown)
    if len(agents) > 1:
        raise StoreError(
            f"the store holds runs of {len(agents)} agents ({'; '.join(sorted(agents))}): "
            "a monitor is for one agent, so keep one store for each"
        )
    if not agents:
        raise StoreError("the store holds no run: collect or import some first")
    if left_out and not any(by_pool.values()):
        raise LabelsError(
            f"none of the {left_out.total()} runs to fit on has a label with a verdict: label this "
            "store with `sentinel label`"
        )
    return next(iter(agents.values())), by_pool, left_out


def require_classes(needed: Mapping[str, Mapping[str, Bools]]) -> None:
    """Check that a pool has enough runs of each kind.

    Args:
        needed: for each pool by name, masks of its runs by kind.

    Raises:
        CannotFitError: it has too few of a kind.
    """
    for pool, needs in needed.items():
        counts = {name: int(mask.sum()) for name, mask in needs.items()}
        if min(counts.values()) < FEWEST:
            classes = ", ".join(f"{count} {name}" for name, count in counts.items())
            raise CannotFitError(
                f"the {pool} pool has too few runs of a kind ({classes}; {FEWEST} of each are "
                "needed): collect more runs"
            )
