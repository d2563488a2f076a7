"""Chow's bar and the exact bar, which also counts the payoff of a right refusal (appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import RS_RANGE, RS_UNIT, STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.replay import replay


@dataclass(frozen=True, kw_only=True)
class ExactBarRow:
    """One λ: gate and delivery bar, with either bar."""

    stakes: Annotated[float, STAKES]
    delivered_chow: Annotated[int, Column("answers delivered at Chow's bar λ/(1+λ)")]
    delivered_exact: Annotated[int, Column("answers delivered at the exact bar (λ+ε)/(1+λ)")]
    rs_chow: Annotated[
        Interval | None, Column("RS(λ) at Chow's bar", unit=RS_UNIT, within=RS_RANGE)
    ]
    rs_exact: Annotated[
        Interval | None, Column("RS(λ) at the exact bar", unit=RS_UNIT, within=RS_RANGE)
    ]
    change: Annotated[
        Interval | None, Column("rs_exact minus rs_chow, on the same resamples", unit=RS_UNIT)
    ]


def exact_bars(evidence: Evidence) -> Exhibit[ExactBarRow]:
    """Return both bars at every λ, independent of the bar that the evaluation uses."""
    resampling = evidence.resampling
    rows = []
    for level in evidence.stakes:
        chow, exact = (
            replay(
                evidence.scores,
                "full",
                thresholds=evidence.thresholds,
                stakes=level,
                exact=exactly,
            )
            for exactly in (False, True)
        )
        rows.append(
            ExactBarRow(
                stakes=level,
                delivered_chow=int(chow.delivered.sum()),
                delivered_exact=int(exact.delivered.sum()),
                rs_chow=resampling.mean(chow.payoff),
                rs_exact=resampling.mean(exact.payoff),
                change=resampling.mean(exact.payoff - chow.payoff),
            )
        )
    return Exhibit(
        title="Chow's bar and the exact bar",
        note=(
            "The exact bar (λ+ε)/(1+λ) is higher than Chow's; ε is the probability that the "
            "question is unanswerable."
        ),
        row=ExactBarRow,
        rows=tuple(rows),
    )
