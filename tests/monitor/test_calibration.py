"""A calibration map never ranks two cases the wrong way, and its means are honest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from sentinel_sql.monitor.calibration import CalibrationMap, fit_map

scores = st.floats(0.0, 1.0) | st.sampled_from([0.1, 0.3, np.nextafter(0.3, 1), 5e-324])
cases = st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=60)


@given(cases, st.lists(scores, min_size=2, max_size=60))
def test_a_higher_score_never_gets_a_lower_confidence(
    fitted_on: list[tuple[float, bool]], asked: list[float]
) -> None:
    raw, targets = map(np.array, zip(*fitted_on, strict=True))
    ordered = np.sort(np.concatenate([raw, asked]))
    confidences = fit_map(raw, targets)(ordered)
    assert np.all(np.diff(confidences) >= 0.0)
    assert np.all((confidences >= 0.0) & (confidences <= 1.0))


@given(cases)
def test_block_confidence_follows_the_rule_of_succession(
    fitted_on: list[tuple[float, bool]],
) -> None:
    raw, targets = map(np.array, zip(*fitted_on, strict=True))
    confidences = fit_map(raw, targets)(raw)
    for level in np.unique(confidences):
        block = targets[np.isclose(confidences, level, rtol=0, atol=1e-12)]
        assert level == pytest.approx((block.sum() + 1) / (len(block) + 2), abs=1e-9)


@given(cases)
def test_no_confidence_is_certain(fitted_on: list[tuple[float, bool]]) -> None:
    raw, targets = map(np.array, zip(*fitted_on, strict=True))
    count = len(raw)
    confidences = fit_map(raw, targets)(np.linspace(-1, 2, 301))
    assert confidences.min() >= 1 / (count + 2)
    assert confidences.max() <= (count + 1) / (count + 2)


def test_with_many_cases_the_map_approaches_isotonic_regression() -> None:
    rng = np.random.default_rng(0)
    raw = np.repeat(np.linspace(0.05, 0.95, 10), 4000)
    targets = rng.random(len(raw)) < raw**2
    asked = np.linspace(-0.2, 1.2, 1001)
    reference = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(raw, targets)
    assert fit_map(raw, targets)(asked) == pytest.approx(reference.predict(asked), abs=1e-3)


def test_single_right_answer_at_the_top_joins_the_block_below() -> None:
    raw = np.array([0.1] * 10 + [0.8] * 40 + [0.9])
    targets = np.array([False] * 10 + [True] * 39 + [False] + [True])
    assert fit_map(raw, targets)(0.9) == pytest.approx(41 / 43)


def test_thirteen_of_thirteen_is_not_certain() -> None:
    raw = np.array([0.2] * 13 + [0.9] * 13)
    assert fit_map(raw, raw > 0.5)(np.array([0.9, 1.0])) == pytest.approx(14 / 15)


@pytest.mark.parametrize("only", [False, True])
def test_one_class_gives_a_constant_map(only: bool) -> None:
    level = fit_map(np.array([0.2, 0.7]), np.array([only, only]))
    assert level(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.75 if only else 0.25] * 3)


@pytest.mark.parametrize(
    ("scores", "confidences", "what"),
    [
        ([0.1, 0.2], [0.1], "length"),
        ([], [], "length"),
        ([[0.1]], [[0.1]], "length"),
        ([0.1, np.nan], [0.1, 0.2], "finite"),
        ([0.1, 0.2], [0.1, np.inf], "finite"),
        ([0.2, 0.1], [0.1, 0.2], "monotone"),
        ([0.1, 0.1], [0.1, 0.2], "monotone"),
        ([0.1, 0.2], [0.2, 0.1], "monotone"),
        ([0.1, 0.2], [0.2, 1.1], "range"),
    ],
)
def test_invalid_map_is_refused(scores: list[float], confidences: list[float], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        CalibrationMap(scores=np.array(scores, float), confidences=np.array(confidences, float))


@pytest.mark.parametrize("scores", [[-0.1, 0.2], [0.2, 1.1]])
def test_a_stored_map_of_impossible_scores_is_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="range"):
        CalibrationMap.restore({"scores": np.array(scores), "confidences": np.array([0.2, 0.3])})


def test_calibration_map_keeps_nan() -> None:
    for raw in ([0.5], [0.2, 0.8]):
        mapped = fit_map(np.array(raw), np.arange(len(raw)) > 0)(np.array([np.nan]))
        assert np.isnan(mapped).all()


def test_scores_of_any_range_get_confidences() -> None:
    raw = np.array([-40.0, -3.5, -3.0, 0.0, 12.0])  # such as mean log-probabilities of a rival
    fitted = fit_map(raw, np.array([False, False, True, True, True]))
    assert (np.diff(fitted(raw)) >= 0).all()
    assert fitted(np.array([-100.0, 100.0])).tolist() == [fitted(raw)[0], fitted(raw)[-1]]


def test_a_stored_map_from_zero_to_one_is_restored() -> None:
    arrays = {"scores": np.array([0.0, 1.0]), "confidences": np.array([0.0, 1.0])}
    assert CalibrationMap.restore(arrays)([0.25, 1.0]).tolist() == [0.25, 1.0]
