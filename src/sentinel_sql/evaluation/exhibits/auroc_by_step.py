"""AUROC of each head on the prefixes of t steps (paper figure 3b); only longer runs have late t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """One head at one t, over the runs with at least t steps; AUROC is None for one class."""

    head: Annotated[str, Column("which head", within="correctness or answerability")]
    t: Annotated[int, Column("steps read; 0 is the question alone", unit="steps")]
    n: Annotated[int, Column("runs with at least t steps")]
    positives: Annotated[int, Column("of these, correct or answerable ones")]
    auroc: Annotated[Interval | None, Column("AUROC of the head on these runs", within=SHARE)]
    quiet_n: Annotated[int, Column("of these, runs whose answer executed and isn't empty")]
    quiet_auroc: Annotated[
        Interval | None,
        Column("AUROC among those, whose failures show neither error nor empty", within=SHARE),
    ]


def by_step(evidence: Evidence) -> Exhibit[StepRow]:
    """Return both heads' AUROC at every t that a run reached."""
    scores = evidence.scores
    tasks = (
        ("correctness", scores.raw_correct, scores.correct, scores.answered & scores.answerable),
        (
            "answerability",
            scores.p_answerable,
            scores.answerable,
            np.ones(len(scores), dtype=bool),
        ),
    )
    rows = []
    for head, score, target, asked in tasks:
        for t in range(int(scores.steps.max(initial=0)) + 1):
            reached = asked & (scores.steps >= t)
            at = score[np.minimum(scores.offsets[:-1] + t, len(score) - 1)]
            rows.append(
                StepRow(
                    head=head,
                    t=t,
                    n=int(reached.sum()),
                    positives=int((reached & target).sum()),
                    auroc=evidence.resampling.auroc(target, at, reached),
                    quiet_n=int((reached & scores.clean).sum()),
                    quiet_auroc=evidence.resampling.auroc(target, at, reached & scores.clean),
                )
            )
    return Exhibit(
        title="AUROC by step",
        note="Correctness over answers to answerable questions, answerability over all runs.",
        row=StepRow,
        rows=tuple(rows),
    )
