"""What an agent needs of a language model: `ChatModel`, and the `Reply` it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypedDict

CutBy = Literal["length", "filter", "fault"]
"""What ended a reply before its end: its cap, a content filter, or a fault of the server."""


class Message(TypedDict):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model answered, and what it cost.

    Attributes:
        text: the reply itself, a native tool call in the form of the prompt; may be empty.
        logprobs: natural log-probability of each generated token, or None where the model
            tells none.
        entropies: entropy of each generated token in nats (see `telemetry.entropy`), or None.
        prompt_tokens: tokens read, or None where the model tells none.
        completion_tokens: tokens generated, or None.
        seconds: wall time from the request to the last byte of the answer.
        cut_by: what ended the reply before its end; None for a whole one. A cut reply commits to
            nothing.
        telemetry_unread: log-probabilities came that can't be (above 0, no number, another form)
            and weren't taken.
        first: the likeliest first tokens with their natural log-probabilities, likeliest first;
            empty where the model tells none.
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
        """The model's name, as it stands in a trajectory."""
        ...

    @property
    def temperature(self) -> float | None:
        """Sampling temperature, as it stands in a trajectory; None where unknown."""
        ...

    def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer a chat.

        Raises:
            EndpointError: no answer could be had, retries included.
        """
        ...
