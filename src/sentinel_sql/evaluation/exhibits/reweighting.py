"""The same runs, re-weighted to other shares of unanswerable questions (paper appendix F)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sentinel_sql.evaluation.bootstrap import Interval, Reweighting
from sentinel_sql.evaluation.column_meaning import (
    RS_FULL,
    RS_RANGE,
    RS_UNIT,
    RS_VANILLA,
    SHARE,
    STAKES,
    Column,
)
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit

SHARES = (0.2, 0.33)
"""Shares of unanswerable questions in EHRSQL's own evaluation splits (paper appendix F)."""


@dataclass(frozen=True, kw_only=True)
class ReweightedRow:
    """One share of unanswerable questions at one λ; None if the pool lacks one kind."""

    unanswerable: Annotated[
        float, Column("target share of unanswerable questions", unit="share", within=SHARE)
    ]
    as_recorded: Annotated[bool, Column("it is the pool's own share")]
    stakes: Annotated[float, STAKES]
    rs_vanilla: Annotated[Interval | None, RS_VANILLA]
    rs_gate: Annotated[
        Interval | None, Column("RS(λ) with the gate alone", unit=RS_UNIT, within=RS_RANGE)
    ]
    rs_full: Annotated[Interval | None, RS_FULL]
    gain: Annotated[
        Interval | None,
        Column("rs_full minus the RS(λ) of refusing everything", unit=RS_UNIT),
    ]
    gate_share: Annotated[
        float | None,
        Column(
            "share of the gain over the agent alone that the gate reaches by itself; empty "
            "without a gain",
            unit="share",
        ),
    ]


def reweighted(evidence: Evidence) -> Exhibit[ReweightedRow]:
    """Return the main figures at the pool's own share and at those of the paper."""
    unanswerable = ~evidence.scores.answerable
    own = float(unanswerable.mean())
    rows = []
    for share, recorded in ((own, True), *((share, False) for share in SHARES)):
        reweighting = None if recorded else Reweighting(members=unanswerable, share=share)
        possible = recorded or 0 < own < 1
        resampling = replace(evidence.resampling, reweighting=reweighting)
        for level in evidence.stakes:
            vanilla, gate, full, nothing = (
                evidence.replays[system, level].payoff
                for system in ("vanilla", "gate", "full", "always-abstain")
            )
            means = [
                resampling.mean(column) if possible else None
                for column in (vanilla, gate, full, full - nothing, gate - vanilla, full - vanilla)
            ]
            by_gate, in_all = means[4:]
            rows.append(
                ReweightedRow(
                    unanswerable=share,
                    as_recorded=recorded,
                    stakes=level,
                    rs_vanilla=means[0],
                    rs_gate=means[1],
                    rs_full=means[2],
                    gain=means[3],
                    gate_share=(
                        by_gate.estimate / in_all.estimate
                        if by_gate and in_all and in_all.estimate > 0
                        else None
                    ),
                )
            )
    return Exhibit(
        title="Another share of unanswerable questions",
        note=(
            "Answerable and unanswerable questions are re-weighted to that share; the runs and "
            "all decisions stay the same."
        ),
        row=ReweightedRow,
        rows=tuple(rows),
    )
