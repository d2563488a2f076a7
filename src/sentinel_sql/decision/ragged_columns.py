"""Array operations on the prefixes of many runs at once (ragged columns)."""

from __future__ import annotations

import numpy as np

from sentinel_sql.decision.payoff import chow_bar, exact_bar
from sentinel_sql.monitor.prefix_scores import Bools, Floats, Ints, PrefixScores


def times(scores: PrefixScores) -> Ints:
    """Return t of every prefix, shape (P,)."""
    lengths = np.diff(scores.offsets)
    total = int(scores.offsets[-1])
    return np.arange(total, dtype=np.int64) - np.repeat(scores.offsets[:-1], lengths)


def run_of(scores: PrefixScores) -> Ints:
    """Return the run of every prefix, shape (P,)."""
    return np.repeat(np.arange(len(scores), dtype=np.int64), np.diff(scores.offsets))


def terminal(scores: PrefixScores) -> Ints:
    """Return the row of every run's last prefix, shape (N,)."""
    return scores.offsets[1:] - 1


def first_where(scores: PrefixScores, mask: Bools) -> Ints:
    """Return the first t of every run where `mask` is True, or T + 1 if there is none.

    Args:
        scores: N runs over P prefixes.
        mask: shape (P,).
    """
    if len(scores) == 0:
        return np.zeros(0, dtype=np.int64)
    never = np.repeat(scores.steps + 1, np.diff(scores.offsets))
    first: Ints = np.minimum.reduceat(np.where(mask, times(scores), never), scores.offsets[:-1])
    return first


def gate_times(scores: PrefixScores, theta: float | None) -> Ints:
    """Return the first t at which the gate stops each run, or T + 1, shape (N,)."""
    if theta is None:
        return scores.steps + 1
    return first_where(scores, scores.p_answerable < theta)


def early_times(scores: PrefixScores, threshold: float | None) -> Ints:
    """Return the first mid-run t (1 ≤ t < T) with p_correct(t) < s, or T + 1, shape (N,)."""
    if threshold is None:
        return scores.steps + 1
    return first_where(scores, mid_run(scores) & (scores.p_correct < threshold))


def mid_run(scores: PrefixScores) -> Bools:
    """Return which prefixes have 1 ≤ t < T, where an early stop saves steps; shape (P,)."""
    t = times(scores)
    middle: Bools = (t >= 1) & (t < np.repeat(scores.steps, np.diff(scores.offsets)))
    return middle


def clears_bar(scores: PrefixScores, *, stakes: float, exact: bool) -> Bools:
    """Return which runs end in an answer with a confidence at or above the bar; shape (N,)."""
    bar: float | Floats = chow_bar(stakes)
    if exact:
        bar = exact_bar(stakes, scores.p_unanswerable)
    clears: Bools = scores.answered & (scores.delivery >= bar)
    return clears
