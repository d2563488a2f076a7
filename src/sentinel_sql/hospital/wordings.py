"""Neutral opening phrases, the same for answerable and unanswerable questions."""

from __future__ import annotations

import random

_SHARE = 0.3
FRAMES = (
    "quick question: {}",
    "for the morning round: {}",
    "for the ward meeting, {}",
    "please help: {}",
    "for the audit: {}",
    "needed for the handover: {}",
    "a colleague asks: {}",
    "for my report: {}",
    "chart review, {}",
    "the nurse in charge wants to know: {}",
    "for the quality board: {}",
    "from the research desk: {}",
)
"""Openings that people use; they don't change the meaning of a question."""


def frame(text: str, draw: random.Random) -> str:
    """Put the question in a random frame with probability 0.3."""
    chosen, which = draw.random(), draw.random()
    return FRAMES[int(which * len(FRAMES))].format(text) if chosen < _SHARE else text
