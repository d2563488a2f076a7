"""How well each head ranks, beside the plain rule "executed and not empty" as a rival."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.decision.columns import terminal
from sentinel_sql.decision.prefix_scores import Bools, Floats
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.exhibit import Evidence, Exhibit


@dataclass(frozen=True, kw_only=True)
class HeadRow:
    """One ranking task. AUROCs are None where only one class is present.

    Attributes:
        name: of the task.
        over: which runs it is over, in words.
        n: runs in it.
        positives: runs of the positive class (correct, or answerable).
        auroc: of the head.
        rule: of the plain rule on the same runs; None where nothing was executed yet.
        lead: head minus rule, on the same resamples.
    """

    name: str
    over: str
    n: int
    positives: int
    auroc: Interval | None
    rule: Interval | None
    lead: Interval | None


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
