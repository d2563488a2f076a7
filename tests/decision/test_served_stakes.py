"""A monitor delivers only at stakes that its calibration counts carry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from score_cases import prefix_scores, random_scores, stakes_levels
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.payoff import chow_bar
from sentinel_sql.decision.policy import KINDS, REASONS, policy
from sentinel_sql.decision.thresholds import freeze, served_stakes
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds
from small_runs import fitted, world


def answers(*block: tuple[str, bool]) -> PrefixScores:
    """Make a pool whose highest answers are these, (template, right); the others are wrong."""
    scores = random_scores(4, 40 + len(block), grid=False, longest=3)
    top = np.arange(len(scores)) >= 40
    templates = [*scores.templates[:40], *(template for template, _ in block)]
    correct = np.array([False] * 40 + [right for _, right in block])
    return replace(
        scores,
        templates=tuple(templates),
        answered=scores.answered | top,
        abstained=scores.abstained & ~top,
        correct=correct,
        delivery_score=np.where(top, 0.995, np.minimum(scores.delivery_score, 0.9)),
        delivery=np.where(top, 0.995, np.minimum(scores.delivery, 0.9)),
    )


def test_thirteen_right_answers_of_seven_templates_serve_what_seven_carry() -> None:
    block = [(f"n{number % 7}", True) for number in range(13)]
    served = served_stakes(answers(*block))
    assert (served.templates, served.right) == (7, 7)
    assert served.bound == pytest.approx(0.1 ** (1 / 7))
    assert chow_bar(served.limit) == pytest.approx(served.bound)


def test_a_template_with_a_wrong_answer_counts_as_wrong() -> None:
    block = [("a", True), ("a", False), ("a", True), ("b", True), ("c", True)]
    served = served_stakes(answers(*block))
    assert (served.templates, served.right) == (3, 2)
    assert served_stakes(answers(("a", False), ("b", False))).limit == 0.0


def test_a_pool_without_an_answer_serves_no_stakes_above_zero() -> None:
    scores = random_scores(1, 30)
    nobody = np.zeros(30, np.bool_)
    assert served_stakes(replace(scores, answered=nobody, correct=nobody)).limit == 0.0


@given(prefix_scores(), stakes_levels)
@settings(max_examples=60, deadline=None)
def test_above_its_stakes_every_system_with_a_bar_refuses_everything(
    scores: PrefixScores, stakes: float
) -> None:
    thresholds = freeze(scores)
    assert thresholds.served is not None
    for system in ("chow", "full", "early-stop"):
        verdicts = policy(system, thresholds=thresholds, stakes=stakes, calibration=scores).replay(
            scores
        )
        if stakes > thresholds.served.limit:
            assert set(verdicts.kinds.tolist()) == {KINDS.index("refuse")}
            assert set(verdicts.reasons.tolist()) == {REASONS.index("stakes-too-high")}
        else:
            assert REASONS.index("stakes-too-high") not in verdicts.reasons


@pytest.mark.parametrize("stakes", [1e9, 50.0, 12.5])
@pytest.mark.parametrize("on_unavailable", ["withhold", "deliver"])
def test_a_guard_above_its_stakes_says_so_and_delivers_nothing(
    stakes: float, on_unavailable: str
) -> None:
    monitor = fitted()[0]
    guard = Guard.over(monitor, stakes=stakes, on_unavailable=on_unavailable)  # type: ignore[arg-type]
    assert guard.stakes_message is not None
    assert f"{monitor.thresholds.served.limit:.3g}" in guard.stakes_message  # type: ignore[union-attr]
    for run in world()[0][:20]:
        with guard.session(run.question) as session:
            assert session.verdict.reason == "stakes-too-high"
            for step in run.steps:
                if not session.stops:
                    session.observe_step(step)
        assert session.answer is not None
        assert not session.answer.delivered


def test_a_single_session_at_higher_stakes_delivers_nothing_either() -> None:
    guard = Guard.over(fitted()[0], stakes=0.1)
    assert guard.stakes_message is None
    with guard.session("how many patients got heparin", stakes=1e6) as session:
        assert session.verdict.reason == "stakes-too-high"


def test_a_guard_can_leave_the_gate_out() -> None:
    monitor = fitted()[0]
    paper = monitor.thresholds.gate.model_copy(update={"theta": 0.9, "rule": "paper"})
    gated = replace(monitor, thresholds=monitor.thresholds.model_copy(update={"gate": paper}))
    assert Guard.over(gated, stakes=0.5).policy.theta == 0.9
    for early_stop in (False, True):
        guard = Guard.over(gated, stakes=0.5, gate=False, early_stop=early_stop)
        assert guard.policy.theta is None
        with guard.session("who was given lasix", stakes=0.25) as session:
            assert session.verdict.theta is None


def test_thresholds_of_earlier_versions_refuse_no_stakes() -> None:
    old = {"gate": {"theta": 0.25, "answerable": 9, "allowed": 0, "stopped": 0}, "early_stops": []}
    known = Thresholds.from_json(old)
    assert known.served is None
    assert known.serves(1e9)
    assert known.gate.rule == "paper"
