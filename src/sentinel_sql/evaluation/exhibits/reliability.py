"""The calibration of the delivery confidence, before and after its map (paper appendix D)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.metrics import BINS, bin_of
from sentinel_sql.monitor.prefix_scores import Floats

STAGE = Column("before or after the calibration map", within="raw or calibrated")


@dataclass(frozen=True, kw_only=True)
class ReliabilityRow:
    """One confidence over all answers, and its errors; None if there is no answer."""

    stage: Annotated[str, STAGE]
    n: Annotated[int, Column("answers")]
    confidence: Annotated[Interval | None, Column("mean confidence of the answers", within=SHARE)]
    accuracy: Annotated[
        Interval | None, Column("share of the answers that is correct", unit="share", within=SHARE)
    ]
    ece: Annotated[
        Interval | None,
        Column("expected calibration error in ten equal-width bins", unit="share", within=SHARE),
    ]
    brier: Annotated[Interval | None, Column("mean squared error of the confidence", within=SHARE)]


@dataclass(frozen=True, kw_only=True)
class BinRow:
    """One bin of one stage's reliability diagram; means are None where the bin is empty."""

    stage: Annotated[str, STAGE]
    bin_from: Annotated[float, Column("lower edge of the bin, inclusive", within=SHARE)]
    bin_to: Annotated[
        float, Column("upper edge of the bin, exclusive but for the last bin", within=SHARE)
    ]
    n: Annotated[int, Column("answers in the bin")]
    share: Annotated[
        float | None, Column("share of all answers that is in the bin", unit="share", within=SHARE)
    ]
    confidence: Annotated[float | None, Column("mean confidence in the bin", within=SHARE)]
    accuracy: Annotated[
        Interval | None,
        Column("share of the bin's answers that is correct", unit="share", within=SHARE),
    ]


def reliability(evidence: Evidence) -> Exhibit[ReliabilityRow]:
    """Compare the raw score of the delivery estimator with its calibrated confidence."""
    scores, resampling = evidence.scores, evidence.resampling
    answered = scores.answered
    return Exhibit(
        title="Calibration at delivery",
        note="Over all answers; ECE in ten equal-width bins. Lower is better.",
        row=ReliabilityRow,
        rows=tuple(
            ReliabilityRow(
                stage=stage,
                n=int(answered.sum()),
                confidence=resampling.mean(confidence, answered),
                accuracy=resampling.mean(scores.correct, answered),
                ece=resampling.mean_gap(
                    confidence - scores.correct, bin_of(confidence), answered, bins=BINS
                ),
                brier=resampling.mean((confidence - scores.correct) ** 2, answered),
            )
            for stage, confidence in _stages(evidence)
        ),
    )


def confidence_bins(evidence: Evidence) -> Exhibit[BinRow]:
    """Return the reliability diagram of both stages, with all bins."""
    scores, resampling = evidence.scores, evidence.resampling
    answered = scores.answered
    rows = []
    for stage, confidence in _stages(evidence):
        index = bin_of(confidence)
        for number in range(BINS):
            inside = answered & (index == number)
            rows.append(
                BinRow(
                    stage=stage,
                    bin_from=number / BINS,
                    bin_to=(number + 1) / BINS,
                    n=int(inside.sum()),
                    share=evidence.mean(inside, answered),
                    confidence=evidence.mean(confidence, inside),
                    accuracy=resampling.mean(scores.correct, inside),
                )
            )
    return Exhibit(
        title="Confidence bins",
        note="For each bin of confidence: the mean confidence and the accuracy of its answers.",
        row=BinRow,
        rows=tuple(rows),
    )


def _stages(evidence: Evidence) -> Iterator[tuple[str, Floats]]:
    yield "raw", evidence.scores.delivery_score
    yield "calibrated", evidence.scores.delivery
