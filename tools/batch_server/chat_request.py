"""Reads the body of a chat completion's request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_ALTERNATIVES = 20
"""Most alternatives for a token, as in OpenAI's interface."""

USUAL_REPLY = 512
"""Longest reply where the request names none (our choice)."""

UNSERVED: Mapping[str, tuple[Any, ...]] = {
    "stream": (False,),
    "n": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logit_bias": ({},),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "response_format": ({"type": "text"},),
}
"""Fields that aren't served → the values that ask for nothing; so does null."""


class RequestRefusedError(Exception):
    """A request can't be answered; `field` is what must change."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(f"{field}: {words}")
        self.field = field


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One reply that is asked for.

    Attributes:
        messages: mappings with `role` and `content`, both text.
        temperature: 0 takes the most likely token each time.
        seed: seed of the sampling; None: 0.
        most_tokens: longest reply, ≥ 1.
        stop: texts that end the reply and are left out of it.
        alternatives: alternatives listed for each token; None: no log-probabilities.
    """

    messages: tuple[Mapping[str, str], ...]
    temperature: float = 1.0
    seed: int = 0
    most_tokens: int = USUAL_REPLY
    stop: tuple[str, ...] = ()
    alternatives: int | None = None


def read_request(body: Any) -> ChatRequest:
    """Return what a request's JSON asks for.

    Raises:
        RequestRefusedError: it asks for what isn't served, or a field is out of range.
    """
    if not isinstance(body, dict):
        raise RequestRefusedError("body", "must be a JSON object")
    for field, neutral in UNSERVED.items():
        if body.get(field) is not None and body[field] not in neutral:
            raise RequestRefusedError(field, "isn't served here; leave it out")
    given = {field: value for field, value in body.items() if value is not None}
    limit = "max_completion_tokens" if "max_completion_tokens" in given else "max_tokens"
    listed = None
    if given.get("logprobs", False) is True:
        listed = _whole(given, "top_logprobs", 0, low=0, high=MOST_ALTERNATIVES)
    return ChatRequest(
        messages=_messages(given.get("messages")),
        temperature=_temperature(given.get("temperature", 1.0)),
        seed=_whole(given, "seed", 0, low=-(2**63), high=2**64),
        most_tokens=_whole(given, limit, USUAL_REPLY, low=1, high=2**31),
        stop=_stop(given.get("stop", [])),
        alternatives=listed,
    )


def _messages(value: Any) -> tuple[Mapping[str, str], ...]:
    fits = isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    if not fits:
        raise RequestRefusedError("messages", "must be a list of at least one message")
    for message in value:
        if not (isinstance(message.get("role"), str) and isinstance(message.get("content"), str)):
            raise RequestRefusedError("messages", "role and content of each must be texts")
    return tuple({"role": one["role"], "content": one["content"]} for one in value)


def _temperature(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and math.isfinite(value) and 0 <= value <= 2):
        raise RequestRefusedError("temperature", "must be a number from 0 to 2")
    return float(value)


def _whole(given: Mapping[str, Any], field: str, usual: int, *, low: int, high: int) -> int:
    value = given.get(field, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise RequestRefusedError(field, f"must be a whole number from {low} to {high}")
    return value


def _stop(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not (isinstance(texts, list) and all(isinstance(text, str) and text for text in texts)):
        raise RequestRefusedError("stop", "must be a text or a list of texts, none empty")
    return tuple(texts)
