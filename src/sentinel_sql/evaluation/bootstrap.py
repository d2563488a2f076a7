"""Template-cluster bootstrap: 95 % intervals for questions that share templates.

Each resample draws whole templates with replacement, as many as there are templates. All
resamples form one matrix of counts, so that a statistic over all resamples is a matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints

RESAMPLES = 2_000
"""Number of resamples (paper appendix F)."""

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
class Reweighting:
    """The members of a group of questions, and the share of that group in the target population.

    Attributes:
        members: shape (N,), True for members; both values occur.
        share: in (0, 1).
    """

    members: Bools
    share: float


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """B resamples of C clusters, drawn once for all statistics of an evaluation.

    Attributes:
        cluster: shape (N,), the cluster of every question, 0 … C − 1.
        counts: shape (B, C), how often each cluster is in each resample; rows sum to C.
        reweighting: if given, every statistic is post-stratified to that share, in the pool and
            in each resample. A resample without a group that a statistic needs is left out of it.
    """

    cluster: Ints
    counts: Floats
    reweighting: Reweighting | None = None

    @classmethod
    def over(
        cls,
        templates: Sequence[str],
        *,
        resamples: int = RESAMPLES,
        seed: int = SEED,
        reweighting: Reweighting | None = None,
    ) -> Self:
        """Draw the resamples for N questions with these templates; equal seeds give equal draws.

        Clusters are numbered in order of appearance, so that their names don't change an interval.
        """
        numbers: dict[str, int] = {}
        cluster = np.array([numbers.setdefault(name, len(numbers)) for name in templates])
        size = len(numbers)
        counts = np.random.default_rng(seed).multinomial(
            size, np.full(size, 1 / max(size, 1)), size=resamples
        )
        return cls(
            cluster=cluster.astype(np.int64),
            counts=counts.astype(np.float64),
            reweighting=reweighting,
        )

    @property
    def clusters(self) -> int:
        """Number of clusters C."""
        return int(self.counts.shape[1])

    @property
    def weights(self) -> Floats:
        """The weight of each question, shape (N,), 1 on average."""
        weights = np.ones(len(self.cluster))
        for members, share in self._groups():
            weights[members] = share * len(members) / max(int(members.sum()), 1)
        return weights

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
        (total, drawn_total), (size, drawn_size) = (
            self._sum(column, where) for column in (above, below)
        )
        if size == 0:
            return None
        return _interval(total / size, drawn_total, drawn_size)

    def mean_gap(
        self, values: Floats, group: Ints, where: Bools | None = None, *, bins: int
    ) -> Interval | None:
        """Return Σ over groups of |Σ values in the group|, over the number of questions.

        With confidence − correct as values and bins of confidence as groups this is the expected
        calibration error. None if `where` is empty.

        Args:
            values: shape (N,); NaN only outside `where`.
            group: shape (N,), each in 0 … `bins` − 1.
            where: shape (N,); every question if None.
            bins: number of groups.
        """
        inside = np.ones(len(self.cluster), dtype=bool) if where is None else where
        size, drawn_size = self._sum(inside)
        if size == 0:
            return None
        gaps = [self._sum(values, inside & (group == b)) for b in range(bins)]
        return _interval(
            sum(abs(gap) for gap, _ in gaps) / size,
            np.sum([np.abs(drawn) for _, drawn in gaps], axis=0),
            drawn_size,
        )

    def auroc(self, target: Bools, score: Floats, where: Bools | None = None) -> Interval | None:
        """Return the AUROC of `score` over the questions in `where`; None for one class.

        Args:
            target: shape (N,), True for the positive class.
            score: shape (N,); NaN only outside `where`.
            where: shape (N,); every question if None.
        """
        return self._auroc_sum(target, ((1.0, score),), where)

    def auroc_lead(
        self, target: Bools, score: Floats, rival: Floats, where: Bools | None = None
    ) -> Interval | None:
        """Return AUROC of `score` minus AUROC of `rival`, on the same resamples."""
        return self._auroc_sum(target, ((1.0, score), (-1.0, rival)), where)

    def mean_auroc(
        self,
        target: Bools,
        scores: Sequence[Floats],
        where: Bools | None = None,
        *,
        rivals: Sequence[Floats] = (),
    ) -> Interval | None:
        """Return the mean AUROC of several scores, minus that of `rivals` on the same resamples.

        It gives one interval for the scores of several seeds, without making an ensemble of them.
        The arguments are those of `auroc`; there is one rival for each score, or none.
        """
        parts = [(1.0 / len(scores), score) for score in scores]
        parts += [(-1.0 / len(rivals), rival) for rival in rivals]
        return self._auroc_sum(target, parts, where)

    def _auroc_sum(
        self, target: Bools, scores: Sequence[tuple[float, Floats]], where: Bools | None
    ) -> Interval | None:
        """Return a weighted sum of AUROCs; the weights may be negative."""
        inside = np.ones(len(target), dtype=bool) if where is None else where
        if not (inside & target).any() or not (inside & ~target).any():
            return None
        groups = self._groups() or ((np.ones(len(target), dtype=bool), 1.0),)
        won, pairs, drawn_won, drawn_pairs = 0.0, 0.0, np.zeros(()), np.zeros(())
        for members, share in groups:
            for others, other_share in groups:
                positive, negative = inside & target & members, inside & ~target & others
                if not positive.any() or not negative.any():
                    continue
                wins, drawn_wins = 0.0, np.zeros(len(self.counts))
                for factor, score in scores:
                    its_wins, its_drawn = self._wins(positive, negative, score)
                    wins, drawn_wins = wins + factor * its_wins, drawn_wins + factor * its_drawn
                weight, drawn = self._scale(members, share)
                other_weight, other_drawn = self._scale(others, other_share)
                won += weight * other_weight * wins
                pairs += weight * other_weight * float(positive.sum()) * float(negative.sum())
                drawn_won = drawn_won + drawn * other_drawn * drawn_wins
                drawn_pairs = drawn_pairs + drawn * other_drawn * (
                    self.counts @ self._per_cluster(positive, None)
                ) * (self.counts @ self._per_cluster(negative, None))
        return _interval(won / pairs, drawn_won, drawn_pairs)

    def _wins(self, positive: Bools, negative: Bools, score: Floats) -> tuple[float, Floats]:
        """Return how many pairs the positives win, in the pool and in each resample, shape (B,).

        A tie counts one half.
        """
        involved = int(positive.sum()) + int(negative.sum())
        if self.clusters**2 <= _SWEEP_PAYS * involved:
            wins = self._wins_by_cluster(positive, negative, score)
            return float(wins.sum()), np.einsum("bc,bc->b", self.counts @ wins, self.counts)
        return self._wins_by_sweep(positive, negative, score)

    def _wins_by_cluster(self, positive: Bools, negative: Bools, score: Floats) -> Floats:
        """Return the pairs that positives of one cluster win over negatives of another, (C, C).

        The AUROC of a resample is then a quadratic form in its counts, without sorting.
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

    def _wins_by_sweep(
        self, positive: Bools, negative: Bools, score: Floats
    ) -> tuple[float, Floats]:
        """Count the same pairs in one sweep over the sorted scores, for a block of resamples.

        Its time grows with the number of questions, not with the squared number of clusters.
        """
        below = np.flatnonzero(negative)
        below = below[np.argsort(score[below], kind="stable")]
        above = np.flatnonzero(positive)
        less = np.searchsorted(score[below], score[above], side="left")
        no_more = np.searchsorted(score[below], score[above], side="right")
        drawn = np.empty(len(self.counts))
        rows = max(1, _BLOCK // (len(below) + len(above) + 1))
        for start in range(0, len(drawn), rows):
            counts = self.counts[start : start + rows]
            ahead = np.zeros((len(counts), len(below) + 1))
            np.cumsum(counts[:, self.cluster[below]], axis=1, out=ahead[:, 1:])
            beaten = ahead[:, less] + ahead[:, no_more]
            drawn[start : start + rows] = (
                np.einsum("bn,bn->b", counts[:, self.cluster[above]], beaten) / 2
            )
        return float((less + no_more).sum()) / 2, drawn

    def _sum(
        self, values: Floats | Ints | Bools, where: Bools | None = None
    ) -> tuple[float, Floats]:
        """Return a weighted sum over the pool, and over each resample, shape (B,)."""
        groups = self._groups()
        if not groups:
            sums = self._per_cluster(values, where)
            return float(sums.sum()), self.counts @ sums
        total, drawn_total = 0.0, np.zeros(len(self.counts))
        for members, share in groups:
            inside = members if where is None else where & members
            if inside.any():
                sums = self._per_cluster(values, inside)
                weight, drawn = self._scale(members, share)
                total += weight * float(sums.sum())
                drawn_total = drawn_total + drawn * (self.counts @ sums)
        return total, drawn_total

    def _groups(self) -> tuple[tuple[Bools, float], ...]:
        if self.reweighting is None:
            return ()
        members, share = self.reweighting.members, self.reweighting.share
        return (members, share), (~members, 1.0 - share)

    def _scale(self, members: Bools, share: float) -> tuple[float, Floats]:
        """Return the weight of a member in the pool, and in each resample, shape (B,)."""
        if self.reweighting is None:
            return 1.0, np.ones(len(self.counts))
        drawn = self.counts @ self._per_cluster(members, None)
        weights = np.full(len(drawn), np.nan)  # for resamples without a member
        np.divide(share, drawn, out=weights, where=drawn > 0)
        return share / float(members.sum()), weights

    def _per_cluster(self, values: Floats | Ints | Bools, where: Bools | None) -> Floats:
        weights = values if where is None else np.where(where, values, 0.0)
        return np.bincount(
            self.cluster, weights=weights.astype(np.float64), minlength=self.clusters
        ).astype(np.float64)


_SWEEP_PAYS = 100
"""The sweep is faster above this ratio of squared clusters to questions (measured)."""
_BLOCK = 2_000_000


def _interval(estimate: float, above: Floats, below: Floats) -> Interval | None:
    # A resample without any case of the statistic is left out.
    usable = (below > 0) & ~np.isnan(above)
    if not usable.any():
        return None
    low, high = np.percentile(above[usable] / below[usable], LEVEL)
    return Interval(estimate=estimate, low=float(low), high=float(high))
