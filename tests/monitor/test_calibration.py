"""A calibration map never ranks two cases the wrong way, and its means are honest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from sentinel_sql.monitor.calibration import fit_map

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


def test_calibration_map_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    raw = rng.random(300)
    targets = rng.random(300) < raw**2
    asked = np.linspace(-0.2, 1.2, 1001)
    reference = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(raw, targets)
    assert fit_map(raw, targets)(asked) == pytest.approx(reference.predict(asked), abs=1e-12)


def test_confidences_average_to_the_share_of_positives() -> None:
    rng = np.random.default_rng(1)
    raw = rng.random(200)
    targets = rng.random(200) < raw
    assert fit_map(raw, targets)(raw).mean() == pytest.approx(targets.mean())


@pytest.mark.parametrize("only", [False, True])
def test_one_class_gives_a_constant_map(only: bool) -> None:
    level = fit_map(np.array([0.2, 0.7]), np.array([only, only]))
    assert level(np.array([0.0, 0.5, 1.0])).tolist() == [float(only)] * 3


def test_calibration_map_keeps_nan() -> None:
    for raw in ([0.5], [0.2, 0.8]):
        mapped = fit_map(np.array(raw), np.arange(len(raw)) > 0)(np.array([np.nan]))
        assert np.isnan(mapped).all()
