"""Columns of recorded runs that only exhibits need, in addition to `PrefixScores`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sentinel_sql.monitor.prefix_scores import Bools, Floats, PrefixScores


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Columns over the N runs and P prefixes of a `PrefixScores`.

    Attributes:
        strict: shape (N,), True if the official execution match accepts the answer; False without
            an answer or for an unanswerable question. None if any answer has no strict label.
        prompt_tokens: shape (P,), prompt tokens of the last step of each prefix; 0 at t = 0, NaN
            if the endpoint reported none.
    """

    strict: Bools | None
    prompt_tokens: Floats

    @classmethod
    def unknown(cls, scores: PrefixScores) -> Self:
        """Return the columns of runs without strict labels and prompt tokens."""
        prompt_tokens = np.full(len(scores.tokens), np.nan)
        prompt_tokens[scores.offsets[:-1]] = 0.0
        return cls(strict=None, prompt_tokens=prompt_tokens)
