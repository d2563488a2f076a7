"""Neutral frames around a question, the same for answerable and unanswerable ones."""

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
"""They carry no meaning: how people open when they ask."""


def frame(text: str, draw: random.Random) -> str:
    """Put three in ten questions in a frame."""
    chosen, which = draw.random(), draw.random()
    return FRAMES[int(which * len(FRAMES))].format(text) if chosen < _SHARE else text
