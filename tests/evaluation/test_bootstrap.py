from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from score_cases import random_scores
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.bootstrap import Interval, Resampling, Reweighting
from sentinel_sql.evaluation.exhibit_record import Evidence

RESAMPLES = 40


def naive(resampling: Resampling, statistic) -> list[float]:  # type: ignore[no-untyped-def]
    """Build every resample as a list of rows, and compute the statistic on it."""
    drawn = []
    for counts in resampling.counts.astype(int):
        rows = np.concatenate(
            [np.tile(np.flatnonzero(resampling.cluster == c), k) for c, k in enumerate(counts)]
        )
        value = statistic(rows)
        if value is not None:
            drawn.append(value)
    return drawn


def pairs_won(above: np.ndarray, below: np.ndarray) -> float:
    wins = (above[:, None] > below).sum() + (above[:, None] == below).sum() / 2
    return float(wins / (len(above) * len(below)))


def close(interval: Interval | None, estimate: float, drawn: list[float]) -> None:
    assert interval is not None
    low, high = np.percentile(drawn, (2.5, 97.5))
    assert interval.estimate == pytest.approx(estimate, abs=1e-12)
    assert interval.low == pytest.approx(low, abs=1e-12)
    assert interval.high == pytest.approx(high, abs=1e-12)


def cases(seed: int, n: int, clusters: int):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    templates = [f"t{i}" for i in rng.integers(0, clusters, n)]
    score = rng.choice((0.1, 0.2, 0.5, 0.7, 0.7000001, 1.0), n)
    rival = rng.random(n)
    target = rng.random(n) < 0.3 + 0.4 * score
    where = rng.random(n) < 0.7
    return Resampling.over(templates, resamples=RESAMPLES), target, score, rival, where


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_mean_interval_equals_resampling_row_by_row(seed: int, n: int, clusters: int) -> None:
    resampling, _, score, _, where = cases(seed, n, clusters)
    if not where.any():
        assert resampling.mean(score, where) is None
        return

    def statistic(rows: np.ndarray) -> float | None:
        kept = rows[where[rows]]
        return float(score[kept].mean()) if len(kept) else None

    close(
        resampling.mean(np.where(where, score, np.nan), where),
        float(score[where].mean()),
        naive(resampling, statistic),
    )


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 9), st.booleans())
@settings(max_examples=20, deadline=None)
def test_auroc_interval_equals_resampling_row_by_row(
    seed: int, n: int, clusters: int, lead: bool
) -> None:
    resampling, target, score, rival, where = cases(seed, n, clusters)

    def statistic(rows: np.ndarray) -> float | None:
        kept = rows[where[rows]]
        if target[kept].all() or not target[kept].any():
            return None
        value = pairs_won(score[kept][target[kept]], score[kept][~target[kept]])
        if not lead:
            return value
        return value - pairs_won(rival[kept][target[kept]], rival[kept][~target[kept]])

    found = (
        resampling.auroc_lead(target, score, rival, where)
        if lead
        else resampling.auroc(target, score, where)
    )
    estimate = statistic(np.arange(n))
    if estimate is None:
        assert found is None
    else:
        close(found, estimate, naive(resampling, statistic))


def test_resample_draws_as_many_whole_templates_as_there_are() -> None:
    resampling = Resampling.over(["a", "b", "b", "c"], resamples=500)
    assert resampling.clusters == 3
    assert (resampling.counts.sum(axis=1) == 3).all()
    assert resampling.counts.mean() == pytest.approx(1.0)


def test_equal_seeds_draw_equal_resamples() -> None:
    names = ["a", "b", "c", "d"]
    same = [Resampling.over(names, seed=7).counts for _ in range(2)]
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], Resampling.over(names, seed=8).counts)


def test_clusters_widen_an_interval() -> None:
    values = np.repeat(np.arange(10) % 2, 30).astype(float)
    families = Resampling.over([f"t{i}" for i in np.repeat(np.arange(10), 30)]).mean(values)
    single = Resampling.over([f"t{i}" for i in range(300)]).mean(values)
    assert families is not None
    assert single is not None
    assert families.high - families.low > 2 * (single.high - single.low)


def test_interval_excludes_zero_if_it_lies_on_one_side() -> None:
    assert Interval(estimate=0.1, low=0.01, high=0.2).excludes_zero
    assert Interval(estimate=-0.1, low=-0.2, high=-0.01).excludes_zero
    assert not Interval(estimate=0.0, low=0.0, high=0.0).excludes_zero


@given(st.integers(0, 10_000), st.integers(20, 60), st.integers(2, 9), st.booleans())
@settings(max_examples=20, deadline=None)
def test_reweighting_equals_reweighting_every_resample_by_hand(
    seed: int, n: int, clusters: int, ranking: bool
) -> None:
    plain, target, score, _, where = cases(seed, n, clusters)
    members = np.random.default_rng(seed + 1).random(n) < 0.3
    if not members.any() or members.all():
        return
    share = 0.2
    resampling = replace(plain, reweighting=Reweighting(members=members, share=share))

    def statistic(rows: np.ndarray) -> float | None:
        inside = members[rows]
        weights = np.empty(len(rows))
        weights[inside] = share / max(inside.sum(), 1)
        weights[~inside] = (1 - share) / max((~inside).sum(), 1)
        kept = where[rows]
        needed = {bool(kind) for kind in members[where]}
        if any(not (inside == kind).any() for kind in needed) or not kept.any():
            return None
        weights, values, hits = weights[kept], score[rows][kept], target[rows][kept]
        if not ranking:
            return float(np.sum(weights * values) / weights.sum())
        if hits.all() or not hits.any():
            return None
        wins = (values[hits][:, None] > values[~hits]) + (
            values[hits][:, None] == values[~hits]
        ) / 2
        pairs = weights[hits][:, None] * weights[~hits]
        return float((wins * pairs).sum() / pairs.sum())

    estimate = statistic(np.arange(n))
    found = resampling.auroc(target, score, where) if ranking else resampling.mean(score, where)
    if estimate is None:
        assert found is None
        return
    drawn = naive(resampling, statistic)
    if ranking and found is not None:
        assert found.estimate == pytest.approx(estimate, abs=1e-12)  # a kind may lack a class
    elif drawn:
        close(found, estimate, drawn)


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_sweep_and_quadratic_form_count_equal_pairs(seed: int, n: int, clusters: int) -> None:
    resampling, target, score, _, where = cases(seed, n, clusters)
    positive, negative = where & target, where & ~target
    wins = resampling._wins_by_cluster(positive, negative, score)
    total, drawn = resampling._wins_by_sweep(positive, negative, score)
    assert total == wins.sum()
    np.testing.assert_array_equal(
        drawn, np.einsum("bc,bc->b", resampling.counts @ wins, resampling.counts)
    )


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_gap_interval_equals_resampling_row_by_row(seed: int, n: int, clusters: int) -> None:
    resampling, target, score, _, where = cases(seed, n, clusters)
    if not where.any():
        return
    values, group = score - target, np.minimum((score * 4).astype(int), 3)

    def statistic(rows: np.ndarray) -> float | None:
        kept = rows[where[rows]]
        if not len(kept):
            return None
        return float(np.abs(np.bincount(group[kept], values[kept])).sum() / len(kept))

    close(
        resampling.mean_gap(np.where(where, values, np.nan), group, where, bins=4),
        float(np.abs(np.bincount(group[where], values[where])).sum() / where.sum()),
        naive(resampling, statistic),
    )


def test_template_names_do_not_change_an_interval() -> None:
    values = np.random.default_rng(0).random(30)
    first = [f"t{i}" for i in np.random.default_rng(1).integers(0, 7, 30)]
    renamed = [{"t3": "a", "t0": "zz"}.get(name, name) for name in first]
    assert Resampling.over(first).mean(values) == Resampling.over(renamed).mean(values)


def test_mean_auroc_of_several_scores_has_one_interval() -> None:
    rng = np.random.default_rng(5)
    templates = [f"t{n}" for n in rng.integers(0, 9, 60)]
    target = rng.random(60) < 0.5
    scores = [rng.random(60) + target * weight for weight in (0.1, 0.5, 0.9)]
    rivals = [rng.random(60) + target * weight for weight in (0.0, 0.2)]
    resampling = Resampling.over(templates, resamples=200, seed=3)
    means = [np.mean([roc_auc_score(target, s) for s in part]) for part in (scores, rivals)]
    for found, expected in (
        (resampling.mean_auroc(target, scores), means[0]),
        (resampling.mean_auroc(target, scores, rivals=rivals), means[0] - means[1]),
    ):
        assert found is not None
        assert found.estimate == pytest.approx(expected)
        assert found.low < found.estimate < found.high
    assert resampling.mean_auroc(target, scores[:1]) == resampling.auroc(target, scores[0])
    lead = resampling.mean_auroc(target, scores[:1], rivals=rivals[:1])
    assert lead == resampling.auroc_lead(target, scores[0], rivals[0])
    itself = resampling.mean_auroc(target, scores, rivals=scores)
    assert itself is not None
    assert (itself.low, itself.high) == pytest.approx((0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_systems_interval_equals_resampling_row_by_row(seed: int) -> None:
    scores = random_scores(seed, 60, templates=7)
    seen = Evidence.gather(scores, freeze(random_scores(9, 200)), resamples=RESAMPLES)
    for run in seen.replays.values():
        close(
            seen.resampling.mean(run.payoff),
            float(run.payoff.mean()),
            naive(seen.resampling, lambda rows, payoff=run.payoff: float(payoff[rows].mean())),
        )
