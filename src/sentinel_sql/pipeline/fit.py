"""Fits a monitor: heads on the train pool, maps and thresholds on the calibration pool.

Of the held-out pool, only question ids are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from sklearn.metrics import roc_auc_score

from sentinel_sql.arguments import checked
from sentinel_sql.decision.gate import TOLERANCE, gate_rule
from sentinel_sql.decision.payoff import STAKES_OF_RECORD
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import CannotFitError, LabelsError, StoreError
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.bundle import head_with
from sentinel_sql.monitor.calibration import fit_map
from sentinel_sql.monitor.crossfit import assign_folds, out_of_fold
from sentinel_sql.monitor.delivery_estimator import (
    choose_delivery,
    fit_hybrid,
    hybrid_inputs,
)
from sentinel_sql.monitor.families.table import COVERAGE, PROBES
from sentinel_sql.monitor.head import Bools, Floats, Head, Ints
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.session import Estimators, Monitor
from sentinel_sql.monitor.snapshots import ReadRun, Task, fit_heads, read_run, score_prefixes
from sentinel_sql.pipeline.inputs import (
    AnyLabels,
    AnyPools,
    AnyRuns,
    labels_from,
    pools_from,
    runs_from,
)
from sentinel_sql.pipeline.scoring import label_of, prefix_scores, surroundings_of
from sentinel_sql.questions.pools import PoolName, Pools
from sentinel_sql.trajectory.record import AgentInfo, Trajectory

FEWEST = 5
"""Fewest runs of each class for a fit (our choice: below it, a figure is a coincidence)."""

OnProgress = Callable[[int, int], None]
"""Called with (stages done, all stages)."""

STAGES = 5


@checked
def fit(
    trajectories: AnyRuns,
    pools: AnyPools,
    labels: AnyLabels | Mapping[str, Label],
    header: LabelsHeader | None = None,
    *,
    head: str | Head[Any] = "linear",
    seed: int = 42,
    stakes: Sequence[float] = STAKES_OF_RECORD,
    gate: bool | Literal["paper"] = True,
    gate_tolerance: float = TOLERANCE,
    on_progress: OnProgress = lambda done, total: None,  # noqa: ARG005
) -> Monitor:
    """Fit a monitor on the runs of one agent, frozen on the calibration pool.

    Args:
        trajectories: the store's runs, the store, or its path; held-out runs are ignored.
        pools: the manifest, or its path; every run's question must be in it.
        labels: what `label_runs` or `read_labels` returned, or the file's path; or labels by run
            id, with their header. If the schema holds no tables, failed_refs and bad_joins keep
            their defaults, and the monitor's facts say so.
        header: header of labels by run id, with judge, clock and schema; otherwise None.
        head: a kind of head: a name of `HEADS`, or a head with settings.
        seed: seed of folds, heads and hybrid; equal inputs and seeds give equal monitors.
        stakes: the λ to freeze an early stop for.
        gate: True sets a gate if the calibration pool is large enough; False sets none; "paper"
            sets one by the paper's rule, for any pool.
        gate_tolerance: the largest share of answerable templates that the gate may stop, in (0, 1).
        on_progress: called with (stages done, all stages).

    Raises:
        InputError: the kind of head or the gate's rule is unknown, the head's settings can't be
            used, or the tolerance is no share.
        MissingExtraError: the extra of this kind of head isn't installed.
        PoolsError: the manifest doesn't know the question of a run.
        StoreError: the runs are of several agents, a run is there twice, or it contradicts itself.
        LabelsError: no run has a label, or the labels are of other runs. Single runs without a
            label or a verdict are left out and counted in the facts.
        CannotFitError: a pool has too few runs of a class.
    """
    kind = head_with(head, {}) if isinstance(head, str) else head
    rule = gate_rule(gate, gate_tolerance)
    pools = pools_from(pools)
    header, labels = labels_from(labels, header)
    schema = header.schema if header.schema.tables else None
    surroundings = surroundings_of(header)
    agent, by_pool, left_out = _sort_by_pool(runs_from(trajectories), pools, labels)
    train, calibration = (
        _Pool.read(
            by_pool[name],
            labels=labels,
            pools=pools,
            reader=lambda run: read_run(run, head=kind, surroundings=surroundings),
        )
        for name in ("train", "calibration")
    )
    _require_classes(train, calibration)
    on_progress(1, STAGES)

    folds = assign_folds(
        templates=train.templates,
        strata=train.answerable + 2 * train.answered + 4 * train.correct,
        needed=(train.answerable, ~train.answerable, train.correct, train.judged & ~train.correct),
        seed=seed,
    )
    all_runs = np.ones(len(train.runs), np.bool_)
    tasks = (
        Task(targets=~train.answerable, trained_on=all_runs),
        Task(targets=train.correct, trained_on=train.judged),
    )
    unanswerable_oof, correct_oof = out_of_fold(
        kind, train.runs, tasks, templates=train.templates, folds=folds, seed=seed
    )
    on_progress(2, STAGES)

    answerability, correctness = fit_heads(
        kind, train.runs, tasks, templates=train.templates, seed=seed
    )
    hybrid = fit_hybrid(
        hybrid_inputs(correct_oof[train.last], train.features)[train.answered],
        train.correct[train.answered],
        seed=seed,
    )
    on_progress(3, STAGES)

    answered = calibration.answered
    unanswerable = score_prefixes(answerability, calibration.runs)
    correct = score_prefixes(correctness, calibration.runs)
    at_delivery = correct[calibration.last][answered]
    features = calibration.features[answered]
    delivery = choose_delivery(
        hybrid,
        correctness=at_delivery,
        features=features,
        correct=calibration.correct[answered],
    )
    estimators = Estimators(
        head=kind,
        answerability=answerability,
        correctness=correctness,
        delivery=delivery,
        prefix_map=fit_map(correct, np.repeat(calibration.correct, calibration.sizes)),
        delivery_map=fit_map(delivery.score(at_delivery, features), calibration.correct[answered]),
        unanswerable_map=fit_map(
            unanswerable[calibration.last][answered], ~calibration.answerable[answered]
        ),
        schema=schema,
        clock=header.clock,
        commit_on_error=agent.commit_on_error,
        max_steps=agent.max_steps,
        dialect=header.dialect,
        time_zone=header.time_zone,
    )
    on_progress(4, STAGES)

    scores = prefix_scores(estimators, by_pool["calibration"], pools=pools, labels=labels)
    thresholds = freeze(scores, stakes=stakes, gate=rule, tolerance=gate_tolerance)
    on_progress(5, STAGES)
    return Monitor(
        estimators=estimators,
        agent=agent.fingerprint,
        thresholds=thresholds,
        calibration=scores.with_hashed_templates(),
        facts={
            "judge": header.judge,
            "mode": header.mode,
            "database": header.database,
            "seed": seed,
            "pools_sha256": pools.sha256,
            "schema_known": schema is not None,
            "probed": _reads(kind, PROBES) and _probed(by_pool["train"]),
            "covered": _reads(kind, COVERAGE) and _covered(by_pool["train"]),
            "versions": {name: version(name) for name in ("sentinel-sql", "numpy", "scikit-learn")},
            "runs": {name: len(by_pool[name]) for name in ("train", "calibration")},
            "unlabelled": left_out["unlabelled"],
            "unjudged": left_out["unjudged"],
            "folds": int(folds.max()) + 1,
            "chosen": {
                "answerability": dict(answerability.facts()),
                "correctness": dict(correctness.facts()),
            },
            "train_auroc_out_of_fold": train.aurocs(unanswerable_oof, correct_oof),
            "calibration_auroc": calibration.aurocs(unanswerable, correct),
        },
    )


def _reads(head: Head[Any], family: str) -> bool:
    return isinstance(head, LinearHead) and family in head.families


def _covered(runs: Sequence[Trajectory]) -> bool:
    """Return whether most runs have a coverage record: a live run then needs one."""
    return 2 * sum(run.question.coverage is not None for run in runs) > len(runs)


def _probed(runs: Sequence[Trajectory]) -> bool:
    """Return whether most runs with executed queries have probes: a live run then needs them."""
    ran = [run for run in runs if any(x.observation.kind in ("rows", "empty") for x in run.steps)]
    with_some = sum(any(x.observation.probes is not None for x in run.steps) for run in ran)
    return 2 * with_some > len(ran)


@dataclass(frozen=True, kw_only=True)
class _Pool:
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
    ) -> _Pool:
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
        return np.array([run.committed == "answer" for run in self.runs], np.bool_)

    @property
    def judged(self) -> Bools:
        return self.answered & self.answerable

    @property
    def features(self) -> Floats:
        return np.array([run.features for run in self.runs])

    @property
    def sizes(self) -> Ints:
        return np.array([len(run.scoring) for run in self.runs], np.int64)

    @property
    def last(self) -> Ints:
        return np.cumsum(self.sizes) - 1

    def aurocs(self, unanswerable: Floats, correct: Floats) -> dict[str, float | None]:
        last, on = self.last, self.judged
        return {
            "answerability": _auroc(~self.answerable, unanswerable[last]),
            "answerability_at_0": _auroc(~self.answerable, unanswerable[last - self.sizes + 1]),
            "correctness": _auroc(self.correct[on], correct[last][on]),
        }


def _auroc(targets: Bools, scores: Floats) -> float | None:
    return float(roc_auc_score(targets, scores)) if 0 < targets.sum() < len(targets) else None


def _sort_by_pool(
    trajectories: Iterable[Trajectory], pools: Pools, labels: Mapping[str, Label]
) -> tuple[AgentInfo, Mapping[PoolName, list[Trajectory]], Counter[str]]:
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


def _require_classes(train: _Pool, calibration: _Pool) -> None:
    judged, delivered = train.judged, calibration.answered
    for pool, needs in {
        "train": {
            "answerable": train.answerable,
            "unanswerable": ~train.answerable,
            "correctly answered": train.correct,
            "wrongly answered": judged & ~train.correct,
        },
        "calibration": {
            "correctly answered": calibration.correct,
            "wrongly answered": delivered & ~calibration.correct,
        },
    }.items():
        counts = {name: int(mask.sum()) for name, mask in needs.items()}
        if min(counts.values()) < FEWEST:
            classes = ", ".join(f"{count} {name}" for name, count in counts.items())
            raise CannotFitError(
                f"the {pool} pool has too few runs of a kind ({classes}; {FEWEST} of each are "
                "needed): collect more runs"
            )
