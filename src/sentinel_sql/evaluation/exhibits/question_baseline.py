"""The gain from reading the trajectory: each head at t = 0 and at the end (paper table 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.ragged_columns import terminal
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class QuestionOnlyRow:
    """One head over some of the runs; AUROCs are None where only one class is present."""

    head: Annotated[str, Column("which head", within="correctness or answerability")]
    over: Annotated[str, Column("which runs it is ranked on")]
    n: Annotated[int, Column("runs that it is ranked on")]
    positives: Annotated[int, Column("of these, correct or answerable ones")]
    question: Annotated[
        Interval | None, Column("AUROC of the head that reads the question alone", within=SHARE)
    ]
    whole_run: Annotated[
        Interval | None, Column("AUROC of the head that reads the whole run", within=SHARE)
    ]
    rule: Annotated[
        Interval | None,
        Column("AUROC of the plain rule 'executed and not empty' on the same runs", within=SHARE),
    ]
    lead: Annotated[
        Interval | None,
        Column("whole_run minus question, on the same resamples", within="[−1, 1]"),
    ]


def question_only(evidence: Evidence) -> Exhibit[QuestionOnlyRow]:
    """Return both heads with and without the run, over all their runs and over clean answers."""
    scores, resampling = evidence.scores, evidence.resampling
    first, last = scores.offsets[:-1], terminal(scores)
    answers = scores.answered & scores.answerable
    everyone = np.ones(len(scores), dtype=bool)
    tasks = (
        ("correctness", "answers to answerable questions", answers),
        ("correctness", "clean answers to answerable questions", answers & scores.clean),
        ("answerability", "all runs", everyone),
        ("answerability", "clean answers", scores.answered & scores.clean),
    )
    rows = []
    for head, over, where in tasks:
        target = scores.correct if head == "correctness" else scores.answerable
        score = scores.raw_correct if head == "correctness" else scores.p_answerable
        rows.append(
            QuestionOnlyRow(
                head=head,
                over=over,
                n=int(where.sum()),
                positives=int((where & target).sum()),
                question=resampling.auroc(target, score[first], where),
                whole_run=resampling.auroc(target, score[last], where),
                rule=resampling.auroc(target, scores.clean.astype(float), where),
                lead=resampling.auroc_lead(target, score[last], score[first], where),
            )
        )
    return Exhibit(
        title="Question-only baselines",
        note="The AUROC of the same head on the question alone and on the whole run.",
        row=QuestionOnlyRow,
        rows=tuple(rows),
    )
