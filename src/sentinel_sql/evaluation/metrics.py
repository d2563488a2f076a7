"""How good a confidence is, in one number or one curve; None where it can't be said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints

BINS = 10
"""Equal-width bins of the calibration error (paper appendix D)."""


@dataclass(frozen=True, kw_only=True)
class RiskCoverage:
    """Selective risk when all that score at least a threshold are delivered.

    Attributes:
        thresholds: the K distinct scores, falling.
        coverage: shape (K,), share delivered, rising to 1.
        risk: shape (K,), share of the delivered that is wrong.
        aurc: area under the curve, in [0, 1]; lower is better. Ties count as a random order.
    """

    thresholds: Floats
    coverage: Floats
    risk: Floats
    aurc: float


def auroc(target: Bools, score: Floats) -> float | None:
    """Return the chance that a positive outscores a negative, ties half; None for one class."""
    if target.all() or not target.any():
        return None
    from sklearn.metrics import roc_auc_score  # a table is read without it

    return float(roc_auc_score(target, score))


def risk_coverage(
    target: Bools, score: Floats, *, weights: Floats | None = None
) -> RiskCoverage | None:
    """Return the risk–coverage curve of a score; None if there is no case.

    Args:
        target: shape (n,), right or not.
        score: shape (n,), higher is delivered first.
        weights: shape (n,), positive; each case counts as much as it weighs. All the same if None.
    """
    if len(target) == 0:
        return None
    weights = np.ones(len(target)) if weights is None else weights
    thresholds, first = np.unique(-score, return_inverse=True)
    n = np.bincount(first, weights=weights)
    wrong = np.bincount(first, weights=weights * ~target)
    delivered, errors = np.cumsum(n), np.cumsum(wrong)
    # Within a tie the errors grow evenly, as they do on average over its orders.
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
