"""The resources saved: steps, generated tokens and time (paper table 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, STAKES, SYSTEM, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.monitor.prefix_scores import Bools, Floats

SYSTEMS = ("gate", "full", "early-stop", "always-abstain")


@dataclass(frozen=True, kw_only=True)
class ResourceRow:
    """One system at one λ, compared with the agent alone; None if no run reports the cost."""

    system: Annotated[str, SYSTEM]
    stakes: Annotated[float, STAKES]
    steps_saved: Annotated[
        Interval | None,
        Column("share of the agent's steps that is saved", unit="share", within=SHARE),
    ]
    tokens_saved: Annotated[
        Interval | None,
        Column("share of the completion tokens that is saved", unit="share", within=SHARE),
    ]
    seconds_saved: Annotated[
        Interval | None,
        Column("share of the model's time that is saved", unit="share", within=SHARE),
    ]
    steps: Annotated[int, Column("total of steps saved", unit="steps")]
    tokens: Annotated[int | None, Column("total of completion tokens saved", unit="tokens")]
    seconds: Annotated[float | None, Column("total of model time saved", unit="seconds")]
    runs_with_tokens: Annotated[int, Column("runs with known tokens for every step")]
    runs_with_seconds: Annotated[int, Column("runs with known model time for every step")]


def resources(evidence: Evidence) -> Exhibit[ResourceRow]:
    """Return the savings of every system that can save resources."""
    scores, resampling = evidence.scores, evidence.resampling
    rows = []
    for level in evidence.stakes:
        agent = evidence.replays["vanilla", level]
        for system in SYSTEMS:
            run = evidence.replays[system, level]
            tokens, knows_tokens = _unspent(run.tokens, agent.tokens)
            seconds, knows_seconds = _unspent(run.seconds, agent.seconds)
            rows.append(
                ResourceRow(
                    system=system,
                    stakes=level,
                    steps_saved=resampling.ratio(run.steps_saved, scores.steps),
                    tokens_saved=resampling.ratio(tokens, agent.tokens, knows_tokens),
                    seconds_saved=resampling.ratio(seconds, agent.seconds, knows_seconds),
                    steps=int(run.steps_saved.sum()),
                    tokens=int(tokens[knows_tokens].sum()) if knows_tokens.any() else None,
                    seconds=float(seconds[knows_seconds].sum()) if knows_seconds.any() else None,
                    runs_with_tokens=int(knows_tokens.sum()),
                    runs_with_seconds=int(knows_seconds.sum()),
                )
            )
    return Exhibit(
        title="Resources never spent",
        note=(
            "Compared with the agent alone on the same runs. The monitor's own time is not "
            "subtracted. Refusing everything saves all resources."
        ),
        row=ResourceRow,
        rows=tuple(rows),
    )


def _unspent(spent: Floats, full: Floats) -> tuple[Floats, Bools]:
    return full - spent, ~np.isnan(full)
