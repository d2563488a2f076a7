"""The system over the whole range of stakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.payoff import STAKES_OF_RECORD, chow_bar
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import (
    GAIN_OF_FULL,
    RS_ABSTAIN,
    RS_FULL,
    RS_VANILLA,
    SHARE,
    STAKES,
    Column,
)
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.share_interval import exact_share

GRID: tuple[float, ...] = tuple(
    sorted({*(float(f"{level:.3g}") for level in np.geomspace(0.1, 50, 65)), *STAKES_OF_RECORD})
)
"""λ from 0.1 to 50 in equal ratios, to three digits, and the stakes of record exactly (ours)."""


@dataclass(frozen=True, kw_only=True)
class StakesRow:
    """The system with gate and delivery bar at one λ."""

    stakes: Annotated[float, STAKES]
    bar: Annotated[float, Column("delivery bar τ = λ/(1+λ)", within="[0, 1)")]
    early_stop: Annotated[
        float | None,
        Column(
            "s_λ of the system with early stop; empty if it never stops, or without calibration "
            "columns",
            within="0 to just above 1",
        ),
    ]
    coverage: Annotated[
        Interval | None, Column("share of runs answered", unit="share", within=SHARE)
    ]
    accuracy: Annotated[
        Interval | None,
        Column("share of the delivered answers that is correct", unit="share", within=SHARE),
    ]
    accuracy_counted: Annotated[
        Interval | None,
        Column(
            "right / (right + wrong), unweighted, with the exact interval of Clopper and Pearson, "
            "which has a width even if no failure was seen",
            unit="share",
            within=SHARE,
        ),
    ]
    kept: Annotated[
        Interval | None,
        Column(
            "share of the agent's correct answers that is delivered", unit="share", within=SHARE
        ),
    ]
    steps_saved: Annotated[
        Interval | None,
        Column("share of the agent's steps that is saved", unit="share", within=SHARE),
    ]
    right: Annotated[int, Column("correct answers delivered")]
    wrong: Annotated[int, Column("harmful answers delivered")]
    rs_vanilla: Annotated[Interval | None, RS_VANILLA]
    rs_full: Annotated[Interval | None, RS_FULL]
    rs_abstain: Annotated[Interval | None, RS_ABSTAIN]
    gain: Annotated[Interval | None, GAIN_OF_FULL]
    significant: Annotated[
        bool, Column("the interval of the gain lies above zero: better than refusing everything")
    ]


def stakes_sweep(evidence: Evidence) -> Exhibit[StakesRow]:
    """Return the full system at every λ of the grid, with the two plain rivals."""
    scores, resampling = evidence.scores, evidence.resampling
    rows = []
    for level in sorted({*GRID, *evidence.stakes}):
        vanilla, full, nothing = (
            evidence.replay_at(system, level) for system in ("vanilla", "full", "always-abstain")
        )
        gain = resampling.mean(full.payoff - nothing.payoff)
        right, wrong = int((full.delivered & scores.correct).sum()), int(full.wrong.sum())
        rows.append(
            StakesRow(
                stakes=level,
                bar=chow_bar(level),
                early_stop=_early_stop(evidence, level),
                coverage=resampling.mean(full.delivered),
                accuracy=resampling.mean(scores.correct, full.delivered),
                accuracy_counted=exact_share(right, right + wrong),
                kept=resampling.mean(full.delivered, scores.correct),
                steps_saved=resampling.ratio(full.steps_saved, scores.steps),
                right=right,
                wrong=wrong,
                rs_vanilla=resampling.mean(vanilla.payoff),
                rs_full=resampling.mean(full.payoff),
                rs_abstain=resampling.mean(nothing.payoff),
                gain=gain,
                significant=gain is not None and gain.low > 0,
            )
        )
    return Exhibit(
        title="Stakes",
        note="The system with gate and delivery bar, from low to high costs of a wrong answer.",
        row=StakesRow,
        rows=tuple(rows),
    )


def _early_stop(evidence: Evidence, stakes: float) -> float | None:
    if evidence.frozen_on is None and stakes not in evidence.stakes:
        return None
    return evidence.replay_at("early-stop", stakes).policy.early
