"""Finds the calibration cases most like a run, and counts how many of them were right.

This explains a confidence without any weights: of the calibration cases with the nearest score,
this many were correct.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sentinel_sql.decision.ragged_columns import run_of, times
from sentinel_sql.monitor.prefix_scores import Bools, Floats, PrefixScores

NEAREST = 20
"""Number of cases (our choice): a share in steps of 5 %, and still near in a small pool."""

Asked = Literal["answerable", "ends-correct", "correct"]
"""What is counted: the question was answerable; the run ended in a correct answer; the committed
answer was correct."""

_WORDS: Mapping[Asked, tuple[str, str]] = {
    "answerable": ("runs", "were of answerable questions"),
    "ends-correct": ("runs", "ended in a correct answer"),
    "correct": ("answers", "were correct"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """The calibration cases nearest to a score.

    Attributes:
        asked: what is counted among them.
        cases: their number: `NEAREST`, more if several tie for the last place, fewer in a
            smaller pool, 0 in an empty one.
        positive: number of these for which `asked` is true.
        low, high: lowest and highest of their scores, in [0, 1]; None if there is no case.
    """

    asked: Asked
    cases: int
    positive: int
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """The same as a sentence."""
        what, are = _WORDS[self.asked]
        if self.cases == 0:
            return f"The calibration pool holds no {what} to compare with."
        return (
            f"Of the {self.cases} calibration {what} with the nearest score ({self.low:.3f} … "
            f"{self.high:.3f}), {self.positive} {are}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "asked": self.asked,
            "cases": self.cases,
            "positive": self.positive,
            "low": self.low,
            "high": self.high,
            "words": self.words,
        }


def nearest_answers(
    calibration: PrefixScores, delivery_score: float, *, k: int = NEAREST
) -> Neighbours:
    """Return the answers nearest in the delivery estimator's raw score.

    Args:
        calibration: the frozen columns.
        delivery_score: raw score of the answer to explain, in [0, 1].
        k: number of cases; all that tie with the k-th count too.
    """
    answered = calibration.answered
    return _nearest(
        "correct",
        calibration.delivery_score[answered],
        calibration.correct[answered],
        delivery_score,
        k,
    )


def nearest_runs(
    calibration: PrefixScores,
    score: float,
    *,
    asked: Literal["answerable", "ends-correct"],
    t: int,
    k: int = NEAREST,
) -> Neighbours:
    """Return the calibration runs with the nearest score to a run after `t` steps.

    The distance of a run is that of its nearest prefix. A prefix of t = 0 is compared only with
    prefixes of t = 0, and a later prefix only with later ones.

    Args:
        calibration: the frozen columns.
        score: p_answerable for `answerable`, the raw correctness score for `ends-correct`.
        asked: what is counted.
        t: steps taken.
        k: number of runs; all that tie with the k-th count too.
    """
    column, positive = (
        (calibration.p_answerable, calibration.answerable)
        if asked == "answerable"
        else (calibration.raw_correct, calibration.correct)
    )
    if len(calibration) == 0:
        return _nearest(asked, np.zeros(0), np.zeros(0, np.bool_), score, k)
    like = (times(calibration) == 0) == (t == 0)
    distance = np.where(like, np.abs(column - score), np.inf)
    closest = np.minimum.reduceat(distance, calibration.offsets[:-1])
    # One prefix of each run; the earlier of two that are equally near.
    at = np.flatnonzero((distance == closest[run_of(calibration)]) & like)
    runs, first = np.unique(run_of(calibration)[at], return_index=True)
    return _nearest(asked, column[at[first]], positive[runs], score, k)


def _nearest(asked: Asked, scores: Floats, positive: Bools, score: float, k: int) -> Neighbours:
    if len(scores) == 0:
        return Neighbours(asked=asked, cases=0, positive=0, low=None, high=None)
    distance = np.abs(scores - score)
    edge = np.partition(distance, min(k, len(distance)) - 1)[min(k, len(distance)) - 1]
    near = distance <= edge
    return Neighbours(
        asked=asked,
        cases=int(near.sum()),
        positive=int(positive[near].sum()),
        low=float(scores[near].min()),
        high=float(scores[near].max()),
    )
