"""Payoffs of the monitor and its rivals under the same Chow rule, without a gate (ours)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.payoff import chow_bar, payoffs
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import RS_RANGE, RS_UNIT, SHARE, STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.monitor.prefix_scores import Bools, Floats, PrefixScores
from sentinel_sql.rivals.scores import (
    KIND,
    RIVAL,
    RivalKind,
    RivalScores,
    calibrated,
)


@dataclass(frozen=True, kw_only=True)
class RivalPayoffRow:
    """One confidence under Chow's rule at one λ, without a gate."""

    rival: Annotated[str, RIVAL]
    kind: Annotated[RivalKind, KIND]
    stakes: Annotated[float, STAKES]
    rs: Annotated[
        Interval | None,
        Column(
            "RS(λ) where each answer is delivered at or above λ/(1+λ)",
            unit=RS_UNIT,
            within=RS_RANGE,
        ),
    ]
    lead: Annotated[
        Interval | None,
        Column("RS(λ) of the delivery estimator minus this one's, same resamples", unit=RS_UNIT),
    ]
    coverage: Annotated[
        float | None, Column("share of questions that get an answer", unit="share", within=SHARE)
    ]
    accuracy: Annotated[
        float | None, Column("share of right ones among these", unit="share", within=SHARE)
    ]


def rival_payoffs(
    evidence: Evidence,
    calibration: PrefixScores,
    scored: Sequence[RivalScores],
    where: Bools | None = None,
) -> Exhibit[RivalPayoffRow]:
    """Apply Chow's rule to every confidence, without a gate; arguments as for `rivals`.

    A rival without a score for an answer has no RS, because its decision there is unknown.
    """
    inside = np.ones(len(evidence.scores), np.bool_) if where is None else where
    return Exhibit(
        title="What each confidence earns",
        note=(
            "RS(λ) under Chow's rule without a gate, each score calibrated alike. The first rows "
            "deliver all and withhold all answers."
        ),
        row=RivalPayoffRow,
        rows=tuple(_payoff_rows(evidence, calibration, scored, inside)),
    )


def _payoff_rows(
    evidence: Evidence,
    calibration: PrefixScores,
    scored: Sequence[RivalScores],
    inside: Bools,
) -> Iterator[RivalPayoffRow]:
    scores = evidence.scores
    confidences = [calibrated(calibration, rival) for rival in scored]
    for level in evidence.stakes:
        for name, decided in (
            ("deliver all", scores.answered),
            ("withhold all", np.zeros(len(scores), np.bool_)),
        ):
            yield _payoff_row(evidence, name, "reference", level, decided, None, inside)
        first: Bools | None = None
        for rival, confidence in zip(scored, confidences, strict=True):
            delivered: Bools | None = None
            if confidence is not None and not np.isnan(confidence[inside & scores.answered]).any():
                delivered = scores.answered & (
                    np.nan_to_num(confidence, nan=-1.0) >= chow_bar(level)
                )
            first = delivered if rival is scored[0] else first
            over = None if rival is scored[0] else first
            yield _payoff_row(evidence, rival.name, rival.kind, level, delivered, over, inside)


def _payoff_row(
    evidence: Evidence,
    name: str,
    kind: RivalKind,
    stakes: float,
    delivered: Bools | None,
    over: Bools | None,
    inside: Bools,
) -> RivalPayoffRow:
    scores, resampling = evidence.scores, evidence.resampling

    def earned(delivered: Bools) -> Floats:
        return payoffs(
            delivered=delivered,
            correct=scores.correct,
            answerable=scores.answerable,
            stakes=stakes,
        )

    rs = lead = coverage = accuracy = None
    if delivered is not None:
        rs = resampling.mean(earned(delivered), inside)
        coverage = evidence.mean(delivered, inside)
        accuracy = evidence.mean(scores.correct, inside & delivered)
        if over is not None:
            lead = resampling.mean(earned(over) - earned(delivered), inside)
    return RivalPayoffRow(
        rival=name,
        kind=kind,
        stakes=stakes,
        rs=rs,
        lead=lead,
        coverage=coverage,
        accuracy=accuracy,
    )
