"""The agreement of two raters: Cohen's κ, and shares of few cases with Wilson's interval."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from sentinel_sql.evaluation.bootstrap import Interval


def kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Return Cohen's κ of two raters over the same cases; None where it isn't defined.

    It isn't defined without a case, nor if both raters give one and the same rating to all.
    """
    if len({*first, *second}) < 2:
        return None
    return float(cohen_kappa_score(list(first), list(second)))


def wilson_share(hits: int, cases: int) -> Interval | None:
    """Return a share with its 95 % Wilson interval; None without a case.

    The interval is also valid for few cases and for shares near 0 or 1.
    """
    if cases == 0:
        return None
    ends = binomtest(hits, cases).proportion_ci(confidence_level=0.95, method="wilson")
    return Interval(estimate=hits / cases, low=float(ends.low), high=float(ends.high))
