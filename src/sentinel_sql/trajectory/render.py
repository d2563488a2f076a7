"""Renders a `Prefix` as the plain text that every head reads.

There is one segment for the question and one for each step, so that a new step only needs its own
rendering. Only a step that commits has a closing line. An open run and a run at the step cap
therefore look the same, and the outcome can't be read early.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from sentinel_sql.trajectory.record import AskedQuestion, Prefix, Step, commitment

TRAINING_TOKENS = 2048
"""Number of newest tokens that a head reads in fitting (paper section 3.3)."""

SCORING_TOKENS = 4096
"""Number of newest tokens that a head reads in scoring (paper section 3.3)."""

TOKEN = re.compile(r"\w{1,32}|[^\w\s]")
"""A token: a word or a mark. A longer word counts as one token for every 32 characters (our rule),
so that a limit on tokens is a limit on text."""

Commitment = Literal["answer", "abstention"]


def render_question(question: AskedQuestion) -> str:
    """Return the question line; earlier turns of the chat stand behind it, the newest first."""
    said = [f"QUESTION: {_fold(question.text)}"]
    said += [f"EARLIER: {_fold(turn)}" for turn in reversed(question.history)]
    return " ".join(said)


def render_step(step: Step, committed: Commitment | None) -> str:
    """Return the lines of one step; `committed` is the result of `record.commitment`."""
    lines = []
    if step.thought:
        lines.append(f"STEP {step.index} THOUGHT: {_fold(step.thought)}")
    if committed == "abstention":
        lines.append("FINAL: null (abstained)")
        return "\n".join(lines)
    marker = "FINAL" if committed == "answer" else f"STEP {step.index}"
    if step.sql:
        lines.append(f"{marker} SQL: {_fold(step.sql)}")
    result = _fold(step.observation.text or step.observation.error or "")
    lines.append(f"{marker} RESULT: {result}")
    return "\n".join(lines)


def render(prefix: Prefix, *, limit: int = SCORING_TOKENS) -> str:
    """Return the rendered prefix, at most `limit` tokens long.

    The question line and the newest tokens of the steps are kept. A question line longer than half
    the limit is cut at half the limit (our rule).
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
    """Return the first `limit` tokens of a text."""
    for count, token in enumerate(TOKEN.finditer(text)):
        if count == limit:
            return text[: token.start()].rstrip()
    return text


def keep_newest(segments: Sequence[str], limit: int) -> list[str]:
    """Return the newest `limit` tokens of consecutive segments; the oldest is cut at its start."""
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


def _fold(text: str) -> str:
    return " ".join(text.split())
