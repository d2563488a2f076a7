"""Compares the monitor with other ways to doubt an answer, on the same answers (ours).

The paper has no rivals. Here, each rival gives one raw score for each answer. Every score goes
through the same isotonic map, fitted on the calibration pool, and the same Chow rule without a
gate, so that rows differ only in their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.metrics import BINS, bin_of
from sentinel_sql.monitor.prefix_scores import Bools, Floats, PrefixScores
from sentinel_sql.rivals.resampled_aurc import resampled_aurc
from sentinel_sql.rivals.scores import KIND, RIVAL, RivalKind, RivalScores, calibrated


@dataclass(frozen=True, kw_only=True)
class RivalRow:
    """One confidence over the answers of a pool, ranked and calibrated."""

    rival: Annotated[str, RIVAL]
    kind: Annotated[RivalKind, KIND]
    n: Annotated[int, Column("answers that it has a score for")]
    unscored: Annotated[int, Column("answers that it has none for")]
    calibrated_on: Annotated[int, Column("answers of the calibration pool behind its map")]
    auroc: Annotated[
        Interval | None,
        Column("chance that a right answer outscores a wrong one, over all answers", within=SHARE),
    ]
    lead: Annotated[
        Interval | None,
        Column("AUROC of the delivery estimator minus this one's, same answers", within="[−1, 1]"),
    ]
    quiet: Annotated[
        Interval | None,
        Column("AUROC among clean answers: executed and not empty", within=SHARE),
    ]
    quiet_lead: Annotated[
        Interval | None,
        Column("lead of the delivery estimator among clean answers", within="[−1, 1]"),
    ]
    answerable: Annotated[
        Interval | None, Column("AUROC over answers to answerable questions", within=SHARE)
    ]
    quiet_answerable: Annotated[
        Interval | None, Column("the same among clean ones of these", within=SHARE)
    ]
    aurc: Annotated[
        Interval | None,
        Column("area under the risk–coverage curve, lower is better", within=SHARE),
    ]
    ece: Annotated[
        Interval | None, Column("expected calibration error of the mapped score", within=SHARE)
    ]
    seconds_a_step: Annotated[
        float | None, Column("its own time for all answers, a step of their runs", unit="seconds")
    ]
    tokens_a_step: Annotated[
        float | None, Column("tokens that a model read and wrote for it, a step", unit="tokens")
    ]
    missing: Annotated[str, Column("why it says nothing of some answers")]


def rivals(
    evidence: Evidence,
    calibration: PrefixScores,
    scored: Sequence[RivalScores],
    where: Bools | None = None,
) -> Exhibit[RivalRow]:
    """Rank and calibrate every confidence over the answers of the pool.

    Args:
        evidence: evidence of the evaluated pool, N runs.
        calibration: the calibration pool's columns, M runs.
        scored: the confidences, the delivery estimator's first.
        where: shape (N,), the runs to use; None for all.
    """
    inside = np.ones(len(evidence.scores), np.bool_) if where is None else where
    first = scored[0]
    return Exhibit(
        title="Rivals",
        note=(
            "Each raw score through the same isotonic map of the calibration pool. Quiet: among "
            "answers that executed and aren't empty. Lead: the delivery estimator's over it."
        ),
        row=RivalRow,
        rows=tuple(_row(evidence, calibration, rival, first, inside) for rival in scored),
    )


def _row(
    evidence: Evidence,
    calibration: PrefixScores,
    rival: RivalScores,
    first: RivalScores,
    inside: Bools,
) -> RivalRow:
    scores, resampling = evidence.scores, evidence.resampling
    answers = inside & scores.answered
    has_score = answers & ~np.isnan(rival.pool)
    confidence = calibrated(calibration, rival)
    gap = np.zeros(len(scores)) if confidence is None else confidence - scores.correct

    def auroc(where: Bools) -> Interval | None:
        return resampling.auroc(scores.correct, rival.pool, where)

    def lead(where: Bools) -> Interval | None:
        if rival is first:
            return None
        return resampling.auroc_lead(scores.correct, first.pool, rival.pool, where)

    return RivalRow(
        rival=rival.name,
        kind=rival.kind,
        n=int(has_score.sum()),
        unscored=int((answers & ~has_score).sum()),
        calibrated_on=int((calibration.answered & ~np.isnan(rival.calibration)).sum()),
        auroc=auroc(has_score),
        lead=lead(has_score),
        quiet=auroc(has_score & scores.clean),
        quiet_lead=lead(has_score & scores.clean),
        answerable=auroc(has_score & scores.answerable),
        quiet_answerable=auroc(has_score & scores.answerable & scores.clean),
        aurc=resampled_aurc(resampling, scores.correct, rival.pool, has_score),
        ece=(
            None
            if confidence is None
            else resampling.mean_gap(
                np.where(has_score, gap, 0.0),
                np.where(has_score, bin_of(np.where(has_score, confidence, 0.0)), 0),
                has_score,
                bins=BINS,
            )
        ),
        seconds_a_step=_cost_per_step(scores, rival.seconds, has_score),
        tokens_a_step=_cost_per_step(scores, rival.tokens, has_score),
        missing=rival.missing,
    )


def _cost_per_step(scores: PrefixScores, cost: Floats | None, has_score: Bools) -> float | None:
    """Return the cost of the answers divided by the steps of their runs; None if one is unknown."""
    steps = int(scores.steps[has_score].sum())
    if cost is None or steps == 0 or np.isnan(cost[has_score]).any():
        return None
    return float(cost[has_score].sum()) / steps
