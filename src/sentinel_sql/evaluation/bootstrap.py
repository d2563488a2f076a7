"""Template-cluster bootstrap: 95 % intervals that know that questions come in families.

Whole templates are drawn with replacement, as often as there are templates. All resamples are
one matrix of counts, so that a statistic over every resample is a matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sentinel_sql.decision.prefix_scores import Bools, Floats, Ints

RESAMPLES = 2_000
"""Paper appendix F."""

SEED = 42
"""Seed of the run of record (paper appendix M)."""

LEVEL = (2.5, 97.5)


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate with the 2.5th and 97.5th percentile of its resamples."""

    estimate: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """True if the interval lies on one side of zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """B resamples of C clusters, drawn once and shared by every statistic of an evaluation.

    Attributes:
        cluster: shape (N,), the cluster of every question, 0 … C − 1.
        counts: shape (B, C), how often each cluster is in each resample; rows sum to C.
    """

    cluster: Ints
    counts: Floats

    @classmethod
    def over(
        cls, templates: Sequence[str], *, resamples: int = RESAMPLES, seed: int = SEED
    ) -> Self:
        """Draw the resamples for N questions with these templates; equal seeds, equal draws."""
        names, cluster = np.unique(np.asarray(templates, dtype=str), return_inverse=True)
        size = len(names)
        counts = np.random.default_rng(seed).multinomial(
            size, np.full(size, 1 / max(size, 1)), size=resamples
        )
        return cls(cluster=cluster.astype(np.int64), counts=counts.astype(np.float64))

    @property
    def clusters(self) -> int:
        """Number of clusters C."""
        return int(self.counts.shape[1])

    def mean(self, values: Floats | Ints | Bools, where: Bools | None = None) -> Interval | None:
        """Return the mean of `values` over the questions in `where`; None if there are none.

        Args:
            values: shape (N,); NaN only outside `where`.
            where: shape (N,); every question if None.
        """
        return self.ratio(values, np.ones(len(self.cluster)), where)

    def ratio(
        self,
        above: Floats | Ints | Bools,
        below: Floats | Ints | Bools,
        where: Bools | None = None,
    ) -> Interval | None:
        """Return Σ above / Σ below over the questions in `where`; None if Σ below is 0.

        Args:
            above: shape (N,).
            below: shape (N,), not negative.
            where: shape (N,); every question if None.
        """
        sums = [self._per_cluster(column, where) for column in (above, below)]
        total = float(sums[1].sum())
        if total == 0:
            return None
        return _interval(float(sums[0].sum()) / total, self.counts @ sums[0], self.counts @ sums[1])

    def auroc(self, target: Bools, score: Floats, where: Bools | None = None) -> Interval | None:
        """Return the AUROC of `score` over the questions in `where`; None for one class.

        Args:
            target: shape (N,), True for the positive class.
            score: shape (N,); NaN only outside `where`.
            where: shape (N,); every question if None.
        """
        return self._auroc_lead(target, (score,), where)

    def auroc_lead(
        self, target: Bools, score: Floats, rival: Floats, where: Bools | None = None
    ) -> Interval | None:
        """Return AUROC of `score` minus AUROC of `rival`, on the same resamples."""
        return self._auroc_lead(target, (score, rival), where)

    def _auroc_lead(
        self, target: Bools, scores: tuple[Floats, ...], where: Bools | None
    ) -> Interval | None:
        inside = np.ones(len(target), dtype=bool) if where is None else where
        positive, negative = inside & target, inside & ~target
        if not positive.any() or not negative.any():
            return None
        wins = self._wins(positive, negative, scores[0])
        for rival in scores[1:]:
            wins = wins - self._wins(positive, negative, rival)
        pairs = float(positive.sum()) * float(negative.sum())
        drawn_pairs = (self.counts @ self._per_cluster(positive, None)) * (
            self.counts @ self._per_cluster(negative, None)
        )
        drawn_wins = np.einsum("bc,bc->b", self.counts @ wins, self.counts)
        return _interval(float(wins.sum()) / pairs, drawn_wins, drawn_pairs)

    def _wins(self, positive: Bools, negative: Bools, score: Floats) -> Floats:
        """Return shape (C, C): pairs that a positive of one cluster wins over another's negative.

        A resample's AUROC is then a quadratic form in its counts, and needs no sorting.
        """
        below = np.flatnonzero(negative)
        below = below[np.argsort(score[below], kind="stable")]
        ahead = np.zeros((len(below) + 1, self.clusters))
        ahead[np.arange(len(below)) + 1, self.cluster[below]] = 1.0
        np.cumsum(ahead, axis=0, out=ahead)
        above = np.flatnonzero(positive)
        less = np.searchsorted(score[below], score[above], side="left")
        no_more = np.searchsorted(score[below], score[above], side="right")
        wins: Floats = np.zeros((self.clusters, self.clusters))
        np.add.at(wins, self.cluster[above], (ahead[less] + ahead[no_more]) / 2)
        return wins

    def _per_cluster(self, values: Floats | Ints | Bools, where: Bools | None) -> Floats:
        weights = values if where is None else np.where(where, values, 0.0)
        return np.bincount(
            self.cluster, weights=weights.astype(np.float64), minlength=self.clusters
        ).astype(np.float64)


def _interval(estimate: float, above: Floats, below: Floats) -> Interval:
    # A resample without any case of the statistic says nothing of it.
    said = below > 0
    low, high = np.percentile(above[said] / below[said], LEVEL)
    return Interval(estimate=estimate, low=float(low), high=float(high))
