"""The scores of a rival: one raw score for each answer, calibrated like the monitor's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sentinel_sql.decision.ragged_columns import terminal
from sentinel_sql.evaluation.column_meaning import Column
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.monitor.calibration import fit_map
from sentinel_sql.monitor.prefix_scores import Bools, Floats, PrefixScores

RivalKind = Literal["monitor", "rule", "telemetry", "text", "asked", "reference"]
"""`rule` reads the end or the length of a run, `telemetry` its tokens' log-probabilities and
entropies, `text` its words. `asked` is a collected confidence. `reference` is no confidence."""

DELIVERY, CORRECTNESS = "delivery estimator", "correctness head"

RIVAL = Column("whose confidence; see docs/reference/rivals.md")
KIND = Column("what it reads", within="monitor, rule, telemetry, text, asked or reference")


@dataclass(frozen=True, kw_only=True)
class RivalScores:
    """The scores of one rival for the answers of two pools. Higher is surer; any scale.

    Attributes:
        name: name of the rival.
        kind: what it reads.
        calibration: shape (M,), the runs of the calibration pool; NaN without answer or score.
        pool: shape (N,), the runs of the evaluated pool; NaN without answer or score.
        seconds: shape (N,), measured time to score each answer (`asked`: the model's time); NaN
            if unknown.
        tokens: shape (N,), tokens that a model read and wrote; None if no model is called.
        missing: why some or all answers have no score; empty if all have one.
    """

    name: str
    kind: RivalKind
    calibration: Floats
    pool: Floats
    seconds: Floats | None = None
    tokens: Floats | None = None
    missing: str = ""


def own_scores(
    evidence: Evidence, calibration: PrefixScores, seconds: Floats | None
) -> tuple[RivalScores, ...]:
    """Return the scores of the monitor's delivery estimator and correctness head, in this order.

    Args:
        evidence: evidence of the evaluated pool.
        calibration: the calibration pool's columns.
        seconds: shape (N,), the monitor's time over all steps of each answered run.
    """
    scores = evidence.scores
    return (
        RivalScores(
            name=DELIVERY,
            kind="monitor",
            calibration=calibration.delivery_score,
            pool=scores.delivery_score,
            seconds=seconds,
        ),
        RivalScores(
            name=CORRECTNESS,
            kind="monitor",
            calibration=_at_answer(calibration),
            pool=_at_answer(scores),
            seconds=seconds,
        ),
    )


def covered_by_all(evidence: Evidence, rivals: Sequence[RivalScores]) -> Bools | None:
    """Return the runs without an answer, or with a score of every rival, shape (N,).

    Rivals without any score are ignored. None if these are all runs or hold no answer, so that a
    second table would show nothing new.
    """
    answered = evidence.scores.answered
    covered = np.ones(len(answered), np.bool_)
    for rival in rivals:
        if not np.isnan(rival.pool[answered]).all():
            covered &= ~(answered & np.isnan(rival.pool))
    return covered if (covered & answered).any() and not covered.all() else None


def _at_answer(scores: PrefixScores) -> Floats:
    return np.where(scores.answered, scores.raw_correct[terminal(scores)], np.nan)


def calibrated(
    calibration: PrefixScores, rival: RivalScores, raw: Floats | None = None
) -> Floats | None:
    """Return the calibrated confidences of a rival, shape (N,); NaN without a score.

    The map is isotonic for all rivals and for the monitor beside them, whatever the monitor's own
    is, so that the scores are compared and not the maps. It is fitted on the answers of the
    calibration pool. None if the rival has no score there.

    Args:
        calibration: the calibration pool's columns.
        rival: the rival.
        raw: its scores, any shape; None for those of the evaluated pool.
    """
    known = calibration.answered & ~np.isnan(rival.calibration)
    if not known.any():
        return None
    its_map = fit_map(rival.calibration[known], calibration.correct[known])
    return its_map(rival.pool if raw is None else raw)
