"""Calibration maps: from a raw score to a confidence, monotone and frozen.

A map never ranks two cases the wrong way: a higher score never gets a lower confidence, to the
last bit. Between the steps of the isotonic fit it interpolates, outside them it stays level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sentinel_sql.monitor.head import Bools, Floats


@dataclass(frozen=True, kw_only=True)
class CalibrationMap:
    """A monotone, piecewise linear map of [0, 1] into [0, 1].

    Attributes:
        scores: shape (k,), ascending.
        confidences: shape (k,), never descending.
    """

    scores: Floats
    confidences: Floats

    def __call__(self, raw: ArrayLike) -> Floats:
        """Map raw scores to confidences, any shape; NaN stays NaN."""
        raw = np.asarray(raw, np.float64)
        if len(self.scores) == 1:
            return np.where(np.isnan(raw), np.nan, self.confidences[0])
        at = np.clip(np.searchsorted(self.scores, raw, side="right") - 1, 0, len(self.scores) - 2)
        low, high = self.confidences[at], self.confidences[at + 1]
        share = (raw - self.scores[at]) / (self.scores[at + 1] - self.scores[at])
        # The second clip keeps rounding from stepping over the next knot.
        return np.asarray(np.clip(low + np.clip(share, 0.0, 1.0) * (high - low), low, high))


def fit_map(raw: Floats, targets: Bools) -> CalibrationMap:
    """Fit an isotonic map (paper section 3.4).

    Args:
        raw: shape (n,), n ≥ 1, finite scores.
        targets: shape (n,); of one class only, the map is level at 0 or 1.
    """
    from sklearn.isotonic import IsotonicRegression  # a guard starts without it

    fit = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fit.fit(raw, targets.astype(np.float64))
    return CalibrationMap(
        scores=np.asarray(fit.X_thresholds_, np.float64).copy(),
        confidences=np.maximum.accumulate(np.asarray(fit.y_thresholds_, np.float64)),
    )
