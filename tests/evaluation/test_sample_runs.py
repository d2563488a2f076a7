from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from score_cases import prefix_scores, random_scores
from sentinel_sql.decision.policy import KINDS, Policy
from sentinel_sql.evaluation.sample_runs import MOST, choose_runs
from sentinel_sql.monitor.prefix_scores import PrefixScores

POLICIES = (Policy(stakes=1.0, theta=0.1, early=0.2), Policy(stakes=4.0, theta=0.1))


@given(prefix_scores(), st.integers(0, 50))
def test_sample_holds_each_run_at_most_once_and_all_if_there_is_room(
    scores: PrefixScores, most: int
) -> None:
    chosen = choose_runs(scores, POLICIES, most=most)
    assert len(chosen) == len(set(chosen)) == min(most, len(scores))
    assert all(0 <= i < len(scores) for i in chosen)


def test_small_sample_has_every_kind_of_decision_and_mistake() -> None:
    scores = random_scores(7, 3000)
    chosen = list(choose_runs(scores, POLICIES))
    assert len(chosen) == MOST
    for policy in POLICIES:
        verdicts = policy.replay(scores)
        for kind in range(len(KINDS)):
            for right in (True, False):
                group = (verdicts.kinds == kind) & (scores.correct == right)
                assert group[chosen].any() == group.any(), (KINDS[kind], right)


def test_most_confident_wrong_answer_comes_first() -> None:
    scores = random_scores(8, 500, grid=False)
    policy = Policy(stakes=1.0)
    delivered_wrong = policy.replay(scores).delivered & ~scores.correct & scores.answerable
    surest = np.flatnonzero(delivered_wrong)[np.argmax(scores.delivery[delivered_wrong])]
    first = choose_runs(scores, [policy], most=4)
    assert surest in first


def test_least_confident_lost_answer_comes_first_among_lost_ones() -> None:
    scores = random_scores(9, 500, grid=False)
    policy = Policy(stakes=4.0)
    lost = ~policy.replay(scores).delivered & scores.correct
    worst = np.flatnonzero(lost)[np.argmin(scores.delivery[lost])]
    assert worst in choose_runs(scores, [policy], most=4)
