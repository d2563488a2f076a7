"""Gate and delivery bar as one classifier of answers to withhold (paper figure 3a).

It ranks committed answers: runs that the gate stops are the last, the others are sorted by their
delivery score. The system at a λ is a threshold on that ranking, so its point lies on the curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.ragged_columns import gate_times
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.monitor.prefix_scores import Bools, Floats

OVER = Column("which answers", within="all answers or clean answers")
MOST_POINTS = 400


@dataclass(frozen=True, kw_only=True)
class WithholdRow:
    """How well the classifier separates wrong from right answers, over some of the answers."""

    over: Annotated[str, OVER]
    n: Annotated[int, Column("answers")]
    wrong: Annotated[int, Column("of these, wrong ones, or to an unanswerable question")]
    auc: Annotated[
        Interval | None, Column("area under the ROC of gate and delivery score", within=SHARE)
    ]
    rule: Annotated[
        Interval | None,
        Column("area under the ROC of the plain rule 'executed and not empty'", within=SHARE),
    ]
    lead: Annotated[
        Interval | None, Column("auc minus rule, on the same resamples", within="[−1, 1]")
    ]


@dataclass(frozen=True, kw_only=True)
class WithholdPointRow:
    """One point of the ROC, or the point of the system with gate and delivery bar at a λ."""

    over: Annotated[str, OVER]
    stakes: Annotated[
        float | None,
        Column("λ of the system; empty for a point of the sweep", within=STAKES.within),
    ]
    right_withheld: Annotated[
        float, Column("share of the right answers that is withheld", unit="share", within=SHARE)
    ]
    wrong_withheld: Annotated[
        float, Column("share of the wrong answers that is withheld", unit="share", within=SHARE)
    ]


def withholding(evidence: Evidence) -> Exhibit[WithholdRow]:
    """Return the AUC over all answers, and over clean ones, whose failures are quiet."""
    scores, resampling = evidence.scores, evidence.resampling
    ranking = trust_scores(evidence)
    rule = scores.clean.astype(float)
    return Exhibit(
        title="The whole layer as one withhold classifier",
        note=(
            "How well it separates wrong from right answers. Clean answers executed and aren't "
            "empty, so their failures are quiet."
        ),
        row=WithholdRow,
        rows=tuple(
            WithholdRow(
                over=over,
                n=int(where.sum()),
                wrong=int((where & ~scores.correct).sum()),
                auc=resampling.auroc(scores.correct, ranking, where),
                rule=resampling.auroc(scores.correct, rule, where),
                lead=resampling.auroc_lead(scores.correct, ranking, rule, where),
            )
            for over, where in _over(evidence)
        ),
    )


def withhold_roc(evidence: Evidence) -> Exhibit[WithholdPointRow]:
    """Return the ROC curve and the point of the system at every λ; no rows for one class."""
    scores = evidence.scores
    ranking = trust_scores(evidence)
    rows: list[WithholdPointRow] = []
    for over, where in _over(evidence):
        right, wrong = where & scores.correct, where & ~scores.correct
        if not right.any() or not wrong.any():
            continue
        marks = np.unique(ranking[where])
        if len(marks) > MOST_POINTS:
            marks = np.unique(np.quantile(marks, np.linspace(0, 1, MOST_POINTS), method="nearest"))
        marks = np.append(marks, np.inf)
        shares = [
            _share_below(ranking[kind], evidence.weights[kind], marks) for kind in (right, wrong)
        ]
        rows += [
            WithholdPointRow(over=over, stakes=None, right_withheld=x, wrong_withheld=y)
            for x, y in zip(*(share.tolist() for share in shares), strict=True)
        ]
        for level in evidence.stakes:
            kept = evidence.replays["full", level].delivered
            x, y = (evidence.mean(~kept, kind) for kind in (right, wrong))
            if x is not None and y is not None:
                rows.append(
                    WithholdPointRow(over=over, stakes=level, right_withheld=x, wrong_withheld=y)
                )
    return Exhibit(
        title="ROC of the whole layer",
        note="Wrong answers withheld against right answers withheld; the system has one point a λ.",
        row=WithholdPointRow,
        rows=tuple(rows),
    )


def _over(evidence: Evidence) -> tuple[tuple[str, Bools], ...]:
    scores = evidence.scores
    return ("all answers", scores.answered), ("clean answers", scores.answered & scores.clean)


def trust_scores(evidence: Evidence) -> Floats:
    """Return the score by which gate and delivery bar rank answers, shape (N,).

    Answers with a higher score are delivered first. NaN without an answer.
    """
    scores = evidence.scores
    gated = gate_times(scores, evidence.thresholds.gate.theta) <= scores.steps
    return np.where(gated & scores.answered, -1.0, scores.delivery_score)


def _share_below(ranking: Floats, weights: Floats, marks: Floats) -> Floats:
    order = np.argsort(ranking)
    total = np.concatenate([[0.0], np.cumsum(weights[order])])
    below: Floats = total[np.searchsorted(ranking[order], marks, side="left")] / total[-1]
    return below
