"""The cost of unanswerable questions for the agent alone, by their outcome (paper table 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class EconomicsRow:
    """One group of runs; means are None where the group is empty or nothing is known."""

    group: Annotated[str, Column("runs by question and ending")]
    n: Annotated[int, Column("runs in the group")]
    steps: Annotated[Interval | None, Column("mean steps a run", unit="steps")]
    tokens: Annotated[
        Interval | None,
        Column("mean completion tokens a run, over runs with known tokens", unit="tokens"),
    ]
    seconds: Annotated[
        Interval | None,
        Column("mean model time a run, over runs with known time", unit="seconds"),
    ]


def step_economics(evidence: Evidence) -> Exhibit[EconomicsRow]:
    """Return mean costs of fabrications, refusals, runs to the step cap, and answerable questions.

    A correct refusal is an abstention by the agent itself, not a run that reached the step cap.
    """
    scores, resampling = evidence.scores, evidence.resampling
    unanswerable, cap = ~scores.answerable, ~(scores.answered | scores.abstained)
    agent = evidence.replays["vanilla", evidence.stakes[0]]
    groups = {
        "fabrication": unanswerable & scores.answered,
        "correct refusal": unanswerable & scores.abstained,
        "unanswerable, step cap": unanswerable & cap,
        "answerable": scores.answerable,
    }
    rows = tuple(
        EconomicsRow(
            group=group,
            n=int(members.sum()),
            steps=resampling.mean(scores.steps, members),
            tokens=resampling.mean(agent.tokens, members & ~np.isnan(agent.tokens)),
            seconds=resampling.mean(agent.seconds, members & ~np.isnan(agent.seconds)),
        )
        for group, members in groups.items()
    )
    return Exhibit(
        title="Step economics of unanswerable questions",
        note="Means a run of the agent alone, with 95 % template-cluster intervals.",
        row=EconomicsRow,
        rows=rows,
    )
