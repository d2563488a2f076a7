"""Kinds of calibration maps: monotone, within their counts, and chosen on held-out templates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.calibration_choice import KINDS, choose_map, fit_venn_abers

cases = st.integers(0, 10_000), st.integers(1, 120)


def drawn(seed: int, size: int, *, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.random(size)
    targets = rng.random(size) < scores**2
    return (np.round(scores, 1) if ties else scores), targets


@pytest.mark.parametrize("kind", KINDS)
@given(seed=cases[0], size=cases[1], ties=st.booleans())
@settings(max_examples=30, deadline=None)
def test_no_confidence_exceeds_the_best_set_of_top_answers(
    kind: str, seed: int, size: int, ties: bool
) -> None:
    scores, targets = drawn(seed, size, ties=ties)
    found = KINDS[kind](scores, targets)
    # by brute force over every set of top answers
    best = max((targets[scores >= bar].sum() + 1) / ((scores >= bar).sum() + 2) for bar in scores)
    worst = min((targets[scores <= bar].sum() + 1) / ((scores <= bar).sum() + 2) for bar in scores)
    levels = found(np.linspace(0, 1, 200))
    assert (np.diff(levels) >= 0).all()
    if kind != "isotonic":  # whose blocks carry their own counts
        assert worst - 1e-12 <= levels.min() <= levels.max() <= best + 1e-12
    assert 1 / (size + 2) <= levels.min() <= levels.max() <= (size + 1) / (size + 2)


def test_venn_abers_equals_two_isotonic_fits_for_each_score() -> None:
    scores, targets = drawn(3, 60)
    found = fit_venn_abers(scores, targets)
    for score in scores[::7]:
        p0, p1 = (
            IsotonicRegression()
            .fit(np.append(scores, score), np.append(targets, label).astype(float))
            .predict([score])[0]
            for label in (0, 1)
        )
        merged = p1 / (1 - p0 + p1)
        if found.confidences[0] < merged < found.confidences[-1]:
            assert found(score) == pytest.approx(merged, abs=1e-9)


def test_a_curve_is_chosen_where_scores_follow_it_and_steps_where_they_jump() -> None:
    rng = np.random.default_rng(1)
    groups = np.arange(3000) // 3
    scores = rng.random(3000)
    logistic = rng.random(3000) < 1 / (1 + np.exp(-4 * np.log(scores / (1 - scores))))
    _, smooth = choose_map(scores, logistic, groups, seed=0)
    assert smooth.kind in ("platt", "beta")
    jump = rng.random(3000) < np.where(scores < 0.5, 0.05, np.where(scores < 0.55, 0.9, 0.92))
    _, steps = choose_map(scores, jump, groups, seed=0)
    assert steps.kind in ("isotonic", "venn-abers")


def test_the_chosen_kind_has_the_least_loss_and_all_losses_are_told() -> None:
    scores, targets = drawn(5, 300)
    its_map, choice = choose_map(scores, targets, np.arange(300) // 3, seed=0)
    assert set(choice.log_loss) == set(KINDS)
    assert choice.log_loss[choice.kind] == min(choice.log_loss.values())
    assert choice.templates == 100
    again = KINDS[choice.kind](scores, targets)
    assert its_map.confidences.tolist() == again.confidences.tolist()


def test_too_few_templates_keep_the_isotonic_map_and_compare_nothing() -> None:
    scores, targets = drawn(5, 30)
    _, choice = choose_map(scores, targets, np.zeros(30, np.int64), seed=0)
    assert (choice.kind, choice.log_loss) == ("isotonic", {})


def test_scores_that_point_the_wrong_way_get_one_level() -> None:
    scores, targets = drawn(8, 200)
    for kind in ("platt", "beta"):
        levels = KINDS[kind](1 - scores, targets).confidences
        assert np.ptp(levels) < 1e-9


def test_an_unknown_kind_is_named_with_those_there_are() -> None:
    scores, targets = drawn(1, 30)
    with pytest.raises(InputError, match="no calibration 'temperature': choose one of chosen, iso"):
        choose_map(scores, targets, np.arange(30), calibration="temperature", seed=0)  # type: ignore[arg-type]
