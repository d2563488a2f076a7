from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from score_cases import prefix_scores, random_scores, replay_one_by_one, stakes_levels
from sentinel_sql.decision.policy import KINDS, REASONS, SYSTEMS, Ending, Policy, policy
from sentinel_sql.decision.thresholds import early_stop, freeze
from sentinel_sql.monitor.prefix_scores import PrefixScores


@dataclass(frozen=True)
class Seen:
    t: int
    p_answerable: float = 1.0
    p_correct: float = 1.0
    delivery: float | None = None
    delivery_score: float | None = None
    p_unanswerable: float | None = None


def stepped(rules: Policy, scores: PrefixScores) -> list[tuple[str, str, int]]:
    verdicts = []
    for i in range(len(scores)):
        steps = int(scores.steps[i])
        own: Ending = (
            "answer" if scores.answered[i] else "abstention" if scores.abstained[i] else "cap"
        )
        for t in range(steps + 1):
            row = int(scores.offsets[i]) + t
            ending = own if t == steps else None
            answer = ending == "answer"
            decision = rules.decide(
                Seen(
                    t=t,
                    p_answerable=float(scores.p_answerable[row]),
                    p_correct=float(scores.p_correct[row]),
                    delivery=float(scores.delivery[i]) if answer else None,
                    delivery_score=float(scores.delivery_score[i]) if answer else None,
                    p_unanswerable=float(scores.p_unanswerable[i]) if answer else None,
                ),
                ending,
            )
            if decision.stops:
                verdicts.append((decision.kind, decision.reason, t))
                break
    return verdicts


thresholds = st.sampled_from((None, 0.0, 0.1, 0.3, 0.5, 0.9, 1.1))


@given(
    prefix_scores(),
    stakes_levels,
    thresholds,
    thresholds,
    st.sampled_from((None, "chow", "exact", "certified")),
)
@settings(max_examples=150, deadline=None)
def test_replay_equals_stepping_the_policy_equals_the_rules_by_hand(
    scores: PrefixScores, stakes: float, theta: float | None, early: float | None, bar: str | None
) -> None:
    at = theta if bar == "certified" else None
    rules = Policy(stakes=stakes, theta=theta, early=early, bar=bar, certified_at=at)  # type: ignore[arg-type]
    verdicts = rules.replay(scores)
    replayed = [
        (KINDS[kind], REASONS[reason], int(t))
        for kind, reason, t in zip(verdicts.kinds, verdicts.reasons, verdicts.t, strict=True)
    ]
    assert replayed == stepped(rules, scores)
    assert replayed == replay_one_by_one(
        scores,
        theta=theta,
        early=early,
        stakes=stakes,
        exact=bar == "exact",
        chow=bar is not None,
        certified=bar == "certified",
        certified_at=at,
    )
    assert list(verdicts.delivered) == [kind == "deliver" for kind, _, _ in replayed]


def test_a_confidence_on_the_bar_is_delivered_and_one_below_it_is_not() -> None:
    for stakes, bar in ((1.0, 0.5), (4.0, 0.8), (9.0, 0.9)):
        rules = Policy(stakes=stakes)
        assert rules.decide(Seen(2, delivery=bar), "answer").kind == "deliver"
        below = Seen(2, delivery=float(np.nextafter(bar, 0)))
        assert rules.decide(below, "answer").reason == "below-bar"


def test_a_score_on_the_gate_goes_on_and_one_below_it_stops() -> None:
    rules = Policy(stakes=1.0, theta=0.25)
    assert not rules.decide(Seen(0, p_answerable=0.25), None).stops
    below = float(np.nextafter(0.25, 0))
    assert rules.decide(Seen(0, p_answerable=below), None).kind == "refuse"
    assert rules.decide(Seen(1, p_answerable=below), None).kind == "exit"
    assert rules.decide(Seen(1, p_answerable=below, delivery=1.0), "answer").kind == "withhold"


def test_early_stop_spares_the_question_alone_and_the_committing_step() -> None:
    rules = Policy(stakes=1.0, early=0.5)
    assert not rules.decide(Seen(0, p_correct=0.0), None).stops
    assert rules.decide(Seen(1, p_correct=0.0), None).reason == "unlikely-correct"
    assert rules.decide(Seen(1, p_correct=0.0, delivery=0.9), "answer").kind == "deliver"


def test_an_answer_without_a_confidence_is_never_waved_through() -> None:
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match="confidence"):
            Policy(stakes=1.0).decide(Seen(1, delivery=missing), "answer")


def test_exact_bar_without_its_estimate_is_an_error() -> None:
    with pytest.raises(ValueError, match="unanswerable"):
        Policy(stakes=1.0, bar="exact").decide(Seen(1, delivery=0.9), "answer")


@given(prefix_scores(), stakes_levels)
@settings(max_examples=60, deadline=None)
def test_the_early_stop_system_at_new_stakes_uses_the_calibration_pool(
    scores: PrefixScores, stakes: float
) -> None:
    frozen = freeze(scores, stakes=(1.0,))
    rules = policy("early-stop", thresholds=frozen, stakes=stakes, calibration=scores)
    best = early_stop(scores, theta=frozen.gate.theta, stakes=stakes)
    if not frozen.serves(stakes):
        assert not rules.served
        return
    assert (rules.theta, rules.early, rules.bar) == (frozen.gate.theta, best.threshold, "chow")


def test_stakes_without_an_early_stop_are_named() -> None:
    frozen = freeze(random_scores(1, 50), stakes=(1.0,)).model_copy(update={"served": None})
    with pytest.raises(ValueError, match="stakes 2"):
        policy("early-stop", thresholds=frozen, stakes=2.0)


@given(prefix_scores())
@settings(max_examples=60, deadline=None)
def test_always_abstain_runs_no_step_and_vanilla_runs_every_step(scores: PrefixScores) -> None:
    frozen = freeze(scores, stakes=(1.0,))
    nothing = policy("always-abstain", thresholds=frozen, stakes=1.0).replay(scores)
    assert not nothing.delivered.any()
    assert not nothing.t.any()
    everything = policy("vanilla", thresholds=frozen, stakes=1.0).replay(scores)
    assert list(everything.delivered) == list(scores.answered)
    assert list(everything.t) == list(scores.steps)
    assert set(SYSTEMS) >= {"vanilla", "gate", "chow", "full", "early-stop", "always-abstain"}
