"""Risk–coverage: the share of wrong answers when only the most confident are delivered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.payoff import chow_bar
from sentinel_sql.evaluation.column_meaning import SHARE, STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.metrics import RiskCoverage, risk_coverage
from sentinel_sql.monitor.prefix_scores import Floats

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MOST_POINTS = 400
"""Most points of a curve; ours: more than a figure can show."""

CONFIDENCE = Column(
    "what the answers are ordered by", within="delivery estimator or executed and not empty"
)
_RISK = "share of wrong answers when the most confident {} % or more of the answers are delivered"


def _risk_at(percent: int) -> Column:
    return Column(_RISK.format(percent), unit="share", within=SHARE)


@dataclass(frozen=True, kw_only=True)
class SelectiveRow:
    """One confidence: the area under its curve, and the risk at some coverages of the answers."""

    confidence: Annotated[str, CONFIDENCE]
    n: Annotated[int, Column("answers")]
    aurc: Annotated[
        float | None,
        Column("area under the risk–coverage curve, lower is better", within=SHARE),
    ]
    risk_at_10: Annotated[float | None, _risk_at(10)]
    risk_at_20: Annotated[float | None, _risk_at(20)]
    risk_at_30: Annotated[float | None, _risk_at(30)]
    risk_at_40: Annotated[float | None, _risk_at(40)]
    risk_at_50: Annotated[float | None, _risk_at(50)]
    risk_at_60: Annotated[float | None, _risk_at(60)]
    risk_at_70: Annotated[float | None, _risk_at(70)]
    risk_at_80: Annotated[float | None, _risk_at(80)]
    risk_at_90: Annotated[float | None, _risk_at(90)]
    risk_at_100: Annotated[float | None, _risk_at(100)]


@dataclass(frozen=True, kw_only=True)
class RiskCoverageRow:
    """One point of a risk–coverage curve, or the point of Chow's rule at a λ."""

    confidence: Annotated[str, CONFIDENCE]
    stakes: Annotated[
        float | None,
        Column("λ of Chow's rule; empty for a point of the sweep", within=STAKES.within),
    ]
    threshold: Annotated[
        float | None,
        Column("lowest score of a delivered answer; for Chow's rule its lowest confidence"),
    ]
    coverage: Annotated[
        float, Column("share of the answers that is delivered", unit="share", within=SHARE)
    ]
    risk: Annotated[
        float | None,
        Column("share of the delivered answers that is wrong", unit="share", within=SHARE),
    ]


def selective(evidence: Evidence) -> Exhibit[SelectiveRow]:
    """Compare the delivery estimator with the plain rule "executed and not empty"."""
    n = int(evidence.scores.answered.sum())
    rows = []
    for name, curve in _curves(evidence):
        at: list[float | None] = [None] * len(COVERAGES)
        if curve is not None:
            at = list(curve.risk[np.searchsorted(curve.coverage, COVERAGES)])
        rows.append(
            SelectiveRow(
                confidence=name,
                n=n,
                aurc=curve.aurc if curve else None,
                **{
                    f"risk_at_{share:.0%}"[:-1]: None if risk is None else float(risk)
                    for share, risk in zip(COVERAGES, at, strict=True)
                },
            )
        )
    return Exhibit(
        title="Risk and coverage",
        note="Share of wrong answers when only the most confident answers are delivered.",
        row=SelectiveRow,
        rows=tuple(rows),
    )


def risk_coverage_sweep(evidence: Evidence) -> Exhibit[RiskCoverageRow]:
    """Return the curves of the delivery estimator and of the plain rule, and the Chow points."""
    scores = evidence.scores
    rows = []
    for name, curve in _curves(evidence):
        if curve is None:
            continue
        rows += [
            RiskCoverageRow(
                confidence=name,
                stakes=None,
                threshold=float(curve.thresholds[point]),
                coverage=float(curve.coverage[point]),
                risk=float(curve.risk[point]),
            )
            for point in _choose_points(len(curve.risk))
        ]
    for level in evidence.stakes:
        delivered = evidence.replays["chow", level].delivered
        coverage = evidence.mean(delivered, scores.answered)
        if coverage is not None:
            rows.append(
                RiskCoverageRow(
                    confidence="delivery estimator",
                    stakes=level,
                    threshold=None if evidence.options.exact_bar else chow_bar(level),
                    coverage=coverage,
                    risk=evidence.mean(~scores.correct, delivered),
                )
            )
    return Exhibit(
        title="Risk–coverage sweep",
        note=(
            "All thresholds on the delivery score, and the point of the delivery bar at each λ. "
            "Coverage is the share of the answers, not of the questions."
        ),
        row=RiskCoverageRow,
        rows=tuple(rows),
    )


def _curves(evidence: Evidence) -> Iterator[tuple[str, RiskCoverage | None]]:
    scores = evidence.scores
    answered = scores.answered
    columns: tuple[tuple[str, Floats], ...] = (
        ("delivery estimator", scores.delivery_score),
        ("executed and not empty", scores.clean.astype(float)),
    )
    for name, column in columns:
        yield (
            name,
            risk_coverage(
                scores.correct[answered], column[answered], weights=evidence.weights[answered]
            ),
        )


def _choose_points(points: int) -> list[int]:
    if points <= MOST_POINTS:
        return list(range(points))
    return sorted(set(np.linspace(0, points - 1, MOST_POINTS).round().astype(int).tolist()))
