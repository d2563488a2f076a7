"""Average precision (area under the precision-recall curve) over template-cluster resamples."""

from __future__ import annotations

import numpy as np

from sentinel_sql.evaluation.bootstrap import LEVEL, Interval, Resampling
from sentinel_sql.monitor.prefix_scores import Bools, Floats

_BLOCK = 4_000_000
"""Largest number of weights in memory at once."""


def average_precision(
    resampling: Resampling, target: Bools, score: Floats, where: Bools
) -> Interval | None:
    """Return Σ (recall gained × precision) over falling scores; tied scores count as one.

    Args:
        resampling: the draws. With reweighting, each question has its weight in every draw.
        target: shape (N,), True for the class to find.
        score: shape (N,), higher for that class; NaN only outside `where`.
        where: shape (N,).

    Returns:
        None if one of both classes is missing in `where`.
    """
    inside = np.flatnonzero(where)
    if not target[inside].any() or target[inside].all():
        return None
    inside = inside[np.argsort(-score[inside], kind="stable")]
    hit = target[inside].astype(np.float64)
    last = np.flatnonzero(np.append(np.diff(score[inside]) != 0, [True]))
    own = resampling.weights[inside]
    estimate = float(_falling(own[np.newaxis], hit, last)[0])
    drawn = np.empty(len(resampling.counts))
    rows = max(1, _BLOCK // len(inside))
    for start in range(0, len(drawn), rows):
        counts = resampling.counts[start : start + rows]
        weights = counts[:, resampling.cluster[inside]] * own
        drawn[start : start + rows] = _falling(weights, hit, last)
    usable = drawn[~np.isnan(drawn)]
    if not len(usable):
        return None
    low, high = np.percentile(usable, LEVEL)
    return Interval(estimate=estimate, low=float(low), high=float(high))


def _falling(weights: Floats, hit: Floats, last: np.ndarray) -> Floats:
    """Return the average precision of each row of weights; NaN without a case to find."""
    found = np.cumsum(weights * hit, axis=1)[:, last]
    flagged = np.cumsum(weights, axis=1)[:, last]
    total = found[:, -1:]
    gained = np.diff(found, axis=1, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precise = np.where(flagged > 0, found / flagged, 0.0)
        averaged = (gained * precise).sum(axis=1) / total[:, 0]
    return np.asarray(np.where(total[:, 0] > 0, averaged, np.nan))
