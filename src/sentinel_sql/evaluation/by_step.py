"""AUROC of each head on the prefix at step t (paper figure 3b); later t hold the longer runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.exhibit import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """One head at one t, over the runs that got that far; AUROC is None for one class."""

    head: str
    t: int
    n: int
    positives: int
    auroc: Interval | None


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
                )
            )
    return Exhibit(
        title="AUROC by step",
        note="Correctness over answers to answerable questions, answerability over all runs.",
        rows=tuple(rows),
    )
