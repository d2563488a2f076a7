"""Chooses gate θ, early stop s_λ and the stakes served, all on the calibration pool.

Guarantee of s_λ: no other threshold gives the whole system a higher RS(λ) on the calibration
pool, and none with the same RS(λ) saves more steps. For the guarantee of θ see `gate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentinel_sql.decision.exact_bound import lower_bound
from sentinel_sql.decision.gate import TOLERANCE, choose_gate
from sentinel_sql.decision.payoff import (
    STAKES_OF_RECORD,
    rational,
    reliability_score,
    right_and_wrong,
)
from sentinel_sql.decision.ragged_columns import (
    clears_bar,
    gate_times,
    mid_run,
    run_of,
    times,
)
from sentinel_sql.errors import CannotFitError
from sentinel_sql.monitor.calibration import fit_map
from sentinel_sql.monitor.prefix_scores import Ints, PrefixScores
from sentinel_sql.monitor.thresholds import EarlyStop, GateRule, ServedStakes, Thresholds


def freeze(
    scores: PrefixScores,
    *,
    stakes: Sequence[float] = STAKES_OF_RECORD,
    gate: GateRule = "bounded",
    tolerance: float = TOLERANCE,
) -> Thresholds:
    """Choose θ, s_λ for every stakes λ and both delivery bars, and the stakes that are served.

    Args:
        scores: the calibration pool's columns.
        stakes: the λ to freeze an early stop for.
        gate: how θ is chosen.
        tolerance: the share that a bounded gate may stop, in (0, 1).

    Raises:
        CannotFitError: the pool is empty.
    """
    if len(scores) == 0:
        raise CannotFitError("the calibration pool holds no run: collect it, then fit again")
    chosen = choose_gate(scores, rule=gate, tolerance=tolerance)
    return Thresholds(
        gate=chosen,
        early_stops=tuple(
            early_stop(scores, theta=chosen.theta, stakes=level, exact_bar=exact)
            for exact in (False, True)
            for level in stakes
        ),
        served=served_stakes(scores),
    )


def served_stakes(scores: PrefixScores) -> ServedStakes:
    """Return the highest λ at which the answers of the highest confidence may be delivered.

    Args:
        scores: the calibration pool's columns. The highest block is that of an isotonic fit of
            the answers' delivery scores, whatever the kind of the delivery map.
    """
    answered = np.flatnonzero(scores.answered)
    block = answered
    if len(answered):
        found = fit_map(scores.delivery_score[answered], scores.correct[answered])
        start = found.scores[found.confidences == found.confidences[-1]][0]
        block = answered[scores.delivery_score[answered] >= start]
    names, template_of = np.unique(np.array(scores.templates)[block], return_inverse=True)
    wrong = np.bincount(template_of, weights=~scores.correct[block], minlength=len(names))
    right = int(np.count_nonzero(wrong == 0))
    bound = lower_bound(right, len(names))
    limit = bound / (1.0 - bound)
    return ServedStakes(templates=len(names), right=right, bound=bound, limit=limit)


def early_stop(
    scores: PrefixScores, *, theta: float | None, stakes: float, exact_bar: bool = False
) -> EarlyStop:
    """Choose s_λ, the exact argmax of RS(λ) of the whole system (paper section 3.4).

    As s rises, a run stops at earlier prefixes: those where p_correct reaches a new low. The
    curves of RS and of steps saved over s are therefore running sums over these prefixes, sorted
    by p_correct, in O(P log P). Several thresholds may act alike on this pool. The largest of them
    is taken: the next value of p_correct that must not be stopped or, if there is none, the next
    float after the highest value to stop.

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
    # A threshold lies between unequal values; cut j stops the j lowest events.
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(values) > 0) + 1, [len(values)]])
    level = rational(stakes)
    worth = right_curve[cuts].astype(object) * level.denominator
    worth = worth - wrong_curve[cuts].astype(object) * level.numerator
    # Every event saves at least one step, so the last of equal scores saves the most.
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
    """Return the prefixes where a rising s moves a run's stop, their payoff changes, steps saved.

    An event is a mid-run prefix before the gate's stop where p_correct reaches a new strict low.
    A rising s reaches the last event of a run first. Only that event changes the payoff; each
    earlier one only saves further steps.
    """
    t = times(scores)
    run = run_of(scores)
    live = mid_run(scores) & (t < base_stop[run])
    # Strict running minima of each run. The keys of a run are all lower than those of the run
    # before it, so a single accumulate over all prefixes restarts at each run.
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
