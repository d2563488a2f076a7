"""Exact one-sided bounds on a share (Clopper and Pearson). They hold for any number of cases."""

from __future__ import annotations

import math

CONFIDENCE = 0.9
"""Confidence of each bound (our choice): one in ten such claims may be wrong."""


def upper_bound(hits: int, cases: int) -> float:
    """Return the upper bound on the share, with 90 % confidence, in [0, 1].

    Args:
        hits: in 0 … cases.
        cases: at least 0; without a case the bound is 1.
    """
    if hits == cases:
        return 1.0
    from scipy.special import betaincinv  # imported here, so that a guard starts without scipy

    return float(betaincinv(hits + 1, cases - hits, CONFIDENCE))


def lower_bound(hits: int, cases: int) -> float:
    """Return the lower bound on the share, with 90 % confidence, in [0, 1)."""
    return 1.0 - upper_bound(cases - hits, cases)


def cases_needed(share: float) -> int:
    """Return how many cases without a hit bring the upper bound down to `share`.

    Args:
        share: in (0, 1).
    """
    cases = max(1, math.floor(math.log1p(-CONFIDENCE) / math.log1p(-share)))
    while upper_bound(0, cases) > share:
        cases += 1
    return cases
