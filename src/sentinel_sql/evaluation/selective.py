"""Risk–coverage: what share of answers is wrong when only the most confident are delivered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.evaluation.exhibit import Evidence, Exhibit
from sentinel_sql.evaluation.metrics import risk_coverage

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, kw_only=True)
class SelectiveRow:
    """One confidence: its area under the curve, and the least risk that reaches a coverage.

    `risk` holds one value for each of `coverage`: the risk at the highest threshold that
    delivers at least that share of the answers. Everything is of answers, not of questions.
    """

    confidence: str
    n: int
    aurc: float | None
    coverage: tuple[float, ...]
    risk: tuple[float, ...] | None


def selective(evidence: Evidence) -> Exhibit[SelectiveRow]:
    """Compare the delivery estimator with the plain rule "executed and not empty"."""
    scores = evidence.scores
    answered = scores.answered
    target = scores.correct[answered]
    rows = []
    for name, column in (
        ("delivery estimator", scores.delivery_score),
        ("executed and not empty", scores.clean.astype(float)),
    ):
        curve = risk_coverage(target, column[answered])
        rows.append(
            SelectiveRow(
                confidence=name,
                n=len(target),
                aurc=curve.aurc if curve else None,
                coverage=COVERAGES,
                risk=(
                    tuple(curve.risk[np.searchsorted(curve.coverage, COVERAGES)].tolist())
                    if curve
                    else None
                ),
            )
        )
    return Exhibit(
        title="Risk and coverage",
        note="Share of wrong answers when the most confident answers alone are delivered.",
        rows=tuple(rows),
    )
