"""The hybrid is scikit-learn's boosting kept as plain arrays, and is chosen only if it helps."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from sentinel_sql.monitor import delivery_estimator as module
from sentinel_sql.monitor.delivery_estimator import (
    FittedHybrid,
    choose_delivery,
    fit_hybrid,
    hybrid_inputs,
)


def cases(seed: int, count: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    correct = rng.random(count) < 0.5
    score = np.clip(0.5 + 0.2 * (correct - 0.5) + rng.normal(0, 0.2, count), 0, 1)
    features = rng.normal(0, 1, (count, 10))
    return score, features, correct


def test_hybrid_scores_equal_those_of_scikit_learn() -> None:
    score, features, correct = cases(0)
    inputs = hybrid_inputs(score, features)
    reference = GradientBoostingClassifier(
        n_estimators=module.TREES,
        max_depth=module.DEPTH,
        learning_rate=module.RATE,
        min_samples_leaf=round(module.LEAF * len(correct)),
        random_state=7,
    ).fit(inputs, correct)
    asked = hybrid_inputs(*cases(1)[:2])
    scored = fit_hybrid(inputs, correct, seed=7).score(asked)
    assert scored == pytest.approx(reference.predict_proba(asked)[:, 1], abs=1e-12)


def test_hybrid_scores_are_equal_singly_in_a_batch_and_restored() -> None:
    score, features, correct = cases(2)
    inputs = hybrid_inputs(score, features)
    fitted = fit_hybrid(inputs, correct, seed=7)
    together = fitted.score(inputs)
    assert [fitted.score(row[np.newaxis])[0] for row in inputs] == together.tolist()
    assert FittedHybrid.restore(fitted.arrays()).score(inputs).tolist() == together.tolist()


def test_informative_feature_makes_the_hybrid_win() -> None:
    score, features, correct = cases(3)
    features[:, 5] = correct + np.random.default_rng(3).normal(0, 0.3, len(correct))
    fitted = fit_hybrid(hybrid_inputs(score, features), correct, seed=7)
    chosen = choose_delivery(fitted, correctness=score, features=features, correct=correct)
    assert chosen.name == "hybrid"
    assert (
        chosen.score(score, features).tolist()
        == fitted.score(hybrid_inputs(score, features)).tolist()
    )


@pytest.mark.parametrize(("gain", "name"), [(0.004, "head"), (0.006, "hybrid")])
def test_head_alone_wins_within_half_a_point(
    gain: float, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, features, correct = cases(4)
    fitted = fit_hybrid(hybrid_inputs(score, features), correct, seed=7)
    aurocs = iter([0.8, 0.8 + gain])
    monkeypatch.setattr("sklearn.metrics.roc_auc_score", lambda *_: next(aurocs))
    chosen = choose_delivery(fitted, correctness=score, features=features, correct=correct)
    assert chosen.name == name
