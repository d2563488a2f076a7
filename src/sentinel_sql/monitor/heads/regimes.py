"""Two small logistic regressions over dense features: of open prefixes, and of answers.

What a feature says of a run under way isn't what it says of a committed answer, so each regime
has weights of its own. A feature that a prefix doesn't show is put to its mean, so that it counts
neither way. A regime takes the dense features in only where they lower the loss on templates that
it hasn't seen by more than chance would; else the n-gram margin stands alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from sentinel_sql.monitor.head import Bools, Floats, Ints

GRID = (0.003, 0.01, 0.03, 0.1)
"""Weights of the data against the regularisation that fitting chooses from (ours)."""

INNER_FOLDS = 4
FEWEST = 8
"""Snapshots of each class without which a regime isn't fitted (ours)."""

NOTICEABLE = 1.0
"""Standard errors, over templates, by which the dense features must lower the loss (ours)."""

CLIP = 4.0
"""Standard deviations beyond which a value counts as this far (ours: no outlier rules alone)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedRegime:
    """Log-odds as a weighted sum of standardized columns; the first is the n-gram margin.

    Attributes:
        center, scale: shape (d,), of the training snapshots that showed the column.
        weights: shape (d,), 0 for columns that never varied.
        bias: the log-odds of an average snapshot.
        tightness: the weight of the data against the regularisation; 0 where the n-gram margin
            stands alone.
    """

    center: Floats
    scale: Floats
    weights: Floats
    bias: float
    tightness: float

    def terms(self, columns: Floats) -> Floats:
        """Return what each column adds to the log-odds, for one snapshot, shape (d,)."""
        return np.asarray(self.weights * standardized(columns, self.center, self.scale))

    def slope(self, columns: Floats) -> float:
        """Return what the log-odds gain for each unit of the n-gram margin; 0 past the clip."""
        if abs(columns[0] - self.center[0]) > CLIP * self.scale[0]:
            return 0.0
        return float(self.weights[0] / self.scale[0])

    def margin(self, columns: Floats) -> float:
        """Return the log-odds of one snapshot with columns of shape (d,)."""
        return float(np.sum(self.terms(columns))) + self.bias


def standardized(columns: Floats, center: Floats, scale: Floats) -> Floats:
    """Return columns as clipped standard scores; 0 where unseen. Shape (d,) or (n, d)."""
    scores = np.clip((columns - center) / scale, -CLIP, CLIP)
    return np.where(np.isnan(scores), 0.0, scores)


def fit_regime(
    columns: Floats,
    targets: Bools,
    groups: Ints,
    weights: Floats,
    *,
    grid: Sequence[float] = GRID,
    noticeable: float = NOTICEABLE,
    seed: int,
) -> FittedRegime:
    """Fit one regime; templates never stand on both sides of what it chooses by.

    Args:
        columns: shape (n, d); the first is an out-of-fold n-gram margin, NaN means unseen.
        targets: shape (n,).
        groups: shape (n,), the template of each snapshot.
        weights: shape (n,), how much each snapshot counts.
        grid: what to choose the regularisation of the dense features from.
        noticeable: standard errors by which they must lower the loss to be taken in.
        seed: of the inner folds.

    With fewer than 8 snapshots of a class, or where a margin that stands alone points the wrong
    way, the n-gram margin is taken as it is.
    """
    if min(targets.sum(), (~targets).sum()) < FEWEST:
        return _untouched(columns.shape[1])
    center, scale = _scaling(columns)
    scores = standardized(columns, center, scale)
    # The matrices are small: threads would wait for each other longer than they work.
    with threadpool_limits(limits=1):
        tightness = _chosen(scores, targets, groups, weights, grid, noticeable, seed)
        used = _used(scale, tightness)
        slopes, bias = _fitted(scores[:, used], targets, weights, tightness)
    if tightness == 0.0 and slopes[0] == 0.0:
        # Nothing else is there to rank by.
        return _untouched(columns.shape[1])
    learned = np.zeros(columns.shape[1])
    learned[used] = slopes
    return FittedRegime(
        center=center,
        scale=scale,
        weights=learned,
        bias=bias,
        tightness=tightness,
    )


def _untouched(width: int) -> FittedRegime:
    alone = np.zeros(width)
    alone[0] = 1.0
    return FittedRegime(
        center=np.zeros(width),
        scale=np.where(alone > 0, 1.0, np.inf),
        weights=alone,
        bias=0.0,
        tightness=0.0,
    )


def inner_folds(targets: Bools, groups: Ints, seed: int) -> list[tuple[Ints, Ints]]:
    """Return up to four (fitted on, held) pairs, no template on both sides.

    Both classes are in each fitted part; none where templates are too few for that.
    """
    per_class = min(len(np.unique(groups[targets])), len(np.unique(groups[~targets])))
    folds = min(INNER_FOLDS, per_class)
    if folds < 2:
        return []
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    pairs = [(a, b) for a, b in splitter.split(targets, targets, groups) if len(b)]
    whole = all(0 < targets[a].sum() < len(a) for a, _ in pairs)
    return pairs if whole and len(pairs) > 1 else []


def _scaling(columns: Floats) -> tuple[Floats, Floats]:
    seen = ~np.isnan(columns)
    count = np.maximum(1, seen.sum(axis=0))
    filled = np.where(seen, columns, 0.0)
    center = filled.sum(axis=0) / count
    spread = np.sqrt(np.where(seen, (columns - center) ** 2, 0.0).sum(axis=0) / count)
    return center, np.where(spread > 1e-9, spread, np.inf)


def _used(scale: Floats, tightness: float) -> Ints:
    return np.flatnonzero(np.isfinite(scale)) if tightness else np.array([0])


def _chosen(
    scores: Floats,
    targets: Bools,
    groups: Ints,
    weights: Floats,
    grid: Sequence[float],
    noticeable: float,
    seed: int,
) -> float:
    """Return the tightness with the least loss on held-back templates, or 0: the margin alone."""
    pairs = inner_folds(targets, groups, seed)
    varied = np.flatnonzero(scores.any(axis=0))
    if not pairs or not len(varied):
        return 0.0
    losses = np.zeros((1 + len(grid), len(targets)))
    for fitted_on, held in pairs:
        for at, tightness in enumerate((0.0, *grid)):
            used = varied if tightness else np.array([0])
            slopes, bias = _fitted(
                scores[np.ix_(fitted_on, used)], targets[fitted_on], weights[fitted_on], tightness
            )
            margins = scores[np.ix_(held, used)] @ slopes + bias
            signed = np.where(targets[held], margins, -margins)
            losses[at, held] = weights[held] * np.logaddexp(0.0, -signed)
    best = 1 + int(np.argmin(losses[1:].sum(axis=1)))
    gained = np.bincount(groups, losses[0] - losses[best])[np.unique(groups)]
    error = float(np.std(gained)) * np.sqrt(len(gained))
    # Equal gains on every template have no error, and an infinite demand times none is no number.
    demanded = noticeable * error if error > 0.0 else min(noticeable, 0.0)
    return float(grid[best - 1]) if gained.sum() > demanded else 0.0


def _fitted(
    scores: Floats, targets: Bools, weights: Floats, tightness: float
) -> tuple[Floats, float]:
    """Return slopes and intercept; the n-gram margin in the first column never counts against.

    Out of fold, a margin that knows nothing leans away from the held-back class (the rest holds
    more of the other), which few snapshots can mistake for knowledge.
    """
    slopes, bias = _solved(scores, targets, weights, tightness)
    if slopes[0] >= 0.0:
        return slopes, bias
    without = scores.copy()
    without[:, 0] = 0.0
    slopes, bias = _solved(without, targets, weights, tightness)
    slopes[0] = 0.0
    return slopes, bias


def _solved(
    scores: Floats, targets: Bools, weights: Floats, tightness: float
) -> tuple[Floats, float]:
    from sklearn.exceptions import ConvergenceWarning  # a guard starts without it
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=tightness or 1.0, solver="newton-cholesky", max_iter=200)
    with warnings.catch_warnings():
        # Where Newton's line search finds nothing more to gain, lbfgs goes on from there.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scores, targets, sample_weight=weights)
    return model.coef_[0].copy(), float(model.intercept_[0])
