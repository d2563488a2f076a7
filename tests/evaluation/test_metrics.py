from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.evaluation.metrics import auroc, brier, ece, reliability_bins, risk_coverage

pairs = st.lists(
    st.tuples(st.booleans(), st.one_of(st.floats(0, 1), st.sampled_from((0.0, 0.5, 1.0)))),
    min_size=1,
    max_size=40,
)


def split(cases: list[tuple[bool, float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([c[0] for c in cases]), np.array([c[1] for c in cases], dtype=float)


def test_ranking_of_one_class_cannot_be_said() -> None:
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


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_calibration_error_equals_a_loop_over_bins(cases: list[tuple[bool, float]]) -> None:
    target, confidence = split(cases)
    bins = reliability_bins(target, confidence)
    assert sum(b.n for b in bins) == len(target)
    loop = 0.0
    for b in bins:
        inside = (confidence >= b.low) & ((confidence < b.high) | (b.high == 1.0))
        # A value within rounding of an edge may fall on either side of it.
        if abs(inside.sum() - b.n):
            return
        if b.n:
            assert b.confidence == pytest.approx(confidence[inside].mean())
            assert b.accuracy == pytest.approx(target[inside].mean())
            loop += b.n * abs(b.confidence - b.accuracy)  # type: ignore[operator]
    assert ece(target, confidence) == pytest.approx(loop / len(target))


def test_a_confidence_on_an_edge_belongs_to_the_bin_above() -> None:
    confidence = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.9, 1.0])
    bins = reliability_bins(np.ones(9, dtype=bool), confidence)
    assert [b.n for b in bins] == [1, 1, 1, 1, 0, 1, 1, 1, 0, 2]


def test_calibration_of_nothing_cannot_be_said() -> None:
    nothing = np.array([], dtype=bool), np.array([])
    assert (ece(*nothing), brier(*nothing), risk_coverage(*nothing)) == (None, None, None)


def test_perfect_confidence_has_no_error() -> None:
    target = np.array([True, False, True])
    assert (ece(target, target.astype(float)), brier(target, target.astype(float))) == (0.0, 0.0)


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
