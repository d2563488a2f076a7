from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.evaluation.bootstrap import Resampling
from sentinel_sql.evaluation.metrics import BINS, auroc, bin_of, risk_coverage

pairs = st.lists(
    st.tuples(st.booleans(), st.one_of(st.floats(0, 1), st.sampled_from((0.0, 0.5, 1.0)))),
    min_size=1,
    max_size=40,
)


def split(cases: list[tuple[bool, float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([c[0] for c in cases]), np.array([c[1] for c in cases], dtype=float)


def test_auroc_of_one_class_is_none() -> None:
    assert auroc(np.array([True, True]), np.array([0.1, 0.2])) is None
    assert auroc(np.array([], dtype=bool), np.array([])) is None


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_auroc_is_the_share_of_pairs_won(cases: list[tuple[bool, float]]) -> None:
    target, score = split(cases)
    won = [1.0 if p > n else 0.5 if p == n else 0.0 for p in score[target] for n in score[~target]]
    if won:
        assert auroc(target, score) == pytest.approx(np.mean(won))
    else:
        assert auroc(target, score) is None


def ece(target: np.ndarray, confidence: np.ndarray) -> float:
    resampling = Resampling.over([str(i) for i in range(len(target))], resamples=5)
    found = resampling.mean_gap(confidence - target, bin_of(confidence), bins=BINS)
    assert found is not None
    return found.estimate


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_calibration_error_equals_a_loop_over_bins(cases: list[tuple[bool, float]]) -> None:
    target, confidence = split(cases)
    loop = 0.0
    for b in range(BINS):
        low, high = b / BINS, (b + 1) / BINS
        inside = (confidence >= low) & ((confidence < high) | (high == 1.0))
        # A value within rounding of an edge may fall on either side of it.
        if inside.sum() != (bin_of(confidence) == b).sum():
            return
        if inside.any():
            loop += inside.sum() * abs(confidence[inside].mean() - target[inside].mean())
    assert ece(target, confidence) == pytest.approx(loop / len(target))


def test_confidence_on_an_edge_belongs_to_the_bin_above() -> None:
    confidence = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.9, 1.0])
    counts = np.bincount(bin_of(confidence), minlength=BINS)
    assert counts.tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 0, 2]


def test_calibration_error_of_nothing_is_none() -> None:
    nobody = np.zeros(1, dtype=bool)
    gap = Resampling.over(["a"]).mean_gap(np.ones(1), np.zeros(1, int), nobody, bins=BINS)
    assert gap is None
    assert risk_coverage(np.array([], dtype=bool), np.array([])) is None


def test_perfect_confidence_has_no_error() -> None:
    target = np.array([True, False, True])
    assert ece(target, target.astype(float)) == 0.0


@given(pairs, st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_weight_counts_as_so_many_cases(cases: list[tuple[bool, float]], times: int) -> None:
    target, score = split(cases)
    weights = np.ones(len(target))
    weights[0] = times
    repeated = np.concatenate([[0] * (times - 1), np.arange(len(target))]).astype(int)
    one = risk_coverage(target, score, weights=weights)
    other = risk_coverage(target[repeated], score[repeated])
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.coverage, other.coverage)
    np.testing.assert_allclose(one.risk, other.risk)


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_risk_coverage_is_what_each_threshold_delivers(cases: list[tuple[bool, float]]) -> None:
    target, score = split(cases)
    curve = risk_coverage(target, score)
    assert curve is not None
    for threshold, coverage, risk in zip(curve.thresholds, curve.coverage, curve.risk, strict=True):
        assert coverage == pytest.approx((score >= threshold).mean())
        assert risk == pytest.approx((~target[score >= threshold]).mean())
    assert 0.0 <= curve.aurc <= 1.0


def test_area_of_a_constant_score_is_the_base_risk() -> None:
    curve = risk_coverage(np.array([True, False, False, True]), np.full(4, 0.3))
    assert curve is not None
    assert curve.aurc == pytest.approx(0.5)
