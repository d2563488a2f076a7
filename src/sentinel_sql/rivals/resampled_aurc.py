"""AURC with its template-cluster interval, over all resamples at once.

Scores that tie are delivered in a random order, so a group of w ties with e errors after N
answers with E errors adds Σ (E + (r − N)·e/w) / r over the ranks r = N + 1 … N + w, which harmonic
numbers sum without a loop.
"""

from __future__ import annotations

import numpy as np

from sentinel_sql.evaluation.bootstrap import LEVEL, Interval, Resampling
from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints

_BLOCK = 1_000_000
"""Most cells of a block of resamples; bounds the memory."""


def resampled_aurc(
    resampling: Resampling, target: Bools, score: Floats, where: Bools
) -> Interval | None:
    """Return the area under the risk–coverage curve, in [0, 1]; lower is better.

    Args:
        resampling: resamples of the N questions. If they are reweighted, counts are no integers
            and the result is None.
        target: shape (N,), right or not.
        score: shape (N,), higher is delivered first; NaN only outside `where`.
        where: shape (N,), the answers to use; without any, the result is None.
    """
    inside = np.flatnonzero(where)
    if len(inside) == 0 or resampling.reweighting is not None:
        return None
    inside = inside[np.argsort(-score[inside], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(score[inside]) != 0))
    wrong = ~target[inside]
    cluster = resampling.cluster[inside]
    # Harmonic numbers are needed up to the largest number of answers in a resample.
    answers = np.bincount(cluster, minlength=resampling.clusters)
    largest = int(max((resampling.counts @ answers).max(), len(inside)))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, largest + 1))])
    whole = _areas(np.ones((1, len(inside))), wrong, starts, harmonic)
    rows = max(1, _BLOCK // len(inside))
    drawn = np.concatenate(
        [
            _areas(counts[:, cluster], wrong, starts, harmonic)
            for counts in np.split(resampling.counts, np.arange(rows, len(resampling.counts), rows))
        ]
    )
    # Resamples without any of the answers are dropped.
    low, high = np.percentile(drawn[~np.isnan(drawn)], LEVEL)
    return Interval(estimate=float(whole[0]), low=float(low), high=float(high))


def _areas(weights: Floats, wrong: Bools, starts: Ints, harmonic: Floats) -> Floats:
    """Return the area of each row of integer weights, shape (B,); NaN where it is empty.

    The columns are the answers, the surest first; `starts` are those at which a new score begins.
    """
    size, errors = weights, weights * wrong
    if len(starts) < len(wrong):
        size, errors = (np.add.reduceat(column, starts, axis=1) for column in (size, errors))
    after = np.cumsum(size, axis=1)
    before, errors_before = after - size, np.cumsum(errors, axis=1) - errors
    rate = np.divide(errors, size, out=np.zeros_like(errors), where=size > 0)
    ranks = harmonic[after.astype(np.intp)]
    ranks[:, 1:] -= ranks[:, :-1].copy()
    area = errors + (errors_before - before * rate) * ranks
    total = after[:, -1]
    mean: Floats = np.divide(
        area.sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0
    )
    return mean
