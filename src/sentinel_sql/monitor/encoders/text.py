"""The text that an encoder reads: the question line and the newest steps of a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import (
    SCORING_TOKENS,
    Commitment,
    count_tokens,
    keep_newest,
    keep_oldest,
    render_question,
    render_step,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A rendered prefix in segments, the oldest first."""

    question: str
    steps: tuple[str, ...] = ()

    @property
    def digest(self) -> bytes:
        """A hash of the content."""
        digest = hashlib.blake2b(digest_size=16)
        for segment in (self.question, *self.steps):
            encoded = segment.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
        return digest.digest()


class TextReading:
    """The segments of one run; each is rendered once.

    A text is first cut here, in the tokens of `trajectory.render`, which bounds it for every
    encoder. The encoder then cuts it again, in its own tokens.
    """

    def __init__(self, question: AskedQuestion) -> None:
        self._question = render_question(question)
        self._question_tokens = count_tokens(self._question)
        self._steps: list[str] = []
        self._step_tokens = 0
        self._whole: Text | None = None

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step."""
        kept = "".join(keep_newest([render_step(step, committed)], SCORING_TOKENS))
        self._steps.append(kept)
        self._step_tokens += count_tokens(kept)
        self._whole = None

    def snapshot(self, limit: int) -> Text:
        """Return the question line and the newest steps, at most `limit` tokens in all."""
        if self._fits(limit):
            if self._whole is None:
                self._whole = Text(question=self._question, steps=tuple(self._steps))
            return self._whole
        question = keep_oldest(self._question, limit // 2)
        left = limit - min(self._question_tokens, limit // 2)
        return Text(question=question, steps=tuple(keep_newest(self._steps, left)))

    def _fits(self, limit: int) -> bool:
        return (
            self._question_tokens <= limit // 2
            and self._question_tokens + self._step_tokens <= limit
        )
