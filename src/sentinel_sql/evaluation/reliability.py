"""Do the confidences mean what they say: calibration before and after (paper appendix D)."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.evaluation.exhibit import Evidence, Exhibit
from sentinel_sql.evaluation.metrics import Bin, brier, ece, reliability_bins


@dataclass(frozen=True, kw_only=True)
class ReliabilityRow:
    """One confidence over all answers: its errors, and its reliability diagram.

    `confidence` and `accuracy` are means over the answers; None if there is no answer.
    """

    stage: str
    n: int
    confidence: float | None
    accuracy: float | None
    ece: float | None
    brier: float | None
    bins: tuple[Bin, ...]


def reliability(evidence: Evidence) -> Exhibit[ReliabilityRow]:
    """Compare the raw score of the delivery estimator with its calibrated confidence."""
    scores = evidence.scores
    answered = scores.answered
    target = scores.correct[answered]
    rows = []
    for stage, column in (("raw", scores.delivery_score), ("calibrated", scores.delivery)):
        confidence = column[answered]
        rows.append(
            ReliabilityRow(
                stage=stage,
                n=len(target),
                confidence=float(confidence.mean()) if len(target) else None,
                accuracy=float(target.mean()) if len(target) else None,
                ece=ece(target, confidence),
                brier=brier(target, confidence),
                bins=reliability_bins(target, confidence),
            )
        )
    return Exhibit(
        title="Calibration at delivery",
        note="Over all answers; ECE in ten equal-width bins. Lower is better.",
        rows=tuple(rows),
    )
