"""The regime that the linear head had before its ridge, as a baseline of the learning curves.

It weighs the n-gram margin, and the dense features only if they lower the loss on unseen templates
by more than chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from sentinel_sql.monitor.head import Bools, Floats, Ints
from sentinel_sql.monitor.heads.regimes import (
    FittedRegime,
    inner_folds,
    margin_alone,
    measure_scaling,
    standardize,
)

GRID = (0.003, 0.01, 0.03, 0.1)
FEWEST = 8
NOTICEABLE = 1.0


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
