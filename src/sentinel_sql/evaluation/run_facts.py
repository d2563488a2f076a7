"""What exhibits need of recorded runs and no decision does, in columns beside `PrefixScores`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sentinel_sql.monitor.prefix_scores import Bools, Floats, PrefixScores


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Columns over the N runs and P prefixes of a `PrefixScores`.

    Attributes:
        strict: shape (N,): the official execution match accepts the answer; False where none was
            given or the question is unanswerable. None if an answer has no strict label.
        prompt_tokens: shape (P,), prompt tokens of the step that led to each prefix; 0 at t = 0,
            NaN where the endpoint told none.
    """

    strict: Bools | None
    prompt_tokens: Floats

    @classmethod
    def unknown(cls, scores: PrefixScores) -> Self:
        """Return what is known of runs of which nothing was told."""
        prompt_tokens = np.full(len(scores.tokens), np.nan)
        prompt_tokens[scores.offsets[:-1]] = 0.0
        return cls(strict=None, prompt_tokens=prompt_tokens)
