"""Certified delivery: how often a certificate is false, and how often there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sentinel_sql.decision.certificate import certify
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.policy import SYSTEMS, policy
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.prefix_scores import PrefixScores
from small_runs import fitted


def answers(ranks: np.ndarray, correct: np.ndarray, templates: np.ndarray) -> PrefixScores:
    """Return columns of runs of one step that all end in an answer, with these raw scores."""
    count = len(ranks)
    ones, half = np.ones(count, np.bool_), np.full(2 * count, 0.5)
    return PrefixScores(
        question_ids=tuple(f"q{i}" for i in range(count)),
        templates=tuple(f"t{it}" for it in templates.tolist()),
        offsets=np.arange(0, 2 * count + 1, 2),
        p_answerable=half,
        p_correct=half,
        raw_correct=half,
        delivery_score=np.asarray(ranks, np.float64),
        delivery=np.full(count, 0.5),
        p_unanswerable=np.zeros(count),
        answered=ones,
        abstained=~ones,
        answerable=ones,
        correct=np.asarray(correct, np.bool_),
        clean=ones,
        tokens=np.zeros(2 * count),
        seconds=np.zeros(2 * count),
    )


@pytest.mark.parametrize(("stakes", "needed"), [(1.0, 4), (4.0, 11), (9.0, 22)])
def test_without_a_wrong_answer_few_templates_do(stakes: float, needed: int) -> None:
    for templates in (needed - 1, needed, needed + 30):
        found = certify(
            answers(np.linspace(1, 0, templates), np.ones(templates, bool), np.arange(templates)),
            stakes=stakes,
        )
        assert (found.bar is None) == (templates < needed)
        assert (found.needed, found.templates, found.could) == (needed, templates, templates)
        assert (f"at least {needed}" in found.why) == (templates < needed)


def simulate(
    rng: np.random.Generator, *, templates: int, error: float, each: int = 2, spread: float = 0.0
) -> PrefixScores:
    """Draw a project whose answers of one template are wrong together, at any raw score."""
    count = templates * each
    group = np.repeat(np.arange(templates), each)
    share = np.clip(error + spread * (rng.random(templates) - 0.5), 0, 1)
    wrong = np.repeat(rng.random(templates) < share, each)
    return answers(rng.random(count), ~wrong, group)


@pytest.mark.parametrize("stakes", [1.0, 4.0, 9.0])
@pytest.mark.parametrize("templates", [5, 12, 30, 80])
def test_a_certificate_is_false_as_seldom_as_it_says(stakes: float, templates: int) -> None:
    """At the boundary, where exactly 1/(1+λ) of the templates err, every certificate is false."""
    rng = np.random.default_rng(int(stakes) + templates)
    tries = 400
    false = sum(
        certify(simulate(rng, templates=templates, error=1 / (1 + stakes)), stakes=stakes).bar
        is not None
        for _ in range(tries)
    )
    assert false / tries <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / tries)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("stakes", [1.0, 4.0, 9.0])
@pytest.mark.parametrize("templates", [5, 10, 20, 40, 80])
def test_a_thousand_projects_keep_the_chance(stakes: float, templates: int, spread: float) -> None:
    rng = np.random.default_rng(7)
    error = 1 / (1 + stakes)
    spread = min(spread, 2 * error, 2 * (1 - error))
    false = sum(
        certify(
            simulate(rng, templates=templates, error=error, each=3, spread=spread), stakes=stakes
        ).bar
        is not None
        for _ in range(1000)
    )
    assert false / 1000 <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 1000)


def test_a_good_monitor_over_78_templates_is_certified_at_equal_stakes() -> None:
    """An agent that is right in 60 % of its answers, ranked at an AUROC of 0.9."""
    rng = np.random.default_rng(3)
    certified = 0
    for _ in range(200):
        correct = rng.random(156) < 0.6
        ranks = rng.normal(size=156) + 1.812 * correct  # AUROC Φ(1.812/√2) = 0.90
        certified += (
            certify(answers(ranks, correct, np.repeat(np.arange(78), 2)), stakes=1.0).bar
            is not None
        )
    assert certified >= 0.8 * 200


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 12), st.booleans()), min_size=1, max_size=40
    ),
    stakes=st.sampled_from([0.0, 0.5, 1.0, 4.0]),
)
@settings(max_examples=200)
def test_the_bar_is_the_one_that_a_plain_search_finds(
    rows: list[tuple[int, int, bool]], stakes: float
) -> None:
    ranks, groups, correct = (np.array(column) for column in zip(*rows, strict=True))
    found = certify(answers(ranks / 5, correct.astype(bool), groups), stakes=stakes)
    allowed, expected = 1 / (1 + stakes), None
    for bar in sorted(set(ranks / 5), reverse=True):
        inside = ranks / 5 >= bar
        templates = set(groups[inside])
        if len(templates) < found.needed:
            continue
        wrong = len(set(groups[inside & ~correct.astype(bool)]))
        if allowed < 1 and binom.cdf(wrong, len(templates), allowed) > 0.1:
            break
        expected = bar
    assert found.bar == expected


def test_a_guard_delivers_what_is_certified_and_else_says_why() -> None:
    monitor = fitted()[0]
    bars = {}
    for stakes in (0.0, 1.0, 100.0):
        guard = Guard.over(monitor, stakes=stakes, certified=True)
        bars[stakes] = guard.policy.certified_at
        assert (guard.stakes_message is None) == (bars[stakes] is not None)
    assert bars[0.0] is not None
    assert bars[100.0] is None
    message = Guard.over(monitor, stakes=100.0, certified=True).stakes_message
    assert "templates" in str(message)
    with pytest.raises(InputError, match="stands alone"):
        Guard.over(monitor, stakes=1.0, certified=True, early_stop=True)


def test_nothing_is_certified_without_a_calibration_pool() -> None:
    monitor = fitted()[0]
    rules = policy("certified", thresholds=monitor.thresholds, stakes=1.0)
    assert not rules.replay(monitor.calibration).delivered.any()
    assert replace(rules, certified_at=-1.0).replay(monitor.calibration).delivered.any()
    assert "certified" in SYSTEMS


@pytest.mark.parametrize("wrong", [{"chance": 0.0}, {"chance": 1.0}, {"risk": 1.5}, {"risk": -1.0}])
def test_an_impossible_chance_or_risk_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        certify(fitted()[0].calibration, stakes=1.0, **wrong)


def test_wrong_answers_at_the_top_are_named() -> None:
    correct = np.array([False, False, *[True] * 10])
    found = certify(answers(np.linspace(1, 0, 12), correct, np.arange(12)), stakes=1.0)
    assert found.why.startswith(
        "not with these 12 templates: of the 4 with the highest scores 2 deliver a wrong answer"
    )
