"""A regime: log-odds of open prefixes, or of committed answers, as a weighted sum of columns.

A feature may mean one thing in an open run and another at a committed answer, so each regime has
its own weights. An unknown feature is set to its mean, so that it doesn't move the score. The
regime of open prefixes is fitted here: it weighs the dense features beside the n-gram margin only
if they lower the loss on unseen templates by more than chance. That of answers is a `ridge`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from sentinel_sql.monitor.head import Bools, Floats, Ints

GRID = (0.003, 0.01, 0.03, 0.1)
"""Weights of the data against the regularisation, from which fitting chooses (ours)."""

INNER_FOLDS = 4
FEWEST = 8
"""Least number of snapshots of each class to fit a regime (ours)."""

NOTICEABLE = 1.0
"""The dense features must lower the loss by as many standard errors over templates (ours)."""

CLIP = 4.0
"""Standard scores are clipped at ± this, so that no outlier decides alone (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedRegime:
    """Log-odds as a weighted sum of standardized columns; the first is the n-gram margin.

    Attributes:
        center, scale: shape (d,), over the training snapshots in which the column is known.
        weights: shape (d,), 0 for constant columns.
        bias: the log-odds of an average snapshot.
        tightness: the weight of the data against the regularisation; 0 if the n-gram margin is
            used alone.
    """

    center: Floats
    scale: Floats
    weights: Floats
    bias: float
    tightness: float

    def terms(self, columns: Floats) -> Floats:
        """Return what each column of one snapshot adds to the log-odds, shape (d,)."""
        return np.asarray(self.weights * standardize(columns, self.center, self.scale))

    def slope(self, columns: Floats) -> float:
        """Return the change of the log-odds for a unit of the n-gram margin; 0 past the clip."""
        if abs(columns[0] - self.center[0]) > CLIP * self.scale[0]:
            return 0.0
        return float(self.weights[0] / self.scale[0])

    def margin(self, columns: Floats) -> float:
        """Return the log-odds of one snapshot with columns of shape (d,)."""
        return float(np.sum(self.terms(columns))) + self.bias


def standardize(columns: Floats, center: Floats, scale: Floats) -> Floats:
    """Return clipped standard scores, 0 where unknown. Shape (d,) or (n, d)."""
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
    """Fit one regime. It chooses its regularisation on folds split by template.

    Args:
        columns: shape (n, d); the first is an out-of-fold n-gram margin, NaN means unknown.
        targets: shape (n,).
        groups: shape (n,), the template of each snapshot.
        weights: shape (n,), the weight of each snapshot.
        grid: regularisations of the dense features to choose from.
        noticeable: the dense features must lower the loss by as many standard errors.
        seed: of the inner folds.

    The n-gram margin is used as it is if a class has fewer than 8 snapshots, or if the margin
    alone would get a negative weight.
    """
    if min(targets.sum(), (~targets).sum()) < FEWEST:
        return margin_alone(columns.shape[1])
    center, scale = measure_scaling(columns)
    scores = standardize(columns, center, scale)
    # The matrices are so small that several threads would be slower than one.
    with threadpool_limits(limits=1):
        tightness = _choose_tightness(scores, targets, groups, weights, grid, noticeable, seed)
        used = _used_columns(scale, tightness)
        slopes, bias = _fit_slopes(scores[:, used], targets, weights, tightness)
    if tightness == 0.0 and slopes[0] == 0.0:
        # Without the margin there would be nothing left to rank by.
        return margin_alone(columns.shape[1])
    learned = np.zeros(columns.shape[1])
    learned[used] = slopes
    return FittedRegime(
        center=center,
        scale=scale,
        weights=learned,
        bias=bias,
        tightness=tightness,
    )


def margin_alone(width: int) -> FittedRegime:
    """Return a regime that takes the n-gram margin, its first of `width` columns, as it is."""
    alone = np.zeros(width)
    alone[0] = 1.0
    return FittedRegime(
        center=np.zeros(width),
        scale=np.ones(width),
        weights=alone,
        bias=0.0,
        tightness=0.0,
    )


def inner_folds(targets: Bools, groups: Ints, seed: int) -> list[tuple[Ints, Ints]]:
    """Return up to four pairs (rows to fit on, held-out rows), split by template.

    Both classes are in every part to fit on. The list is empty if templates are too few for that.
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


def measure_scaling(columns: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column where known; infinite if constant."""
    seen = ~np.isnan(columns)
    count = np.maximum(1, seen.sum(axis=0))
    filled = np.where(seen, columns, 0.0)
    center = filled.sum(axis=0) / count
    spread = np.sqrt(np.where(seen, (columns - center) ** 2, 0.0).sum(axis=0) / count)
    return center, np.where(spread > 1e-9, spread, np.inf)


def _used_columns(scale: Floats, tightness: float) -> Ints:
    return np.flatnonzero(np.isfinite(scale)) if tightness else np.array([0])


def _choose_tightness(
    scores: Floats,
    targets: Bools,
    groups: Ints,
    weights: Floats,
    grid: Sequence[float],
    noticeable: float,
    seed: int,
) -> float:
    """Return the tightness with the least loss on held-out templates, or 0: the margin alone."""
    pairs = inner_folds(targets, groups, seed)
    varied = np.flatnonzero(scores.any(axis=0))
    if not pairs or not len(varied):
        return 0.0
    losses = np.zeros((1 + len(grid), len(targets)))
    for fitted_on, held in pairs:
        for at, tightness in enumerate((0.0, *grid)):
            used = varied if tightness else np.array([0])
            slopes, bias = _fit_slopes(
                scores[np.ix_(fitted_on, used)], targets[fitted_on], weights[fitted_on], tightness
            )
            margins = scores[np.ix_(held, used)] @ slopes + bias
            signed = np.where(targets[held], margins, -margins)
            losses[at, held] = weights[held] * np.logaddexp(0.0, -signed)
    best = 1 + int(np.argmin(losses[1:].sum(axis=1)))
    gained = np.bincount(groups, losses[0] - losses[best])[np.unique(groups)]
    error = float(np.std(gained)) * np.sqrt(len(gained))
    # If all templates gain alike, the error is 0, and infinity times 0 would be NaN.
    demanded = noticeable * error if error > 0.0 else min(noticeable, 0.0)
    return float(grid[best - 1]) if gained.sum() > demanded else 0.0


def _fit_slopes(
    scores: Floats, targets: Bools, weights: Floats, tightness: float
) -> tuple[Floats, float]:
    """Return slopes and intercept; the slope of the n-gram margin (column 0) is never negative.

    An out-of-fold margin without any information leans away from the held-out class, because the
    other folds have fewer of that class. With few snapshots that can look like information.
    """
    slopes, bias = _solve(scores, targets, weights, tightness)
    if slopes[0] >= 0.0:
        return slopes, bias
    without = scores.copy()
    without[:, 0] = 0.0
    slopes, bias = _solve(without, targets, weights, tightness)
    slopes[0] = 0.0
    return slopes, bias


def _solve(
    scores: Floats, targets: Bools, weights: Floats, tightness: float
) -> tuple[Floats, float]:
    from sklearn import config_context  # a guard starts without it
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=tightness or 1.0, solver="newton-cholesky", max_iter=200)
    # The library's checks would take as long as these small fits.
    with (
        warnings.catch_warnings(),
        config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        # If Newton's line search fails to improve, the library goes on with lbfgs.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scores, targets, sample_weight=weights)
    return model.coef_[0].copy(), float(model.intercept_[0])
