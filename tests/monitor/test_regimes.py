"""A regime finds a planted feature, ignores noise, and takes what it never saw for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sentinel_sql.monitor.heads.regimes import CLIP, FittedRegime, inner_folds
from sentinel_sql.monitor.heads.ridge import STRENGTHS, fit_ridge

N, WIDTH = 240, 12


def made(seed: int, *, planted: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    targets = rng.random(N) < 0.5
    columns = rng.normal(size=(N, WIDTH))
    if planted:
        columns[:, 3] += 2.0 * targets
    columns[rng.random((N, WIDTH)) < 0.2] = np.nan
    columns[:, 0] = rng.normal(size=N) + 0.5 * targets
    return columns, targets, np.arange(N) % 40


def fitted(
    columns: np.ndarray,
    targets: np.ndarray,
    groups: np.ndarray,
    strengths: tuple[float, ...] = STRENGTHS,
) -> FittedRegime:
    return fit_ridge(
        columns[:, 1:],
        targets,
        groups,
        np.ones(N),
        margins=columns[:, 0],
        strengths=strengths,
        seed=0,
    )


def test_a_planted_feature_is_found_and_helps() -> None:
    columns, targets, groups = made(1, planted=True)
    regime = fitted(columns, targets, groups)
    assert regime.tightness > 0
    assert int(np.argmax(np.abs(regime.weights[1:]))) == 2


@given(seed=st.integers(0, 50), column=st.integers(1, WIDTH - 1))
@settings(max_examples=20, deadline=None)
def test_unknown_feature_counts_as_its_mean(seed: int, column: int) -> None:
    columns, targets, groups = made(seed, planted=True)
    regime = fitted(columns, targets, groups)
    row = columns[0].copy()
    row[column] = np.nan
    unseen = regime.margin(row)
    row[column] = regime.center[column]
    assert unseen == pytest.approx(regime.margin(row), abs=1e-12)


def test_regime_weights_equal_those_of_scikit_learn() -> None:
    columns, targets, groups = made(4, planted=True)
    columns = np.nan_to_num(columns)
    regime = fitted(columns, targets, groups, (0.1,))
    scores = np.clip((columns - columns.mean(0)) / columns.std(0), -4, 4)
    theirs = LogisticRegression(C=0.1, solver="lbfgs", max_iter=5000, tol=1e-10)
    theirs.fit(scores, targets)
    ours = [regime.margin(row) for row in columns]
    assert ours == pytest.approx(theirs.decision_function(scores), abs=1e-4)


@given(groups=st.lists(st.integers(0, 12), min_size=30, max_size=80), seed=st.integers(0, 9))
def test_no_template_is_on_both_sides_of_an_inner_fold(groups: list[int], seed: int) -> None:
    names = np.array(groups)
    targets = np.random.default_rng(seed).random(len(names)) < 0.5
    for fitted_on, held in inner_folds(targets, names, seed):
        assert not set(names[fitted_on]) & set(names[held])
        assert 0 < targets[fitted_on].sum() < len(fitted_on)


def test_margin_of_the_wrong_sign_is_left_out_and_never_reversed() -> None:
    columns, targets, groups = made(7, planted=True)
    columns[:, 0] -= 2.0 * targets
    regime = fitted(columns, targets, groups)
    assert regime.weights[0] == 0.0
    columns[:, 0] = 0.0
    same = fitted(columns, targets, groups)
    assert regime.weights == pytest.approx(same.weights, abs=1e-4)


@pytest.mark.parametrize("spreads", [-4.5, -3.9, -1.0, 0.0, 2.5, 3.9, 4.5])
def test_slope_is_what_a_unit_of_the_ngram_margin_adds(spreads: float) -> None:
    regime = FittedRegime(
        center=np.array([1.0, 0.0]),
        scale=np.array([2.0, 1.0]),
        weights=np.array([0.6, 0.3]),
        bias=0.1,
        tightness=0.1,
    )
    row = np.array([1.0 + 2.0 * spreads, 0.5])
    further = row + np.array([0.01, 0.0])
    assert (regime.margin(further) - regime.margin(row)) / 0.01 == pytest.approx(regime.slope(row))
    assert (regime.slope(row) == 0.0) == (abs(spreads) > CLIP)
