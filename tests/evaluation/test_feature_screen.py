"""The screen finds a planted feature, and no survivor among noise; knock-outs show the carrier."""

from __future__ import annotations

import numpy as np
import pytest

from sentinel_sql.evaluation.studies.feature_screen import (
    ScreenScores,
    family_knockouts,
    feature_screen,
    survivor_matrix,
)

N = 300


@pytest.fixture(scope="module")
def scores() -> ScreenScores:
    rng = np.random.default_rng(5)
    correct = rng.random(N) < 0.5
    noise = rng.normal(size=N)
    told = noise + 2.0 * correct
    return ScreenScores(
        templates=tuple(f"t{i % 60}" for i in range(N)),
        correct=correct,
        clean=rng.random(N) < 0.9,
        ngrams=noise,
        features={"lp_mean": told, "n_steps": noise + 0.01 * rng.normal(size=N)},
        families={"shape": told, "slots": noise},
        without={"shape": noise, "slots": told},
        whole=told,
    )


def test_only_informative_features_survive(scores: ScreenScores) -> None:
    screen = feature_screen(scores, seed=1)
    told = {row.feature: row.survives for row in survivor_matrix("agent", screen).rows}
    assert told == {"lp_mean": True, "n_steps": False}
    gains = {row.name: row.gain for row in screen.rows}
    assert gains["n-grams alone"] is not None
    assert gains["n-grams alone"].estimate == 0.0
    assert gains["shape"] is not None
    assert gains["shape"].low > 0.2


def test_knockout_loses_what_the_family_added(scores: ScreenScores) -> None:
    losses = {row.family: row.loss for row in family_knockouts(scores, seed=1).rows}
    assert losses["shape"] is not None
    assert losses["shape"].low > 0.2
    assert losses["slots"] is not None
    assert losses["slots"].estimate == 0.0
