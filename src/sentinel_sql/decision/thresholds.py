"""The two thresholds that data must choose: gate θ and early stop s_λ, frozen on one pool.

Guarantee of θ: of the n answerable questions of the calibration pool at most ⌊0.005 n⌋ ever
fall below it. Guarantee of s_λ: no other threshold gives the whole system a higher RS(λ) on
the calibration pool, and none with the same RS(λ) saves more steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sentinel_sql.decision.payoff import (
    STAKES_OF_RECORD,
    rational,
    reliability_score,
    right_and_wrong,
)
from sentinel_sql.decision.prefix_scores import Ints, PrefixScores
from sentinel_sql.decision.ragged_columns import (
    clears_bar,
    gate_times,
    mid_run,
    run_of,
    times,
)
from sentinel_sql.errors import BundleError, CannotFitError

TOLERANCE_PER_MILLE = 5
"""Answerable questions that the gate may stop: 0.5 % (paper section 3.4)."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The exit gate: a run stops as soon as p_answerable(t) < `theta`.

    Attributes:
        theta: in [0, 1], or None: no gate, because no answerable question could set one.
        answerable: n, the answerable calibration questions behind it.
        allowed: k = ⌊0.005 n⌋, how many of them may be stopped.
        stopped: how many of them are stopped; below k where several tie at the threshold.
    """

    theta: float | None
    answerable: int
    allowed: int
    stopped: int

    @property
    def why(self) -> str:
        """One sentence on what the gate guarantees, or why there is none."""
        if self.theta is None:
            return "no gate: the calibration pool has no answerable question to set it by"
        return (
            f"stops {self.stopped} of {self.answerable} answerable calibration questions, "
            f"where {self.allowed} may be"
        )


@dataclass(frozen=True, kw_only=True)
class EarlyStop:
    """The early stop at stakes λ: a run stops mid-run as soon as p_correct(t) < `threshold`.

    Attributes:
        stakes: λ.
        exact_bar: the bar at delivery is the exact one instead of Chow's.
        threshold: s_λ, or None: never stop, because no stop keeps RS(λ) and saves a step.
        rs: RS(λ) of gate, early stop and delivery bar together on the calibration pool.
        rs_without: the same without the early stop; never above `rs`.
        steps_saved: steps of the calibration pool that gate and early stop leave unrun.
    """

    stakes: float
    exact_bar: bool
    threshold: float | None
    rs: float
    rs_without: float
    steps_saved: int


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Everything that is frozen on the calibration pool beside the calibration maps."""

    gate: Gate
    early_stops: tuple[EarlyStop, ...]

    def early_stop(self, stakes: float, *, exact_bar: bool = False) -> EarlyStop | None:
        """Return the frozen early stop for these stakes and this bar, or None if none was."""
        for stop in self.early_stops:
            if stop.stakes == stakes and stop.exact_bar == exact_bar:
                return stop
        return None

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data; `from_json` reads it back unchanged."""
        return {
            "gate": vars(self.gate).copy(),
            "early_stops": [vars(stop).copy() for stop in self.early_stops],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises:
            BundleError: the data aren't thresholds.
        """
        try:
            return cls(
                gate=Gate(**data["gate"]),
                early_stops=tuple(EarlyStop(**stop) for stop in data["early_stops"]),
            )
        except (KeyError, TypeError) as error:
            raise BundleError(
                "the bundle's thresholds can't be read: fit the monitor again with `sentinel fit`"
            ) from error


def freeze(scores: PrefixScores, *, stakes: Sequence[float] = STAKES_OF_RECORD) -> Thresholds:
    """Choose θ, and s_λ for every stakes λ and both delivery bars, on the calibration pool.

    Args:
        scores: the calibration pool's columns.
        stakes: the λ to freeze an early stop for.

    Raises:
        CannotFitError: the pool is empty.
    """
    if len(scores) == 0:
        raise CannotFitError("the calibration pool holds no run: collect it, then fit again")
    gate = gate_threshold(scores)
    return Thresholds(
        gate=gate,
        early_stops=tuple(
            early_stop(scores, theta=gate.theta, stakes=level, exact_bar=exact)
            for exact in (False, True)
            for level in stakes
        ),
    )


def gate_threshold(scores: PrefixScores) -> Gate:
    """Choose the largest θ that stops at most 0.5 % of answerable questions (paper 3.4).

    With n answerable questions and k = ⌊0.005 n⌋ it is the (k+1)-th smallest of the runs'
    minima of p_answerable over t = 0 … T. Below is strictly below, so ties stop fewer than k.

    Args:
        scores: the calibration pool's columns.
    """
    if len(scores) == 0:
        return Gate(theta=None, answerable=0, allowed=0, stopped=0)
    minima = np.minimum.reduceat(scores.p_answerable, scores.offsets[:-1])[scores.answerable]
    allowed = len(minima) * TOLERANCE_PER_MILLE // 1000
    if len(minima) == 0:
        return Gate(theta=None, answerable=0, allowed=0, stopped=0)
    theta = float(np.partition(minima, allowed)[allowed])
    return Gate(
        theta=theta,
        answerable=len(minima),
        allowed=allowed,
        stopped=int(np.count_nonzero(minima < theta)),
    )


def early_stop(
    scores: PrefixScores, *, theta: float | None, stakes: float, exact_bar: bool = False
) -> EarlyStop:
    """Choose s_λ, the exact argmax of RS(λ) of the whole system (paper section 3.4).

    As s rises, a run's stop moves to ever earlier prefixes: those at which p_correct reaches a
    new low. So the whole curve of RS and steps saved over s is a running sum over these
    prefixes, sorted by p_correct: O(P log P). Among thresholds that act alike on this pool the
    largest is taken, a value that was observed; if none was above, the next float after the
    highest value that is to be stopped.

    Args:
        scores: the calibration pool's columns, at least one run.
        theta: the gate that runs before it, or None.
        stakes: λ ≥ 0.
        exact_bar: deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).

    Raises:
        InputError: the stakes make no sense, or there is no run.
    """
    gated = gate_times(scores, theta)
    steps = scores.steps
    base_stop = np.minimum(gated, steps)
    delivered = (gated > steps) & clears_bar(scores, stakes=stakes, exact=exact_bar)
    right, wrong = right_and_wrong(
        delivered=delivered, correct=scores.correct, answerable=scores.answerable
    )

    prefixes, changes_payoff, saved = _events(scores, base_stop)
    runs = run_of(scores)[prefixes]
    order = np.argsort(scores.p_correct[prefixes], kind="stable")
    prefixes, changes_payoff, saved, runs = (
        column[order] for column in (prefixes, changes_payoff, saved, runs)
    )
    unanswerable = (~scores.answerable).astype(np.int64)
    right_curve = _curve(int(right.sum()), changes_payoff * (unanswerable - right)[runs])
    wrong_curve = _curve(int(wrong.sum()), -changes_payoff * wrong[runs])
    saved_curve = _curve(int((steps - base_stop).sum()), saved)

    values = scores.p_correct[prefixes]
    # A threshold can only cut between unequal values; index j stops the j lowest events.
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(values) > 0) + 1, [len(values)]])
    level = rational(stakes)
    worth = right_curve[cuts].astype(object) * level.denominator
    worth = worth - wrong_curve[cuts].astype(object) * level.numerator
    # Every event saves at least a step, so of equal scores the last saves the most.
    best = int(cuts[np.flatnonzero(worth == worth.max())[-1]])

    threshold: float | None
    if best == 0:
        threshold = None
    elif best < len(values):
        threshold = float(values[best])
    else:
        threshold = float(np.nextafter(values[-1], np.inf))
    return EarlyStop(
        stakes=stakes,
        exact_bar=exact_bar,
        threshold=threshold,
        rs=_score(scores, right_curve[best], wrong_curve[best], stakes),
        rs_without=_score(scores, right_curve[0], wrong_curve[0], stakes),
        steps_saved=int(saved_curve[best]),
    )


def _events(scores: PrefixScores, base_stop: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the prefixes where a rising s moves a run's stop, what of its payoff, what it saves.

    An event is a mid-run prefix before the gate's stop at which p_correct reaches a new strict
    low. The last event of a run is the first to be reached by a rising s: it alone changes the
    payoff; each earlier one only saves the steps back to it.
    """
    t = times(scores)
    run = run_of(scores)
    live = mid_run(scores) & (t < base_stop[run])
    # Strict running minima per run: lexicographic rank makes every run's values lower than the
    # run's before it, so that one accumulate over all prefixes restarts at each run.
    rank = np.unique(scores.p_correct, return_inverse=True)[1].astype(np.int64)
    span = int(rank.max(initial=0)) + 2
    keyed = np.where(live, rank, span - 1) - run * span
    lowest = np.minimum.accumulate(keyed)
    new_low = live & np.concatenate([[True], keyed[1:] < lowest[:-1]])[: len(keyed)]
    events = np.flatnonzero(new_low)
    last = np.concatenate([run[events][1:] != run[events][:-1], [True]])[: len(events)]
    later_stop = np.where(last, base_stop[run[events]], np.roll(t[events], -1))
    return events, last.astype(np.int64), later_stop - t[events]


def _curve(start: int, changes: Ints) -> Ints:
    return np.concatenate([[start], start + np.cumsum(changes)]).astype(np.int64)


def _score(scores: PrefixScores, right: int, wrong: int, stakes: float) -> float:
    return reliability_score(
        right=int(right), wrong=int(wrong), questions=len(scores), stakes=stakes
    )
