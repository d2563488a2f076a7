"""Agreement of two raters, and a share of few cases: Cohen's κ and Wilson's interval."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from sentinel_sql.evaluation.bootstrap import Interval


def kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Return Cohen's κ of two raters over the same cases; None where it can't be said.

    It can't without a case, nor where both say one and the same of all: chance explains that.
    """
    if len({*first, *second}) < 2:
        return None
    return float(cohen_kappa_score(list(first), list(second)))


def share(hits: int, cases: int) -> Interval | None:
    """Return a share with its 95 % Wilson interval, which holds for few cases and at the ends."""
    if cases == 0:
        return None
    ends = binomtest(hits, cases).proportion_ci(confidence_level=0.95, method="wilson")
    return Interval(estimate=hits / cases, low=float(ends.low), high=float(ends.high))
