"""A ridge logistic regression over named features that can lean on the weights of a prior.

The ridge draws the weights towards those of the prior, or towards 0 without one. How strongly is
chosen on held-out templates. An unknown feature counts as its mean. Open prefixes add one column,
the n-gram margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

STRENGTHS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
"""Weights of the data against the ridge, from which fitting chooses (ours)."""

ALONE = 0.01
"""The strength without a prior if there are too few templates to choose one (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prior:
    """Weights of named features, learned on other runs.

    Attributes:
        names: `family.feature`, d names.
        center, scale: shape (d,), what the weights take as mean and standard deviation; a scale
            is infinite where the feature said nothing there.
        weights: shape (d,), of the standardized features.
    """

    names: tuple[str, ...]
    center: Floats
    scale: Floats
    weights: Floats

    def over(
        self, names: Sequence[str], center: Floats, scale: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return center, scale and weights for these features.

        Args:
            names: of e features.
            center: shape (e,), measured on the own runs; stays where the prior doesn't know a
                feature, and its weight there is 0.
            scale: shape (e,), as `center`.
        """
        known = {name: at for at, name in enumerate(self.names) if np.isfinite(self.scale[at])}
        center, scale, weights = center.copy(), scale.copy(), np.zeros(len(names))
        for to, name in enumerate(names):
            if (at := known.get(name)) is not None:
                center[to], scale[to] = self.center[at], self.scale[at]
                weights[to] = self.weights[at]
        return center, scale, weights


def fit_ridge(
    dense: Floats,
    targets: Bools,
    groups: Ints,
    weights: Floats,
    *,
    margins: Floats | None = None,
    prior: Prior | None = None,
    names: Sequence[str] = (),
    strengths: Sequence[float] = STRENGTHS,
    seed: int,
) -> FittedRegime:
    """Fit one regime.

    Args:
        dense: shape (n, d); NaN means unknown.
        targets: shape (n,).
        groups: shape (n,), the template of each row.
        weights: shape (n,), the weight of each row.
        margins: shape (n,), out-of-fold n-gram margins; without them, the regime's first column
            has no weight.
        prior: weights to draw towards.
        names: the d features, for the prior.
        strengths: weights of the data against the ridge to choose from, ascending.
        seed: of the folds by template.

    If a class is missing, the prior's weights stay as they are; without a prior, the n-gram margin
    is taken as it is.

    The weight of the margin is never negative. An out-of-fold margin without any information leans
    away from the held-out class, because the other folds have fewer of that class. With few rows
    that can look like information.
    """
    missing = bool(targets.all() or not targets.any())
    if missing and prior is None:
        return margin_alone(1 + dense.shape[1])
    # A margin that isn't there is a constant column, which gets no weight.
    columns = np.column_stack([np.zeros(len(dense)) if margins is None else margins, dense])
    center, scale = measure_scaling(columns)
    slopes, bias, chosen = np.zeros(columns.shape[1]), 0.0, 0.0
    if prior is not None:
        center[1:], scale[1:], slopes[1:] = prior.over(names, center[1:], scale[1:])
    if not missing:
        scores = standardize(columns, center, scale)
        otherwise = ALONE if prior is None else strengths[0]
        # The matrices are so small that several threads would be slower than one.
        with threadpool_limits(limits=1):
            chosen = _choose(
                scores, targets, groups, weights, slopes, strengths, otherwise=otherwise, seed=seed
            )
            slopes, bias = _solve(scores, targets, weights, slopes, chosen)
    return FittedRegime(
        center=center,
        scale=scale,
        weights=np.where(np.isfinite(scale), slopes, 0.0),
        bias=bias,
        tightness=chosen,
    )


def _choose(
    scores: Floats,
    targets: Bools,
    groups: Ints,
    weights: Floats,
    towards: Floats,
    strengths: Sequence[float],
    *,
    otherwise: float,
    seed: int,
) -> float:
    """Return the strength with the least loss on held-out templates; `otherwise` with too few."""
    pairs = inner_folds(targets, groups, seed)
    losses = np.zeros(len(strengths))
    for fitted_on, held in pairs:
        for at, strength in enumerate(strengths):
            slopes, bias = _solve(
                scores[fitted_on], targets[fitted_on], weights[fitted_on], towards, strength
            )
            margins = scores[held] @ slopes + bias
            signed = np.where(targets[held], margins, -margins)
            losses[at] += weights[held] @ np.logaddexp(0.0, -signed)
    return float(strengths[int(np.argmin(losses))]) if pairs else otherwise


def _solve(
    scores: Floats, targets: Bools, weights: Floats, towards: Floats, strength: float
) -> tuple[Floats, float]:
    """Return slopes and intercept; the library's logistic regression can't draw towards weights."""
    from scipy.optimize import minimize  # a guard starts without it

    signs = np.where(targets, 1.0, -1.0)

    def loss(point: Floats) -> tuple[float, Floats]:
        moved = point[:-1] - towards
        signed = signs * (scores @ point[:-1] + point[-1])
        pull = -signs * weights * np.exp(-np.logaddexp(0.0, signed))
        value = weights @ np.logaddexp(0.0, -signed) + moved @ moved / (2.0 * strength)
        return float(value), np.append(scores.T @ pull + moved / strength, pull.sum())

    free: list[tuple[float | None, None]] = [(None, None)] * (scores.shape[1] + 1)
    found = minimize(
        loss,
        np.append(towards, 0.0),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None), *free[1:]],
        options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-6},
    )
    return found.x[:-1], float(found.x[-1])
