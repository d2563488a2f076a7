"""Operating characteristics: how much each system answers and how right it is (paper table 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, STAKES, SYSTEM, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class OperatingRow:
    """One system at one λ, with intervals; `accuracy` is None where nothing is delivered."""

    system: Annotated[str, SYSTEM]
    stakes: Annotated[float, STAKES]
    coverage: Annotated[
        Interval | None, Column("share of questions answered", unit="share", within=SHARE)
    ]
    accuracy: Annotated[
        Interval | None,
        Column("share of the delivered answers that is correct", unit="share", within=SHARE),
    ]
    right: Annotated[int, Column("correct answers delivered")]
    wrong: Annotated[
        int, Column("harmful answers delivered: wrong ones, and any to an unanswerable question")
    ]
    unanswerable_stopped: Annotated[
        float | None,
        Column(
            "share of the unanswerable questions that get no answer", unit="share", within=SHARE
        ),
    ]


def operating(evidence: Evidence) -> Exhibit[OperatingRow]:
    """Return coverage and selective accuracy of every system that can deliver an answer."""
    scores, resampling = evidence.scores, evidence.resampling
    unanswerable = ~scores.answerable
    rows = []
    for level in evidence.stakes:
        for system, parts in SYSTEMS.items():
            if parts.nothing:
                continue
            run = evidence.replays[system, level]
            rows.append(
                OperatingRow(
                    system=system,
                    stakes=level,
                    coverage=resampling.mean(run.delivered),
                    accuracy=resampling.mean(scores.correct, run.delivered),
                    right=int((run.delivered & scores.correct).sum()),
                    wrong=int(run.wrong.sum()),
                    unanswerable_stopped=evidence.mean(~run.delivered, unanswerable),
                )
            )
    return Exhibit(
        title="Operating characteristics",
        note="Coverage is the share of all questions answered; accuracy is of those answers.",
        row=OperatingRow,
        rows=tuple(rows),
    )
