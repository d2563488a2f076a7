"""Fits a monitor: heads on the train pool, maps and thresholds on the calibration pool.

Of the held-out pool, only question ids are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from sentinel_sql.arguments import checked
from sentinel_sql.decision.gate import TOLERANCE, gate_rule
from sentinel_sql.decision.payoff import STAKES_OF_RECORD
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import InputError
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.bundle import GENERAL, head_with
from sentinel_sql.monitor.calibration import fit_map
from sentinel_sql.monitor.calibration_choice import (
    Calibration,
    check_calibration,
    choose_map,
)
from sentinel_sql.monitor.delivery_estimator import (
    Delivery,
    FittedHybrid,
    choose_delivery,
    head_alone,
)
from sentinel_sql.monitor.drift.numbers import FACT as DRIFT
from sentinel_sql.monitor.drift.numbers import count_features
from sentinel_sql.monitor.families.table import COVERAGE, PROBES
from sentinel_sql.monitor.head import Bools, Floats, Head
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.session import Estimators, Monitor
from sentinel_sql.monitor.snapshots import read_run, score_prefixes
from sentinel_sql.monitor.thresholds import Certification
from sentinel_sql.pipeline.inputs import (
    AnyLabels,
    AnyPools,
    AnyRuns,
    labels_from,
    pools_from,
    runs_from,
)
from sentinel_sql.pipeline.learning.labelled_pool import (
    LabelledPool,
    require_classes,
    sort_by_pool,
)
from sentinel_sql.pipeline.learning.learn_heads import (
    Learned,
    LearnFrom,
    learn_heads,
    prior_monitor,
)
from sentinel_sql.pipeline.scoring import prefix_scores, surroundings_of
from sentinel_sql.trajectory.record import Trajectory

OnProgress = Callable[[int, int], None]
"""Called with (stages done, all stages)."""

STAGES = 4


@checked
def fit(
    trajectories: AnyRuns,
    pools: AnyPools,
    labels: AnyLabels | Mapping[str, Label],
    header: LabelsHeader | None = None,
    *,
    head: str | Head[Any] = "linear",
    prior: str | PathLike[str] | None = GENERAL,
    only_calibrate: bool = False,
    learn_from: LearnFrom = "better",
    seed: int = 42,
    stakes: Sequence[float] = STAKES_OF_RECORD,
    gate: bool | Literal["paper"] = True,
    gate_tolerance: float = TOLERANCE,
    calibration: Calibration = "chosen",
    certify: float = Certification().chance,
    certify_risk: float | None = None,
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
        prior: a monitor whose weights of committed answers the head `linear` draws its own
            towards, as far as held-out train templates say: "general", the packaged one, or a
            bundle; None for none. A prior that learned from this agent's runs is left out.
        only_calibrate: take the prior's heads as they are, and use the runs of both pools to
            calibrate them alone.
        learn_from: see `LearnFrom`; heads other than `linear` take "better" for "answerable".
        seed: seed of folds, heads and hybrid; equal inputs and seeds give equal monitors.
        stakes: the λ to freeze an early stop for.
        gate: True sets a gate if the calibration pool is large enough; False sets none; "paper"
            sets one by the paper's rule, for any pool.
        gate_tolerance: the largest share of answerable templates that the gate may stop, in (0, 1).
        calibration: the kind of the maps from scores to confidences; "chosen" takes the kind with
            the least log loss on held-out calibration templates. The map of answers to questions
            without an answer is always isotonic.
        certify: the largest chance that a certified bar's claim is false, in (0, 1).
        certify_risk: the largest share of delivering templates with a wrong answer that a
            certified bar may claim, in (0, 1); None for that at which deliveries earn what silence
            earns.
        on_progress: called with (stages done, all stages).

    Raises:
        InputError: a kind or the gate's rule is unknown, the head's settings can't be
            used, or the tolerance is no share.
        MissingExtraError: the extra of this kind of head isn't installed.
        PoolsError: the manifest doesn't know the question of a run.
        StoreError: the runs are of several agents, a run is there twice, or it contradicts itself.
        LabelsError: no run has a label, or the labels are of other runs. Single runs without a
            label or a verdict are left out and counted in the facts.
        CannotFitError: a pool has too few runs of a class.
    """
    kind = head_with(head, {}) if isinstance(head, str) else head
    if learn_from not in get_args(LearnFrom):
        raise InputError(f"learn_from is better, all or answerable, not {learn_from!r}")
    check_calibration(calibration)
    for name, share in (("certify", certify), ("certify_risk", certify_risk)):
        if share is not None and not 0.0 < share < 1.0:
            raise InputError(f"{name} lies between 0 and 1, not {share:g}")
    claim = Certification(chance=certify, risk=certify_risk)
    rule = gate_rule(gate, gate_tolerance)
    pools = pools_from(pools)
    header, labels = labels_from(labels, header)
    schema = header.schema if header.schema.tables else None
    surroundings = surroundings_of(header)
    agent, by_pool, left_out = sort_by_pool(runs_from(trajectories), pools, labels)
    other, why_none = prior_monitor(prior, kind, agent.fingerprint, required=only_calibrate)
    if only_calibrate and other is not None:
        kind = other.estimators.head
        by_pool = {"train": [], "calibration": [*by_pool["train"], *by_pool["calibration"]]}
    train, frozen_on = (
        LabelledPool.read(
            by_pool[name],
            labels=labels,
            pools=pools,
            reader=lambda run: read_run(run, head=kind, surroundings=surroundings),
        )
        for name in ("train", "calibration")
    )
    answered = frozen_on.answered
    needed = {
        "calibration": {
            "correctly answered": frozen_on.correct,
            "wrongly answered": answered & ~frozen_on.correct,
        },
    }
    if not only_calibrate:
        needed["train"] = {
            "answerable": train.answerable,
            "unanswerable": ~train.answerable,
            "correctly answered": train.correct,
            "wrongly answered": train.judged & ~train.correct,
        }
    require_classes(dict(reversed(needed.items())))
    on_progress(1, STAGES)
    if only_calibrate and other is not None:
        learned = Learned(
            answerability=other.estimators.answerability,
            correctness=other.estimators.correctness,
            hybrid=None,
            facts={"folds": 0, "learned_from": "none", "train_auroc_out_of_fold": None},
        )
    else:
        learned = learn_heads(kind, train, other, learn_from=learn_from, seed=seed)
    on_progress(2, STAGES)

    unanswerable = score_prefixes(learned.answerability, frozen_on.runs)
    correct = score_prefixes(learned.correctness, frozen_on.runs)
    at_delivery = correct[frozen_on.last][answered]
    features = frozen_on.features[answered]
    delivery = _choose_delivery(learned.hybrid, at_delivery, features, frozen_on.correct[answered])
    at_answers = delivery.score(at_delivery, features)
    groups = np.unique(frozen_on.templates, return_inverse=True)[1].astype(np.int64)
    prefix_map, of_prefixes = choose_map(
        correct,
        np.repeat(frozen_on.correct, frozen_on.sizes),
        np.repeat(groups, frozen_on.sizes),
        calibration=calibration,
        seed=seed,
    )
    delivery_map, of_answers = choose_map(
        at_answers,
        frozen_on.correct[answered],
        groups[answered],
        calibration=calibration,
        seed=seed,
    )
    estimators = Estimators(
        head=kind,
        answerability=learned.answerability,
        correctness=learned.correctness,
        delivery=delivery,
        prefix_map=prefix_map,
        delivery_map=delivery_map,
        unanswerable_map=fit_map(
            unanswerable[frozen_on.last][answered], ~frozen_on.answerable[answered]
        ),
        schema=schema,
        clock=header.clock,
        commit_on_error=agent.commit_on_error,
        max_steps=agent.max_steps,
        dialect=header.dialect,
        time_zone=header.time_zone,
    )
    on_progress(3, STAGES)

    learning = by_pool["train"] or by_pool["calibration"]
    scores = prefix_scores(estimators, by_pool["calibration"], pools=pools, labels=labels)
    thresholds = freeze(scores, stakes=stakes, gate=rule, tolerance=gate_tolerance)
    thresholds = thresholds.model_copy(update={"certification": claim})
    on_progress(4, STAGES)
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
            DRIFT: count_features(frozen_on.features),
            "schema_known": schema is not None,
            "probed": _reads(kind, PROBES) and _probed(learning),
            "covered": _reads(kind, COVERAGE) and _covered(learning),
            "versions": {name: version(name) for name in ("sentinel-sql", "numpy", "scikit-learn")},
            "runs": {name: len(by_pool[name]) for name in ("train", "calibration")},
            "unlabelled": left_out["unlabelled"],
            "unjudged": left_out["unjudged"],
            "prior": str(prior) if other is not None else f"none: {why_none}",
            "only_calibrated": only_calibrate,
            **learned.facts,
            "chosen": {
                "answerability": dict(learned.answerability.facts()),
                "correctness": dict(learned.correctness.facts()),
            },
            "calibration_auroc": frozen_on.aurocs(unanswerable, correct),
            "calibration_maps": {
                "prefixes": asdict(of_prefixes),
                "answers": asdict(of_answers),
            },
        },
    )


def _choose_delivery(
    hybrid: FittedHybrid | None, correctness: Floats, features: Floats, correct: Bools
) -> Delivery:
    if hybrid is None:
        return head_alone(correctness=correctness, correct=correct)
    return choose_delivery(hybrid, correctness=correctness, features=features, correct=correct)


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
