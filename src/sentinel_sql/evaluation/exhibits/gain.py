"""The gain over always abstaining and over the agent alone, with intervals (paper table 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import RS_UNIT, STAKES, SYSTEM, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit

RIVALS = ("always-abstain", "vanilla")


@dataclass(frozen=True, kw_only=True)
class GainRow:
    """RS(λ) of a system minus RS(λ) of a rival; `significant` if the interval excludes zero."""

    system: Annotated[str, SYSTEM]
    stakes: Annotated[float, STAKES]
    over: Annotated[str, Column("the rival", within="always-abstain or vanilla")]
    gain: Annotated[
        Interval,
        Column("RS(λ) of the system minus the rival's, on the same resamples", unit=RS_UNIT),
    ]
    significant: Annotated[bool, Column("the interval of the gain excludes zero")]


def gain(evidence: Evidence) -> Exhibit[GainRow]:
    """Return every system's gain over both rivals, on the same resamples."""
    rows = []
    for level in evidence.stakes:
        for rival in RIVALS:
            base = evidence.replays[rival, level]
            for system in SYSTEMS:
                if system in RIVALS:
                    continue
                run = evidence.replays[system, level]
                interval = evidence.resampling.mean(run.payoff - base.payoff)
                if interval is not None:
                    rows.append(
                        GainRow(
                            system=system,
                            stakes=level,
                            over=rival,
                            gain=interval,
                            significant=interval.excludes_zero,
                        )
                    )
    return Exhibit(
        title="Gain over always abstaining and over the agent alone",
        note="A 95 % template-cluster interval that excludes zero is marked.",
        row=GainRow,
        rows=tuple(rows),
    )
