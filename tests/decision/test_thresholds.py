from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from score_cases import (
    prefix_scores,
    random_scores,
    replay_one_by_one,
    score_by_hand,
    stakes_levels,
)
from sentinel_sql.decision.gate import choose_gate
from sentinel_sql.decision.thresholds import early_stop, freeze
from sentinel_sql.errors import BundleError, CannotFitError
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds


def minima(scores: PrefixScores) -> list[float]:
    return [
        min(scores.p_answerable[scores.offsets[i] : scores.offsets[i + 1]])
        for i in range(len(scores))
        if scores.answerable[i]
    ]


@given(prefix_scores(max_runs=900))
@settings(max_examples=60, deadline=None)
def test_gate_stops_at_most_half_a_percent_and_no_larger_gate_does(scores: PrefixScores) -> None:
    gate = choose_gate(scores, rule="paper")
    lows = minima(scores)
    if not lows:
        assert gate.theta is None
        assert "no answerable question" in gate.why
        return
    assert gate.theta is not None
    allowed = math.floor(Fraction(5, 1000) * len(lows))
    assert gate.allowed == allowed
    assert sum(low < gate.theta for low in lows) == gate.stopped <= allowed
    just_above = math.nextafter(gate.theta, math.inf)
    assert sum(low < just_above for low in lows) > allowed


@pytest.mark.parametrize(("answerable", "allowed"), [(199, 0), (200, 1), (600, 3), (1800, 9)])
def test_gate_counts_half_a_percent_exactly(answerable: int, allowed: int) -> None:
    scores = random_scores(1, answerable, grid=False)
    scores = replace(scores, answerable=np.ones(answerable, dtype=bool))
    gate = choose_gate(scores, rule="paper")
    assert (gate.allowed, gate.stopped) == (allowed, allowed)


@given(prefix_scores(), stakes_levels, st.sampled_from((None, 0.1, 0.3, 0.9)), st.booleans())
@settings(max_examples=150, deadline=None)
def test_early_stop_is_the_argmax_over_every_threshold(
    scores: PrefixScores, stakes: float, theta: float | None, exact: bool
) -> None:
    found = early_stop(scores, theta=theta, stakes=stakes, exact_bar=exact)

    def outcome(early: float | None) -> tuple[Fraction, int]:
        verdicts = replay_one_by_one(scores, theta=theta, early=early, stakes=stakes, exact=exact)
        return score_by_hand(scores, verdicts, stakes)

    candidates = [None, *np.unique(scores.p_correct), math.inf]
    best = max(outcome(candidate) for candidate in candidates)
    assert outcome(found.threshold) == best
    assert (found.rs, found.steps_saved) == (float(best[0]), best[1])
    assert found.rs_without == float(outcome(None)[0]) <= found.rs


@given(prefix_scores(), stakes_levels)
@settings(max_examples=60, deadline=None)
def test_early_stop_never_stops_where_that_saves_nothing(
    scores: PrefixScores, stakes: float
) -> None:
    never = early_stop(scores, theta=None, stakes=stakes)
    if never.threshold is None:
        assert never.steps_saved == 0
        assert never.rs == never.rs_without
    else:
        assert never.steps_saved > 0


def test_thresholds_survive_json_to_the_last_bit() -> None:
    frozen = freeze(random_scores(3, 300, grid=False))
    assert Thresholds.from_json(json.loads(json.dumps(frozen.to_json()))) == frozen
    assert frozen.early_stop(4.0) == early_stop(
        random_scores(3, 300, grid=False), theta=frozen.gate.theta, stakes=4.0
    )
    assert frozen.early_stop(2.0) is None


def test_damaged_thresholds_are_refused_by_name() -> None:
    with pytest.raises(BundleError, match="sentinel fit"):
        Thresholds.from_json({"gate": {"theta": 0.1}, "early_stops": []})


def test_an_empty_pool_freezes_nothing() -> None:
    with pytest.raises(CannotFitError, match="holds no run"):
        freeze(random_scores(0, 0))


def test_early_stop_takes_no_quadratic_time() -> None:
    scores = random_scores(5, 40_000, grid=False, longest=8)
    started = time.process_time()
    early_stop(scores, theta=0.01, stakes=1.0)
    assert time.process_time() - started < 2.0
