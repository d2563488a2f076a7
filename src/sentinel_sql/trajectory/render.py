"""Plain-text rendering of a `Prefix`: the text that every head reads.

One segment for the question and one for each step, so that a new step costs its own rendering
only. A run that is still open and a run that hit the step cap look alike: only a step that
commits is rendered with a closing line, so nothing tells the outcome early.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from sentinel_sql.trajectory.record import AskedQuestion, Prefix, Step, commitment

TRAINING_TOKENS = 2048
"""Newest tokens that a head reads when it is fitted (paper section 3.3)."""

SCORING_TOKENS = 4096
"""Newest tokens that a head reads when it scores (paper section 3.3)."""

TOKEN = re.compile(r"\w{1,32}|[^\w\s]")
"""A token: a word or a mark. Ours: a longer run of letters counts one token every 32 characters,
so that a cap on tokens is a cap on text."""

Commitment = Literal["answer", "abstention"]


def render_question(question: AskedQuestion) -> str:
    """Return the question line."""
    return f"QUESTION: {_folded(question.text)}"


def render_step(step: Step, committed: Commitment | None) -> str:
    """Return the lines of one step; `committed` is what `record.commitment` says of it."""
    lines = []
    if step.thought:
        lines.append(f"STEP {step.index} THOUGHT: {_folded(step.thought)}")
    if committed == "abstention":
        lines.append("FINAL: null (abstained)")
        return "\n".join(lines)
    marker = "FINAL" if committed == "answer" else f"STEP {step.index}"
    if step.sql:
        lines.append(f"{marker} SQL: {_folded(step.sql)}")
    result = _folded(step.observation.text or step.observation.error or "")
    lines.append(f"{marker} RESULT: {result}")
    return "\n".join(lines)


def render(prefix: Prefix, *, limit: int = SCORING_TOKENS) -> str:
    """Return the rendered prefix, at most `limit` tokens long.

    The question line is always kept and the newest tokens of the steps with it. Ours: of a
    question line longer than half the limit, its first half is kept.
    """
    question = keep_oldest(render_question(prefix.question), limit // 2)
    segments = [
        render_step(step, commitment(step, commit_on_error=prefix.commit_on_error))
        for step in prefix.steps
    ]
    kept = keep_newest(segments, limit - count_tokens(question))
    return "\n".join([question, *kept])


def count_tokens(text: str) -> int:
    """Count the tokens of a text."""
    return sum(1 for _ in TOKEN.finditer(text))


def keep_oldest(text: str, limit: int) -> str:
    """Cut a text after its first `limit` tokens."""
    for count, token in enumerate(TOKEN.finditer(text)):
        if count == limit:
            return text[: token.start()].rstrip()
    return text


def keep_newest(segments: Sequence[str], limit: int) -> list[str]:
    """Keep the newest `limit` tokens of consecutive segments; the oldest kept loses its start."""
    kept: list[str] = []
    for segment in reversed(segments):
        starts = [token.start() for token in TOKEN.finditer(segment)]
        if len(starts) > limit:
            if limit:
                kept.append(segment[starts[-limit] :])
            break
        kept.append(segment)
        limit -= len(starts)
    return kept[::-1]


def _folded(text: str) -> str:
    return " ".join(text.split())
