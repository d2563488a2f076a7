"""A share of counted cases with an interval that holds however few and however alike they are."""

from __future__ import annotations

from scipy.special import betaincinv

from sentinel_sql.evaluation.bootstrap import Interval


def counted_share(hits: int, cases: int) -> Interval | None:
    """Return a share with its exact 95 % interval; None without a case.

    Ours: the bootstrap draws from what was seen, so its interval has no width where all cases are
    alike. Clopper and Pearson's covers at least 95 % for any number of independent cases.

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
