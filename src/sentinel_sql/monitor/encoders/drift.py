"""How far the scores of an exported network are from those of the weights that it was made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.head import FittedHead

COMPARED = 64
"""Snapshots that are scored both ways, ours."""


def drift(
    reference: Sequence[FittedHead[Text]],
    served: Sequence[FittedHead[Text]],
    texts: Sequence[Text],
) -> dict[str, float]:
    """Score some texts, evenly spread, both ways.

    Args:
        reference: k heads run by torch in single precision.
        served: the same heads as they are served.
        texts: what they were fitted on.

    Returns:
        The number of snapshots, and the largest and the mean difference of their scores.
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
