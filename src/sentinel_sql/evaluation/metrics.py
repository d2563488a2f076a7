"""Metrics of a confidence. They are None where they aren't defined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints

BINS = 10
"""Equal-width bins of the calibration error (paper appendix D)."""


@dataclass(frozen=True, kw_only=True)
class RiskCoverage:
    """Selective risk when all answers with a score of at least a threshold are delivered.

    Attributes:
        thresholds: the K distinct scores, descending.
        coverage: shape (K,), share of answers delivered, ascending to 1.
        risk: shape (K,), share of wrong answers among those delivered.
        aurc: area under the curve, in [0, 1]; lower is better. Ties count as a random order.
    """

    thresholds: Floats
    coverage: Floats
    risk: Floats
    aurc: float


def auroc(target: Bools, score: Floats) -> float | None:
    """Return the probability that a positive outscores a negative; None for one class.

    A tie counts one half.
    """
    if target.all() or not target.any():
        return None
    from sklearn.metrics import roc_auc_score  # a table is read without it

    return float(roc_auc_score(target, score))


def risk_coverage(
    target: Bools, score: Floats, *, weights: Floats | None = None
) -> RiskCoverage | None:
    """Return the risk–coverage curve of a score; None without an answer.

    Args:
        target: shape (n,), True for a right answer.
        score: shape (n,); answers with a higher score are delivered first.
        weights: shape (n,), positive; equal if None.
    """
    if len(target) == 0:
        return None
    weights = np.ones(len(target)) if weights is None else weights
    thresholds, first = np.unique(-score, return_inverse=True)
    n = np.bincount(first, weights=weights)
    wrong = np.bincount(first, weights=weights * ~target)
    delivered, errors = np.cumsum(n), np.cumsum(wrong)
    # Within a tie, errors are spread evenly: their average over all orders of the tie.
    weight = weights[np.argsort(first, kind="stable")]
    rank = np.cumsum(weight)
    expected = np.interp(rank, np.append(0.0, delivered), np.append(0.0, errors))
    return RiskCoverage(
        thresholds=-thresholds,
        coverage=np.minimum(delivered / delivered[-1], 1.0),
        risk=np.minimum(errors / delivered, 1.0),
        aurc=float(np.sum(weight * expected / rank) / rank[-1]),
    )


def bin_of(confidence: Floats) -> Ints:
    """Return the bin of each confidence in [0, 1], 0 … 9; NaN falls into the last."""
    confidence = np.nan_to_num(confidence, nan=1.0)
    return np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
