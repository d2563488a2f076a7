"""The protocol of a language model, `ChatModel`, and its `Reply`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypedDict

CutBy = Literal["length", "filter", "fault"]
"""What cut a reply: its length limit, a content filter, or a fault of the server."""


class Message(TypedDict):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A model's reply and its cost.

    Attributes:
        text: the text of the reply, with a native tool call in the form of the prompt; may be
            empty.
        logprobs: natural log-probability of each generated token, or None if not reported.
        entropies: entropy of each generated token in nats (see `telemetry.entropy`), or None.
        prompt_tokens: tokens read, or None if not reported.
        completion_tokens: tokens generated, or None.
        seconds: wall time from the request to the last byte of the answer.
        cut_by: what cut the reply; None for a whole one. A cut reply commits to nothing.
        telemetry_unread: True if the log-probabilities were impossible (above 0, no number, another
            form) and were ignored.
        first: the most likely first tokens with their natural log-probabilities, in falling order;
            empty if not reported.
        reasoning: whether the text is reasoning alone, as no other text came.
    """

    text: str
    logprobs: tuple[float, ...] | None = None
    entropies: tuple[float, ...] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cut_by: CutBy | None = None
    telemetry_unread: bool = False
    first: tuple[tuple[str, float], ...] = ()
    reasoning: bool = False


class ChatModel(Protocol):
    """A language model behind a chat. Implementations are safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model's name in trajectories."""
        ...

    @property
    def temperature(self) -> float | None:
        """Sampling temperature in trajectories; None if unknown."""
        ...

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a chat.

        Raises:
            EndpointError: there was no answer, even after retries.
        """
        ...
