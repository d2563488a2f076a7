"""The difference between the scores of an exported network and those of its original weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.head import FittedHead

COMPARED = 64
"""Snapshots to score both ways (ours)."""


def drift(
    reference: Sequence[FittedHead[Text]],
    served: Sequence[FittedHead[Text]],
    texts: Sequence[Text],
) -> dict[str, float]:
    """Compare the scores of up to 64 texts, evenly spread, in two runtimes.

    Args:
        reference: k heads run by torch in single precision.
        served: the same heads in the runtime that serves them.
        texts: the texts that they were fitted on.

    Returns:
        The number of snapshots, and the largest and the mean absolute difference of the scores.
    """
    at = np.unique(np.linspace(0, len(texts) - 1, COMPARED).astype(int))
    some = [texts[number] for number in at]
    apart = np.abs(
        [one.score(some) - other.score(some) for one, other in zip(reference, served, strict=True)]
    )
    return {
        "snapshots": len(some),
        "largest": float(apart.max()),
        "mean": float(apart.mean()),
    }
