"""Makes all exhibits of rivals from their scores; nothing is fitted and no model is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.monitor.prefix_scores import Floats, PrefixScores
from sentinel_sql.rivals.comparison import rivals
from sentinel_sql.rivals.payoffs import rival_payoffs
from sentinel_sql.rivals.scores import RIVAL, RivalScores, calibrated, covered_by_all


@dataclass(frozen=True, kw_only=True)
class RivalScoreRow:
    """The score of one rival for one answer, with the answer's label."""

    pool: Annotated[str, Column("where the answer is from", within="calibration or evaluated")]
    run: Annotated[str, Column("id of the run")]
    rival: Annotated[str, RIVAL]
    score: Annotated[float | None, Column("its raw score; higher is surer")]
    confidence: Annotated[float | None, Column("the score through its map", within=SHARE)]
    correct: Annotated[bool, Column("whether the answer is correct")]
    answerable: Annotated[bool, Column("whether the question is answerable")]
    clean: Annotated[bool, Column("whether the answer executed and isn't empty")]


def rival_exhibits(
    evidence: Evidence, calibration: PrefixScores, scored: Sequence[RivalScores]
) -> Mapping[str, Exhibit[Any]]:
    """Make `rivals` and `rival_payoffs`, and both again for the answers that all rivals cover.

    Args:
        evidence: evidence of the evaluated pool.
        calibration: the calibration pool's columns.
        scored: the confidences, the delivery estimator's first.
    """
    made: dict[str, Exhibit[Any]] = {
        "rivals": rivals(evidence, calibration, scored),
        "rival_payoffs": rival_payoffs(evidence, calibration, scored),
    }
    covered = covered_by_all(evidence, scored)
    if covered is not None:
        made["rivals_covered"] = rivals(evidence, calibration, scored, covered)
        made["rival_payoffs_covered"] = rival_payoffs(evidence, calibration, scored, covered)
    return made


def rival_scores(
    evidence: Evidence, calibration: PrefixScores, scored: Sequence[RivalScores]
) -> Exhibit[RivalScoreRow]:
    """List the scores themselves, so that every figure can be computed from this table."""
    return Exhibit(
        title="Scores of rivals",
        note="One row for each answer and rival, of both pools; empty without a score.",
        row=RivalScoreRow,
        rows=tuple(
            row
            for rival in scored
            for pool, scores, raw in (
                ("calibration", calibration, rival.calibration),
                ("evaluated", evidence.scores, rival.pool),
            )
            for row in _score_rows(
                pool, scores, rival.name, raw, calibrated(calibration, rival, raw)
            )
        ),
    )


def _score_rows(
    pool: str, scores: PrefixScores, rival: str, raw: Floats, confidence: Floats | None
) -> Iterator[RivalScoreRow]:
    for i in np.flatnonzero(scores.answered).tolist():
        has_score = not np.isnan(raw[i])
        yield RivalScoreRow(
            pool=pool,
            run=scores.question_ids[i],
            rival=rival,
            score=float(raw[i]) if has_score else None,
            confidence=None if confidence is None or not has_score else float(confidence[i]),
            correct=bool(scores.correct[i]),
            answerable=bool(scores.answerable[i]),
            clean=bool(scores.clean[i]),
        )
