"""Calibration maps: monotone, frozen maps from a raw score to a confidence.

A higher score never gets a lower confidence, to the last bit. The map interpolates between the
steps of the isotonic fit, and is constant outside of them.

Confidences follow Laplace's rule of succession: a block with k right cases among n has the
confidence (k+1)/(n+2). So it is never below 1/(n+2) nor above (n+1)/(n+2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sentinel_sql.monitor.head import Bools, Floats


@dataclass(frozen=True, kw_only=True)
class CalibrationMap:
    """A monotone, piecewise linear map of scores into [0, 1].

    Attributes:
        scores: shape (k,), k ≥ 1, strictly ascending; a rival's may lie outside of [0, 1].
        confidences: shape (k,), in [0, 1], never descending.
    """

    scores: Floats
    confidences: Floats

    def __post_init__(self) -> None:
        """Check the map.

        Raises:
            ValueError: it isn't a valid map; says what is wrong.
        """
        scores, confidences = self.scores, self.confidences
        if scores.ndim != 1 or len(scores) == 0 or scores.shape != confidences.shape:
            raise ValueError("its scores and confidences aren't of one length")
        if any(it.dtype != np.float64 or not np.isfinite(it).all() for it in (scores, confidences)):
            raise ValueError("it holds a value that is no finite number")
        if (np.diff(scores) <= 0).any() or (np.diff(confidences) < 0).any():
            raise ValueError("it isn't monotone")
        if confidences[0] < 0 or confidences[-1] > 1:
            raise ValueError("its confidences leave the range from 0 to 1")

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make the map of a head from the result of `arrays`.

        Raises:
            KeyError, ValueError: the arrays aren't a map of [0, 1].
        """
        restored = cls(scores=arrays["scores"], confidences=arrays["confidences"])
        if restored.scores[0] < 0 or restored.scores[-1] > 1:
            raise ValueError("its scores leave the range from 0 to 1")
        return restored

    def arrays(self) -> dict[str, Floats]:
        """Return the map as plain arrays."""
        return {"scores": self.scores, "confidences": self.confidences}

    def __call__(self, raw: ArrayLike) -> Floats:
        """Map raw scores to confidences, any shape; NaN stays NaN."""
        raw = np.asarray(raw, np.float64)
        if len(self.scores) == 1:
            return np.where(np.isnan(raw), np.nan, self.confidences[0])
        at = np.clip(np.searchsorted(self.scores, raw, side="right") - 1, 0, len(self.scores) - 2)
        low, high = self.confidences[at], self.confidences[at + 1]
        start, end = self.scores[at], self.scores[at + 1]
        share = (np.clip(raw, start, end) - start) / (end - start)
        # The second clip prevents that rounding exceeds the next knot.
        return np.asarray(np.clip(low + share * (high - low), low, high))


def fit_map(raw: Floats, targets: Bools) -> CalibrationMap:
    """Fit an isotonic map (paper section 3.4), and shrink each block by its counts (ours).

    A block of the isotonic fit whose (k+1)/(n+2) isn't higher than that of its lower neighbour is
    pooled with it. So a block of few cases can't be above one of many cases by chance.

    Args:
        raw: shape (n,), n ≥ 1, finite scores; those of heads are in [0, 1].
        targets: shape (n,).
    """
    scores, at = np.unique(raw, return_inverse=True)
    right = np.bincount(at, weights=targets).astype(np.int64)
    single = [_Block(*each) for each in zip(right.tolist(), np.bincount(at).tolist(), strict=True)]
    isotonic = _pool(single, lambda block: Fraction(block.right, block.cases))
    blocks = _pool(isotonic, _Block.confidence)
    # A block is constant from its first to its last score, so it has one knot or two.
    ends = np.cumsum([block.scores for block in blocks]) - 1
    starts = np.concatenate([[0], ends[:-1] + 1])
    knots = np.unique(np.concatenate([starts, ends]))
    levels = np.array([float(block.confidence()) for block in blocks])
    return CalibrationMap(
        scores=scores[knots].astype(np.float64), confidences=levels[np.searchsorted(ends, knots)]
    )


class _Block(NamedTuple):
    """Cases of neighbouring scores with one confidence."""

    right: int
    cases: int
    scores: int = 1

    def confidence(self) -> Fraction:
        return Fraction(self.right + 1, self.cases + 2)


def _pool(blocks: Iterable[_Block], level: Callable[[_Block], Fraction]) -> list[_Block]:
    """Pool neighbours until the level rises strictly from block to block."""
    kept: list[_Block] = []
    for block in blocks:
        while kept and level(block) <= level(kept[-1]):
            block = _Block(*map(sum, zip(block, kept.pop(), strict=True)))
        kept.append(block)
    return kept
