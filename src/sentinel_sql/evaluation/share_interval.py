"""A share of cases with an exact interval, also for few cases and for shares of 0 or 1."""

from __future__ import annotations

from scipy.special import betaincinv

from sentinel_sql.evaluation.bootstrap import Interval


def exact_share(hits: int, cases: int) -> Interval | None:
    """Return a share with its exact 95 % interval; None without a case.

    Ours: a bootstrap interval has no width if all cases are alike. The interval of Clopper and
    Pearson covers at least 95 % for any number of independent cases.

    Args:
        hits: in 0 … cases.
        cases: at least 0.
    """
    if cases == 0:
        return None
    misses = cases - hits
    return Interval(
        estimate=hits / cases,
        low=float(betaincinv(hits, misses + 1, 0.025)) if hits else 0.0,
        high=float(betaincinv(hits + 1, misses, 0.975)) if misses else 1.0,
    )
