"""Two small logistic regressions over dense features: of open prefixes, and of answers.

What a feature says of a run under way isn't what it says of a committed answer, so each regime
has weights of its own. A feature that a prefix doesn't show is put to its mean, so that it counts
neither way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from sentinel_sql.monitor.head import Bools, Floats, Ints

GRID = (0.003, 0.01, 0.03, 0.1, 0.3)
"""Weights of the data against the regularisation that fitting chooses from (ours)."""

FALLBACK = 0.03
"""Chosen where too few templates are there to choose by; the middle of the grid."""

INNER_FOLDS = 4
FEWEST = 8
"""Snapshots of each class without which a regime isn't fitted (ours)."""

CLIP = 4.0
"""Standard deviations beyond which a value counts as this far (ours: no outlier rules alone)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedRegime:
    """Log-odds as a weighted sum of standardized columns; the first is the n-gram margin.

    Attributes:
        center, scale: shape (d,), of the training snapshots that showed the column.
        weights: shape (d,), 0 for columns that never varied.
        bias: the log-odds of an average snapshot.
        tightness: the weight of the data against the regularisation; 0 where nothing was fitted.
    """

    center: Floats
    scale: Floats
    weights: Floats
    bias: float
    tightness: float

    def terms(self, columns: Floats) -> Floats:
        """Return what each column adds to the log-odds, for one snapshot, shape (d,)."""
        return np.asarray(self.weights * standardized(columns, self.center, self.scale))

    def margin(self, columns: Floats) -> float:
        """Return the log-odds of one snapshot with columns of shape (d,)."""
        return float(np.sum(self.terms(columns))) + self.bias


def standardized(columns: Floats, center: Floats, scale: Floats) -> Floats:
    """Return columns as clipped standard scores; 0 where unseen. Shape (d,) or (n, d)."""
    scores = np.clip((columns - center) / scale, -CLIP, CLIP)
    return np.where(np.isnan(scores), 0.0, scores)


def fit_regime(
    columns: Floats, targets: Bools, groups: Ints, *, grid: Sequence[float] = GRID, seed: int
) -> FittedRegime:
    """Fit one regime; the classes weigh the same, and templates never stand on both sides.

    Args:
        columns: shape (n, d); the first is an out-of-fold n-gram margin, NaN means unseen.
        targets: shape (n,).
        groups: shape (n,), the template of each snapshot.
        grid: what to choose the regularisation from.
        seed: of the inner folds.

    With fewer than 8 snapshots of a class the n-gram margin stands alone.
    """
    if min(targets.sum(), (~targets).sum()) < FEWEST:
        alone = np.zeros(columns.shape[1])
        alone[0] = 1.0
        return FittedRegime(
            center=np.zeros_like(alone),
            scale=np.where(alone > 0, 1.0, np.inf),
            weights=alone,
            bias=0.0,
            tightness=0.0,
        )
    center, scale = _scaling(columns)
    scores = standardized(columns, center, scale)
    varied = np.flatnonzero(np.isfinite(scale))
    tightness = _chosen(scores[:, varied], targets, groups, grid, seed)
    model = _fitted(scores[:, varied], targets, tightness)
    weights = np.zeros(columns.shape[1])
    weights[varied] = model.coef_[0]
    return FittedRegime(
        center=center,
        scale=scale,
        weights=weights,
        bias=float(model.intercept_[0]),
        tightness=tightness,
    )


def inner_folds(targets: Bools, groups: Ints, seed: int) -> list[tuple[Ints, Ints]]:
    """Return up to four (fitted on, held) pairs, no template on both sides.

    Both classes are in each fitted part; none where templates are too few for that.
    """
    per_class = min(len(np.unique(groups[targets])), len(np.unique(groups[~targets])))
    folds = min(INNER_FOLDS, per_class)
    if folds < 2:
        return []
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


def _chosen(
    scores: Floats, targets: Bools, groups: Ints, grid: Sequence[float], seed: int
) -> float:
    """Return the tightness with the least log-loss on held-back templates; ties go to the least."""
    pairs = inner_folds(targets, groups, seed)
    if not pairs or len(grid) == 1:
        return FALLBACK if len(grid) > 1 else grid[0]
    weights = np.where(targets, 0.5 / targets.mean(), 0.5 / (1.0 - targets.mean()))
    losses = np.zeros(len(grid))
    for fitted_on, held in pairs:
        for at, tightness in enumerate(grid):
            model = _fitted(scores[fitted_on], targets[fitted_on], tightness)
            margins = model.decision_function(scores[held])
            signed = np.where(targets[held], margins, -margins)
            losses[at] += float(np.sum(weights[held] * np.logaddexp(0.0, -signed)))
    return float(grid[int(np.argmin(losses))])


def _fitted(scores: Floats, targets: Bools, tightness: float) -> LogisticRegression:
    model = LogisticRegression(
        C=tightness, class_weight="balanced", solver="newton-cholesky", max_iter=200
    )
    model.fit(scores, targets)
    return model
