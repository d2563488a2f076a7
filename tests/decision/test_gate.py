"""A gate exists only where enough answerable templates carry it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from score_cases import prefix_scores, random_scores
from sentinel_sql.decision.exact_bound import cases_needed, lower_bound, upper_bound
from sentinel_sql.decision.gate import choose_gate, gate_rule
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.prefix_scores import PrefixScores


def all_answerable(count: int, *, templates: int, seed: int = 0) -> PrefixScores:
    """Make runs of answerable questions, dealt to templates in turn."""
    scores = random_scores(seed, count, grid=False)
    return replace(
        scores,
        answerable=np.ones(count, np.bool_),
        templates=tuple(f"t{number % templates}" for number in range(count)),
    )


def stopped_templates(scores: PrefixScores, theta: float) -> set[str]:
    """Return the answerable templates of which the gate stops any run, by plain loops."""
    return {
        scores.templates[i]
        for i in range(len(scores))
        if scores.answerable[i]
        and min(scores.p_answerable[scores.offsets[i] : scores.offsets[i + 1]]) < theta
    }


@given(st.integers(0, 60), st.integers(1, 60))
def test_bounds_are_those_of_an_independent_implementation(hits: int, more: int) -> None:
    cases = hits + more
    upper = binomtest(hits, cases, alternative="less").proportion_ci(0.9, "exact").high
    lower = binomtest(hits, cases, alternative="greater").proportion_ci(0.9, "exact").low
    assert upper_bound(hits, cases) == pytest.approx(upper, abs=1e-9)
    assert lower_bound(hits, cases) == pytest.approx(lower, abs=1e-9)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 0.99])
def test_cases_needed_is_the_smallest_sufficient_count(share: float) -> None:
    count = cases_needed(share)
    assert upper_bound(0, count) <= share
    assert count == 1 or upper_bound(0, count - 1) > share


def test_forty_five_templates_without_a_loss_carry_a_gate_at_five_percent() -> None:
    assert cases_needed(0.05) == 45
    few, enough = (choose_gate(all_answerable(200, templates=n)) for n in (44, 45))
    assert few.theta is None
    assert "45 without a loss would" in few.why
    assert enough.theta is not None
    assert enough.templates_stopped == 0


@given(prefix_scores(max_runs=120), st.sampled_from((0.02, 0.05, 0.2, 0.4)))
@settings(max_examples=80, deadline=None)
def test_theta_is_the_largest_that_satisfies_the_bound(
    scores: PrefixScores, tolerance: float
) -> None:
    scores = replace(scores, templates=scores.question_ids)
    gate = choose_gate(scores, tolerance=tolerance)
    count = int(scores.answerable.sum())

    def bound(theta: float) -> float:
        return upper_bound(len(stopped_templates(scores, theta)), count) if count else 1.0

    if gate.theta is None:
        assert bound(0.0) > tolerance
        return
    assert bound(gate.theta) == gate.bound <= tolerance
    assert len(stopped_templates(scores, gate.theta)) == gate.templates_stopped
    assert bound(np.nextafter(gate.theta, np.inf)) > tolerance


def test_one_stopped_question_counts_its_whole_template_once() -> None:
    scores = all_answerable(300, templates=60)
    low = np.array(scores.p_answerable)
    for run in (0, 60, 120):  # three runs of one template
        low[scores.offsets[run]] = 0.0
    many = choose_gate(replace(scores, p_answerable=low), tolerance=0.1)
    assert many.theta is not None
    assert many.theta > 0.0
    assert "t0" in stopped_templates(replace(scores, p_answerable=low), many.theta)


def test_the_bound_holds_on_new_templates_nine_times_in_ten() -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(400):
        lows = rng.random(60)
        scores = all_answerable(60, templates=60)
        scores = replace(
            scores,
            offsets=np.arange(61),
            **{name: np.zeros(60) for name in ("p_correct", "raw_correct", "tokens", "seconds")},
            p_answerable=lows,
        )
        theta = choose_gate(scores).theta
        assert theta is not None
        held.append(theta <= 0.05)  # a gate at θ stops the share θ of such templates
    assert np.mean(held) >= 0.88


def test_without_a_gate_by_choice_nothing_is_stopped_whatever_the_pool() -> None:
    gate = choose_gate(all_answerable(300, templates=100), rule="none")
    assert gate.theta is None
    assert "switched off" in gate.why


def test_the_papers_rule_is_available() -> None:
    gate = choose_gate(all_answerable(40, templates=4), rule="paper")
    assert gate.theta is not None
    assert (gate.allowed, gate.stopped) == (0, 0)
    assert freeze(all_answerable(40, templates=4), gate="paper").gate == gate


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -0.1, 5, float("nan")])
def test_a_tolerance_that_is_no_share_is_refused(tolerance: float) -> None:
    with pytest.raises(InputError, match="gate_tolerance"):
        gate_rule(True, tolerance)


@pytest.mark.parametrize("gate", ["bounded?", "none", "", None, 1.5])
def test_an_unknown_rule_is_refused(gate: Any) -> None:
    with pytest.raises(InputError, match="no choice"):
        gate_rule(gate)
