"""Replays of systems over recorded runs: what each would have delivered, earned and spent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.decision.payoff import payoffs, reliability_score, right_and_wrong
from sentinel_sql.decision.policy import KINDS, Policy, policy
from sentinel_sql.decision.ragged_columns import run_of, times
from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints, PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One system at one level of stakes over N recorded runs.

    Attributes:
        system: a name of `decision.policy.SYSTEMS`.
        policy: the system's checks with their thresholds.
        kinds: shape (N,), indices into `decision.policy.KINDS`.
        reasons: shape (N,), indices into `decision.policy.REASONS`.
        delivered: shape (N,).
        right: shape (N,), 1 where the question earns +1.
        wrong: shape (N,), 1 where it costs λ.
        payoff: shape (N,), each in {1, 0, −λ}.
        steps: shape (N,), steps run.
        steps_saved: shape (N,), T − steps.
        tokens: shape (N,), completion tokens generated; NaN where unknown.
        seconds: shape (N,), model time spent; NaN where unknown.
    """

    system: str
    policy: Policy
    kinds: Ints
    reasons: Ints
    delivered: Bools
    right: Ints
    wrong: Ints
    payoff: Floats
    steps: Ints
    steps_saved: Ints
    tokens: Floats
    seconds: Floats

    @property
    def stakes(self) -> float:
        """λ."""
        return self.policy.stakes

    @property
    def rs(self) -> float:
        """The reliability score RS(λ): the mean payoff, computed exactly from the counts."""
        return reliability_score(
            right=int(self.right.sum()),
            wrong=int(self.wrong.sum()),
            questions=len(self.right),
            stakes=self.stakes,
        )

    @property
    def decisions(self) -> dict[str, int]:
        """The number of runs that ended in each kind of decision."""
        counts = np.bincount(self.kinds, minlength=len(KINDS))
        return {
            kind: int(count)
            for kind, count in zip(KINDS, counts, strict=True)
            if kind != "continue"
        }


def replay(
    scores: PrefixScores,
    system: str,
    *,
    thresholds: Thresholds,
    stakes: float,
    exact: bool = False,
    calibration: PrefixScores | None = None,
) -> Replay:
    """Replay a system over recorded runs; the other arguments are those of `policy`."""
    rules = policy(
        system, thresholds=thresholds, stakes=stakes, exact=exact, calibration=calibration
    )
    verdicts = rules.replay(scores)
    outcome = {
        "delivered": verdicts.delivered,
        "correct": scores.correct,
        "answerable": scores.answerable,
    }
    right, wrong = right_and_wrong(**outcome)
    return Replay(
        system=system,
        policy=rules,
        kinds=verdicts.kinds.astype(np.int64),
        reasons=verdicts.reasons.astype(np.int64),
        delivered=verdicts.delivered,
        right=right,
        wrong=wrong,
        payoff=payoffs(**outcome, stakes=stakes),
        steps=verdicts.t,
        steps_saved=scores.steps - verdicts.t,
        tokens=total_cost(scores, scores.tokens, verdicts.t),
        seconds=total_cost(scores, scores.seconds, verdicts.t),
    )


def total_cost(scores: PrefixScores, cost: Floats, until: Ints) -> Floats:
    """Sum a cost over t = 0 … `until` of every run; NaN if the cost of a step is unknown.

    Args:
        scores: N runs over P prefixes.
        cost: shape (P,).
        until: shape (N,), each in 0 … T.
    """
    if len(scores) == 0:
        return np.zeros(0)
    ran = times(scores) <= until[run_of(scores)]
    total: Floats = np.add.reduceat(np.where(ran, cost, 0.0), scores.offsets[:-1])
    return total
