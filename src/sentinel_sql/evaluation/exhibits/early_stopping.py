"""What stopping early saves and what it costs in reliability (paper table 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import RS_RANGE, RS_UNIT, SHARE, STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class EarlyStopRow:
    """One λ: gate, early stop and delivery bar, compared with gate and delivery bar only."""

    stakes: Annotated[float, STAKES]
    threshold: Annotated[
        float | None,
        Column("s_λ: a run stops when its confidence falls below it; empty: never", within=SHARE),
    ]
    rs: Annotated[Interval | None, Column("RS(λ) with early stop", unit=RS_UNIT, within=RS_RANGE)]
    change: Annotated[
        Interval | None,
        Column("RS(λ) with early stop minus without, on the same resamples", unit=RS_UNIT),
    ]
    steps_saved: Annotated[
        Interval | None,
        Column("share of the agent's steps that is saved", unit="share", within=SHARE),
    ]
    steps_saved_without: Annotated[
        Interval | None,
        Column("share of the agent's steps that the gate alone saves", unit="share", within=SHARE),
    ]
    right_lost: Annotated[
        int, Column("correct answers that would have been delivered without early stop")
    ]


def early_stopping(evidence: Evidence) -> Exhibit[EarlyStopRow]:
    """Return what the early stop does at every λ."""
    scores, resampling = evidence.scores, evidence.resampling
    rows = []
    for level in evidence.stakes:
        early, full = evidence.replays["early-stop", level], evidence.replays["full", level]
        lost = full.delivered & ~early.delivered & scores.correct
        rows.append(
            EarlyStopRow(
                stakes=level,
                threshold=early.policy.early,
                rs=resampling.mean(early.payoff),
                change=resampling.mean(early.payoff - full.payoff),
                steps_saved=resampling.ratio(early.steps_saved, scores.steps),
                steps_saved_without=resampling.ratio(full.steps_saved, scores.steps),
                right_lost=int(lost.sum()),
            )
        )
    return Exhibit(
        title="Early stop",
        note=(
            "Steps saved by stopping runs that seem to fail, and the change in RS(λ) that this "
            "causes. If next to nothing is delivered, refusing everything would save all steps."
        ),
        row=EarlyStopRow,
        rows=tuple(rows),
    )
