"""A regime: log-odds of open prefixes, or of committed answers, as a weighted sum of columns.

A feature may mean one thing in an open run and another at a committed answer, so each regime has
its own weights. An unknown feature is set to its mean, so that it doesn't move the score. Both are
fitted by `ridge`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.monitor.head import Bools, Floats, Ints

INNER_FOLDS = 4
CLIP = 4.0
"""Standard scores are clipped at ± this, so that no outlier decides alone (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedRegime:
    """Log-odds as a weighted sum of standardized columns; the first is the n-gram margin.

    Attributes:
        center, scale: shape (d,), over the training snapshots in which the column is known.
        weights: shape (d,), 0 for constant columns.
        bias: the log-odds of an average snapshot.
        tightness: the weight of the data against the ridge; 0 if nothing was learned from them.
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
