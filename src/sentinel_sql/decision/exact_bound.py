"""Exact one-sided bounds on a share, by Clopper and Pearson: they hold however few the cases."""

from __future__ import annotations

import math

CONFIDENCE = 0.9
"""With which a bound holds (ours): one in ten such claims may be wrong."""


def upper_bound(hits: int, cases: int) -> float:
    """Return the share that, with 90 % confidence, isn't exceeded, in [0, 1].

    Args:
        hits: in 0 … cases.
        cases: at least 0; with none the bound is 1.
    """
    if hits == cases:
        return 1.0
    from scipy.special import betaincinv  # a guard starts without it

    return float(betaincinv(hits + 1, cases - hits, CONFIDENCE))


def lower_bound(hits: int, cases: int) -> float:
    """Return the share that, with 90 % confidence, is reached, in [0, 1)."""
    return 1.0 - upper_bound(cases - hits, cases)


def cases_needed(share: float) -> int:
    """Return with how many cases, none of them a hit, the upper bound is at most `share`.

    Args:
        share: in (0, 1).
    """
    cases = max(1, math.floor(math.log1p(-CONFIDENCE) / math.log1p(-share)))
    while upper_bound(0, cases) > share:
        cases += 1
    return cases
