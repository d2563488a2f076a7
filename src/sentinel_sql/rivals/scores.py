"""What a rival says of every answer: one raw score, calibrated as the monitor's own is."""

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
entropies, `text` its words; `asked` asks the agent's model; `reference` is no confidence."""

DELIVERY, CORRECTNESS = "delivery estimator", "correctness head"

RIVAL = Column("whose confidence; see docs/reference/rivals.md")
KIND = Column("what it reads", within="monitor, rule, telemetry, text, asked or reference")


@dataclass(frozen=True, kw_only=True)
class RivalScores:
    """What one rival says of the answers of two pools. Higher is surer; any scale.

    Attributes:
        name: of the rival.
        kind: what it reads.
        calibration: shape (M,), by run of the calibration pool; NaN without answer or score.
        pool: shape (N,), by run of the evaluated pool; the same.
        seconds: shape (N,), of its own scoring of each answer, as measured (`asked`: of the
            model); NaN where unknown.
        tokens: shape (N,), that a model read and wrote for it; None where no model is asked.
        missing: why it says nothing, of some answers or of all; empty if it says all.
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
    """Return the monitor's own two confidences in the form of a rival's, the delivery one first.

    Args:
        evidence: of the evaluated pool.
        calibration: the calibration pool's columns.
        seconds: shape (N,), of the monitor over all steps of each answered run.
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
    """Return the runs without an answer that some rival has no score for, shape (N,).

    Rivals without any score are left out of account. None where these are all runs, or hold no
    answer: then there is nothing to show beside the table of all.
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
    """Return the confidence of a rival's scores, shape (N,); NaN where it has none.

    The map is the monitor's own kind, fitted on the answers of the calibration pool alone. None
    where the rival has no score there.

    Args:
        calibration: the calibration pool's columns.
        rival: whose map.
        raw: scores of its, any shape; those of the evaluated pool if None.
    """
    known = calibration.answered & ~np.isnan(rival.calibration)
    if not known.any():
        return None
    its_map = fit_map(rival.calibration[known], calibration.correct[known])
    return its_map(rival.pool if raw is None else raw)
