"""The AUROC of each head, compared with the plain rule "executed and not empty"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.decision.ragged_columns import terminal
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.monitor.prefix_scores import Bools, Floats


@dataclass(frozen=True, kw_only=True)
class HeadRow:
    """One ranking task. AUROCs are None where only one class is present."""

    name: Annotated[str, Column("the ranking task")]
    over: Annotated[str, Column("which runs it is over")]
    n: Annotated[int, Column("runs in it")]
    positives: Annotated[
        int, Column("of these, runs of the positive class: correct, or answerable")
    ]
    auroc: Annotated[Interval | None, Column("AUROC of the head", within=SHARE)]
    rule: Annotated[
        Interval | None,
        Column(
            "AUROC of the plain rule 'executed and not empty' on the same runs; empty at t = 0, "
            "where nothing was executed",
            within=SHARE,
        ),
    ]
    lead: Annotated[
        Interval | None,
        Column("AUROC of the head minus the rule's, on the same resamples", within="[−1, 1]"),
    ]


def heads(evidence: Evidence) -> Exhibit[HeadRow]:
    """Return the AUROC of every head on its own task, and among clean answers."""
    scores = evidence.scores
    everything = scores.answered | ~scores.answered
    last = terminal(scores)
    raw, p_answerable = scores.raw_correct[last], scores.p_answerable
    answers = scores.answered & scores.answerable
    rows = (
        _row(
            evidence, "correctness", "answers to answerable questions", scores.correct, raw, answers
        ),
        _row(
            evidence,
            "delivery",
            "all answers",
            scores.correct,
            scores.delivery_score,
            scores.answered,
        ),
        _row(
            evidence,
            "quiet failure, correctness",
            "clean answers to answerable questions",
            scores.correct,
            raw,
            answers & scores.clean,
        ),
        _row(
            evidence,
            "quiet failure, delivery",
            "clean answers",
            scores.correct,
            scores.delivery_score,
            scores.answered & scores.clean,
        ),
        _row(
            evidence,
            "answerability, question alone",
            "all runs, t = 0",
            scores.answerable,
            p_answerable[scores.offsets[:-1]],
            everything,
            executed=False,
        ),
        _row(
            evidence,
            "answerability, whole run",
            "all runs, t = T",
            scores.answerable,
            p_answerable[last],
            everything,
        ),
    )
    return Exhibit(
        title="Heads",
        note=(
            "AUROC with its 95 % template-cluster interval; the rule is 'executed and not "
            "empty'. A head that doesn't beat it adds nothing."
        ),
        row=HeadRow,
        rows=rows,
    )


def _row(
    evidence: Evidence,
    name: str,
    over: str,
    target: Bools,
    score: Floats,
    where: Bools,
    *,
    executed: bool = True,
) -> HeadRow:
    resampling = evidence.resampling
    rule = evidence.scores.clean.astype(float)
    return HeadRow(
        name=name,
        over=over,
        n=int(where.sum()),
        positives=int((where & target).sum()),
        auroc=resampling.auroc(target, score, where),
        rule=resampling.auroc(target, rule, where) if executed else None,
        lead=resampling.auroc_lead(target, score, rule, where) if executed else None,
    )
