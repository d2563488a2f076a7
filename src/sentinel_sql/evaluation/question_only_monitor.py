"""A monitor that reads the question only: the rival of every monitor that reads trajectories.

Every confidence becomes that of t = 0. Calibration maps, gate and early stop are fitted again on
the calibration pool at t = 0, so that the rival is as well calibrated as the monitor. Paper
appendix F scores the heads at t = 0; decisions from these scores are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sentinel_sql.decision.gate import TOLERANCE
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import CannotFitError
from sentinel_sql.monitor.calibration import CalibrationMap, fit_map
from sentinel_sql.monitor.prefix_scores import Floats, PrefixScores
from sentinel_sql.monitor.thresholds import Gate, Thresholds


def question_alone(
    scores: PrefixScores, calibration: PrefixScores, *, stakes: Sequence[float], gate: Gate
) -> tuple[PrefixScores, PrefixScores, Thresholds]:
    """Return the pool's columns, the calibration pool's columns and thresholds, all at t = 0.

    Args:
        scores: the pool's columns.
        calibration: the calibration pool's columns.
        stakes: the λ to freeze an early stop for.
        gate: the monitor's gate; the rival's gate is chosen by the same rule.

    Raises:
        CannotFitError: the calibration pool holds no answer.
    """
    if not calibration.answered.any():
        raise CannotFitError(
            "the calibration pool holds no answer, so reading the question alone can't be "
            "calibrated: collect more runs"
        )
    answered = calibration.answered
    raw, unanswerable = _at_question(calibration)
    maps = (
        fit_map(raw, calibration.correct),
        fit_map(raw[answered], calibration.correct[answered]),
        fit_map(unanswerable[answered], ~calibration.answerable[answered]),
    )
    blind = _read(calibration, *maps)
    tolerance = gate.tolerance or TOLERANCE
    frozen = freeze(blind, stakes=stakes, gate=gate.rule, tolerance=tolerance)
    return _read(scores, *maps), blind, frozen


def _read(
    scores: PrefixScores,
    prefix: CalibrationMap,
    delivery: CalibrationMap,
    epsilon: CalibrationMap,
) -> PrefixScores:
    raw, unanswerable = _at_question(scores)
    lengths = np.diff(scores.offsets)
    answered = scores.answered
    return replace(
        scores,
        p_answerable=np.repeat(1 - unanswerable, lengths),
        raw_correct=np.repeat(raw, lengths),
        p_correct=np.repeat(prefix(raw), lengths),
        delivery_score=np.where(answered, raw, np.nan),
        delivery=np.where(answered, delivery(raw), np.nan),
        p_unanswerable=np.where(answered, epsilon(unanswerable), np.nan),
    )


def _at_question(scores: PrefixScores) -> tuple[Floats, Floats]:
    first = scores.offsets[:-1]
    return scores.raw_correct[first], 1 - scores.p_answerable[first]
