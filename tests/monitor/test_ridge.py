"""A ridge finds what is planted, leans on a prior where data are few, and ignores the unseen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from sentinel_sql.monitor.heads.ridge import Prior, fit_ridge

WIDTH = 8
NAMES = tuple(f"made.{number}" for number in range(WIDTH))
TRUE = np.array([1.5, -1.0, 0.8, 0.0, 0.0, 0.0, 0.5, 0.0])


def answers(cases: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(cases, WIDTH))
    targets = rng.random(cases) < 1.0 / (1.0 + np.exp(-columns @ TRUE))
    return columns, targets, np.arange(cases) // 2


def prior(weights: np.ndarray = TRUE) -> Prior:
    return Prior(names=NAMES, center=np.zeros(WIDTH), scale=np.ones(WIDTH), weights=weights)


def ranked(regime, columns: np.ndarray, targets: np.ndarray) -> float:
    scores = [regime.margin(np.append(0.0, row)) for row in columns]
    return float(roc_auc_score(targets, scores))


def test_without_a_prior_the_weights_equal_the_library_s() -> None:
    columns, targets, groups = answers(200, 1)
    regime = fit_ridge(columns, targets, groups, np.ones(200), strengths=(0.1,), seed=0)
    scores = (columns - columns.mean(0)) / columns.std(0)
    theirs = LogisticRegression(C=0.1, tol=1e-10, max_iter=5000).fit(
        np.clip(scores, -4, 4), targets
    )
    assert regime.weights[1:] == pytest.approx(theirs.coef_[0], abs=1e-4)
    assert regime.bias == pytest.approx(float(theirs.intercept_[0]), abs=1e-4)


def test_a_good_prior_ranks_better_than_none_where_answers_are_few() -> None:
    unseen, truth, _ = answers(2000, 99)
    gains = []
    for seed in range(8):
        columns, targets, groups = answers(25, seed)
        with_, without = (
            fit_ridge(columns, targets, groups, np.ones(25), prior=it, names=NAMES, seed=0)
            for it in (prior(), None)
        )
        gains.append(ranked(with_, unseen, truth) - ranked(without, unseen, truth))
    assert np.mean(gains) > 0.02


def test_many_answers_overrule_a_prior_that_is_wrong() -> None:
    unseen, truth, _ = answers(2000, 99)
    columns, targets, groups = answers(800, 3)
    regime = fit_ridge(
        columns, targets, groups, np.ones(800), prior=prior(-TRUE), names=NAMES, seed=0
    )
    assert ranked(regime, unseen, truth) > 0.8


@given(seed=st.integers(0, 30), unseen=st.integers(0, WIDTH - 1))
@settings(max_examples=15, deadline=None)
def test_a_feature_that_a_project_never_shows_moves_no_score(seed: int, unseen: int) -> None:
    columns, targets, groups = answers(40, seed)
    columns[:, unseen] = np.nan
    regime = fit_ridge(columns, targets, groups, np.ones(40), prior=prior(), names=NAMES, seed=0)
    assert all(regime.terms(np.append(0.0, row))[1 + unseen] == 0.0 for row in columns)
    assert np.isfinite([regime.margin(np.append(0.0, row)) for row in columns]).all()


def test_a_feature_that_the_prior_never_saw_is_learned_on_the_own_scale() -> None:
    columns, targets, groups = answers(400, 5)
    columns[:, 0] = 1000.0 + 50.0 * columns[:, 0]
    known = prior()
    blind = Prior(
        names=known.names,
        center=known.center,
        scale=np.where(np.arange(WIDTH) == 0, np.inf, 1.0),
        weights=known.weights,
    )
    regime = fit_ridge(columns, targets, groups, np.ones(400), prior=blind, names=NAMES, seed=0)
    assert regime.scale[1] == pytest.approx(columns[:, 0].std())
    assert regime.weights[1] > 0.3


def test_one_class_alone_keeps_the_prior_and_else_fits_nothing() -> None:
    columns, targets, groups = answers(20, 2)
    targets[:] = True
    without = fit_ridge(columns, targets, groups, np.ones(20), seed=0)
    assert [without.margin(np.append(0.7, row)) for row in columns] == [0.7] * 20
    regime = fit_ridge(columns, targets, groups, np.ones(20), prior=prior(), names=NAMES, seed=0)
    assert regime.weights[1:].tolist() == TRUE.tolist()


def test_names_and_not_places_join_a_prior_to_features() -> None:
    turned = Prior(
        names=NAMES[::-1], center=np.zeros(WIDTH), scale=np.ones(WIDTH), weights=TRUE[::-1].copy()
    )
    _, _, weights = turned.over(NAMES, np.zeros(WIDTH), np.ones(WIDTH))
    assert weights.tolist() == TRUE.tolist()
    _, _, none = turned.over(("new.one",), np.zeros(1), np.ones(1))
    assert none.tolist() == [0.0]
