"""The system ladder: what each check adds in reliability, and what it saves (paper table 7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.decision.prefix_scores import Floats, Ints
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.exhibit import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class LadderRow:
    """One system at one λ. Savings are shares of what the vanilla agent spends, in [0, 1].

    `rs_official` is RS on the official ×100 scale. `tokens_saved` and `seconds_saved` are over
    the runs whose every step tells them; None if none does.
    """

    system: str
    stakes: float
    rs: Interval
    rs_official: float
    delivered: int
    coverage: float
    accuracy: float | None
    steps_saved: float | None
    tokens_saved: float | None
    seconds_saved: float | None
    decisions: dict[str, int]


def ladder(evidence: Evidence) -> Exhibit[LadderRow]:
    """Replay the systems in order at every λ."""
    scores, resampling = evidence.scores, evidence.resampling
    rows = []
    for level in evidence.stakes:
        vanilla = evidence.replays["vanilla", level]
        for system in SYSTEMS:
            run = evidence.replays[system, level]
            interval = resampling.mean(run.payoff)
            assert interval is not None  # noqa: S101  evidence holds at least one run
            delivered = int(run.delivered.sum())
            rows.append(
                LadderRow(
                    system=system,
                    stakes=level,
                    # The counts give RS exactly; the mean of payoffs only to rounding.
                    rs=Interval(estimate=run.rs, low=interval.low, high=interval.high),
                    rs_official=100 * run.rs,
                    delivered=delivered,
                    coverage=delivered / len(scores),
                    accuracy=(float(scores.correct[run.delivered].mean()) if delivered else None),
                    steps_saved=saved(run.steps, scores.steps),
                    tokens_saved=saved(run.tokens, vanilla.tokens),
                    seconds_saved=saved(run.seconds, vanilla.seconds),
                    decisions=run.decisions,
                )
            )
    return Exhibit(
        title="System ladder",
        note=(
            "RS(λ) is the mean payoff with its 95 % template-cluster interval; savings are "
            "shares of what the agent alone spends."
        ),
        rows=tuple(rows),
    )


def saved(spent: Floats | Ints, full: Floats | Ints) -> float | None:
    """Return the share of a cost that isn't spent, over runs whose full cost is known.

    Args:
        spent: shape (N,), what the system spends; NaN where unknown.
        full: shape (N,), what the vanilla agent spends; NaN where unknown.
    """
    known = ~np.isnan(full)
    total = float(full[known].sum())
    return float((full - spent)[known].sum()) / total if total > 0 else None
