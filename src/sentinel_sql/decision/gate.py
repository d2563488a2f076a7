"""Chooses the gate's threshold θ, or no gate where the calibration pool is too small for one.

Guarantee of the rule `bounded`: with 90 % confidence, at most the tolerated share of answerable
templates have any question that the gate stops. Where the pool is too small to show that, there is
no gate. The rule `paper` stops at most 0.5 % of the pool's own answerable questions, and says
nothing of others.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sentinel_sql.decision.exact_bound import cases_needed, upper_bound
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.prefix_scores import Floats, PrefixScores
from sentinel_sql.monitor.thresholds import Gate, GateRule

TOLERANCE = 0.05
"""Share of answerable templates that a bounded gate may stop (ours)."""
TOLERANCE_PER_MILLE = 5
"""Answerable questions that the paper's gate may stop: 0.5 % (paper section 3.4)."""


def gate_rule(gate: bool | Literal["paper"], tolerance: float = TOLERANCE) -> GateRule:
    """Return the gate rule for an argument `gate=`.

    Args:
        gate: True for `bounded`, False for `none`, or "paper".
        tolerance: the share that a bounded gate may stop, in (0, 1).

    Raises:
        InputError: an unknown choice, or a tolerance outside (0, 1).
    """
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"gate_tolerance={tolerance!r} is no share: give a number between 0 and 1")
    if gate is True or gate is False:
        return "bounded" if gate else "none"
    if gate != "paper":
        raise InputError(f'gate={gate!r} is no choice: give True, False or "paper"')
    return "paper"


def choose_gate(
    scores: PrefixScores, *, rule: GateRule = "bounded", tolerance: float = TOLERANCE
) -> Gate:
    """Choose θ on the calibration pool.

    Args:
        scores: the calibration pool's columns.
        rule: see `GateRule`.
        tolerance: the share that the rule `bounded` may stop, in (0, 1).
    """
    if rule == "none" or not scores.answerable.any():
        return Gate(
            theta=None,
            rule=rule,
            answerable=int(scores.answerable.sum()),
            stopped=0,
            tolerance=tolerance,
        )
    lowest = np.minimum.reduceat(scores.p_answerable, scores.offsets[:-1])[scores.answerable]
    templates = np.array(scores.templates)[scores.answerable]
    return _paper(lowest) if rule == "paper" else _bounded(lowest, templates, tolerance)


def _bounded(lowest: Floats, templates: np.ndarray, tolerance: float) -> Gate:
    """Choose the largest θ at which the bound on the share of stopped templates still holds.

    θ is chosen on the same pool that the bound is computed on. The bound still holds, by
    fixed-sequence testing. The hypotheses are "a gate at θ stops more than the tolerated share".
    They are tested for rising θ, in an order that doesn't depend on the data, each at level 10 %,
    until one can't be rejected. A higher θ never stops less, so all hypotheses after the first
    true one are true as well. The test rejects any of them only if it rejects the first, and the
    chance of that is at most 10 %. The count of stopped templates also rises with θ, so the last
    θ of the sequence is the largest one that satisfies the bound.

    Args:
        lowest: shape (n,), the lowest p_answerable of each answerable run.
        templates: shape (n,).
        tolerance: in (0, 1).
    """
    names, template_of = np.unique(templates, return_inverse=True)
    minima = np.full(len(names), np.inf)
    np.minimum.at(minima, template_of, lowest)
    minima.sort()
    count = len(names)
    allowed = -1
    while upper_bound(allowed + 1, count) <= tolerance:
        allowed += 1
    theta = float(minima[allowed]) if allowed >= 0 else None
    stopped = 0 if theta is None else int(np.count_nonzero(minima < theta))
    return Gate(
        theta=theta,
        rule="bounded",
        answerable=len(lowest),
        stopped=0 if theta is None else int(np.count_nonzero(lowest < theta)),
        templates=count,
        templates_stopped=stopped,
        tolerance=tolerance,
        bound=upper_bound(stopped, count),
        templates_needed=cases_needed(tolerance),
    )


def _paper(lowest: Floats) -> Gate:
    """Choose the largest θ that stops at most 0.5 % of answerable questions (paper 3.4).

    With n answerable questions and k = ⌊0.005 n⌋, θ is the (k+1)-th smallest of the runs' minima
    of p_answerable over t = 0 … T. A run stops strictly below θ, so ties stop fewer than k.
    """
    allowed = len(lowest) * TOLERANCE_PER_MILLE // 1000
    theta = float(np.partition(lowest, allowed)[allowed])
    return Gate(
        theta=theta,
        rule="paper",
        answerable=len(lowest),
        allowed=allowed,
        stopped=int(np.count_nonzero(lowest < theta)),
    )
