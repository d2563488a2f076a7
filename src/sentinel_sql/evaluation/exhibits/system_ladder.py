"""The system ladder: the reliability and the savings of each system (paper table 7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import RS_RANGE, RS_UNIT, SHARE, STAKES, SYSTEM, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """The number of runs that ended in each kind of decision."""

    refuse: Annotated[int, Column("runs refused at t = 0")]
    exit: Annotated[int, Column("runs stopped after t = 0, before they ended")]
    withhold: Annotated[int, Column("runs that ended without an answer being delivered")]
    deliver: Annotated[int, Column("runs whose answer was delivered")]


@dataclass(frozen=True, kw_only=True)
class LadderRow:
    """One system at one λ. Savings are shares of the agent's costs; None if unknown."""

    system: Annotated[str, SYSTEM]
    stakes: Annotated[float, STAKES]
    rs: Annotated[Interval, Column("reliability score RS(λ)", unit=RS_UNIT, within=RS_RANGE)]
    rs_official: Annotated[
        float, Column("RS(λ) on the official scale, ×100", within="[−100λ, 100]")
    ]
    delivered: Annotated[int, Column("answers delivered")]
    coverage: Annotated[float, Column("share of questions answered", unit="share", within=SHARE)]
    accuracy: Annotated[
        float | None,
        Column("share of the delivered answers that is correct", unit="share", within=SHARE),
    ]
    steps_saved: Annotated[
        float | None,
        Column("share of the agent's steps that is saved", unit="share", within=SHARE),
    ]
    tokens_saved: Annotated[
        float | None,
        Column(
            "share of the completion tokens that is saved, over runs with known tokens for every "
            "step",
            unit="share",
            within=SHARE,
        ),
    ]
    seconds_saved: Annotated[
        float | None,
        Column(
            "share of the model's time that is saved, over runs with known time for every step; "
            "the monitor's own time is not subtracted",
            unit="share",
            within=SHARE,
        ),
    ]
    decisions: Decisions


def ladder(evidence: Evidence) -> Exhibit[LadderRow]:
    """Replay the systems in order at every λ."""
    scores, resampling = evidence.scores, evidence.resampling
    rows = []
    for level in evidence.stakes:
        vanilla = evidence.replays["vanilla", level]
        for system in SYSTEMS:
            run = evidence.replays[system, level]
            rs = resampling.mean(run.payoff)
            coverage = evidence.mean(run.delivered)
            assert rs is not None  # noqa: S101  evidence holds at least one run
            assert coverage is not None  # noqa: S101
            if evidence.options.reweight is None:
                # The counts give RS exactly, but the mean of payoffs has rounding errors.
                rs = replace(rs, estimate=run.rs)
            rows.append(
                LadderRow(
                    system=system,
                    stakes=level,
                    rs=rs,
                    rs_official=100 * rs.estimate,
                    delivered=int(run.delivered.sum()),
                    coverage=coverage,
                    accuracy=evidence.mean(scores.correct, run.delivered),
                    steps_saved=evidence.saved_share(run.steps, vanilla.steps),
                    tokens_saved=evidence.saved_share(run.tokens, vanilla.tokens),
                    seconds_saved=evidence.saved_share(run.seconds, vanilla.seconds),
                    decisions=Decisions(**run.decisions),
                )
            )
    return Exhibit(
        title="System ladder",
        note=(
            "RS(λ) is the mean payoff with its 95 % template-cluster interval; savings are "
            "shares of what the agent alone spends."
        ),
        row=LadderRow,
        rows=tuple(rows),
    )
