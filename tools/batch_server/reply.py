"""The reply that grows token by token: sampling, stop texts, log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from .chat_request import MOST_ALTERNATIVES, ChatRequest

Finish = Literal["stop", "length"]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A token of a reply.

    Attributes:
        token: its number.
        logprob: its log-probability at temperature 1, ≤ 0.
        alternatives: the most likely tokens with theirs, the most likely first.
    """

    token: int
    logprob: float
    alternatives: tuple[tuple[int, float], ...]


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """The distribution of the next token of several chats.

    Attributes:
        logprobs: log-probabilities at temperature 1, [chats, vocabulary].
        best: the most likely tokens, [chats, at most `MOST_ALTERNATIVES`], the most likely first.
    """

    logprobs: Any
    best: Any

    @classmethod
    def of(cls, logits: Any) -> Outlook:
        """Return the distributions that logits stand for, [chats, vocabulary]."""
        logprobs = torch.log_softmax(logits, 1)
        return cls(logprobs=logprobs, best=logprobs.topk(min(MOST_ALTERNATIVES, len(logits[0]))))


class Reply:
    """A reply to one request.

    Args:
        request: what is asked for.
        bytes_of: returns the bytes of a token.
        ends: tokens that end a reply.
        room: tokens that the context still holds.
    """

    def __init__(
        self,
        request: ChatRequest,
        *,
        bytes_of: Callable[[int], bytes],
        ends: Collection[int],
        room: int,
    ) -> None:
        self.finish: Finish | None = None
        self.written: list[Written] = []
        self.count = 0
        self._request = request
        self._bytes_of = bytes_of
        self._ends = ends
        self._most = min(request.most_tokens, room)
        self._bytes = bytearray()
        self._starts: list[int] = []
        self._stops = [stop.encode() for stop in request.stop]
        self._random = np.random.default_rng(abs(request.seed))

    @property
    def text(self) -> str:
        """The text so far, without the stop text."""
        return self._bytes.decode(errors="replace")

    def take(self, outlook: Outlook, row: int) -> int:
        """Choose the next token, and finish the reply if it ends.

        Args:
            outlook: distribution of the next token.
            row: the chat's row in it.

        Returns:
            The token.
        """
        logprobs = outlook.logprobs[row]
        token = self._choose(logprobs, outlook.best.indices[row])
        listed = self._request.alternatives or 0
        alternatives = zip(
            outlook.best.indices[row, :listed].tolist(),
            outlook.best.values[row, :listed].tolist(),
            strict=True,
        )
        self.count += 1
        self.written.append(
            Written(token=token, logprob=float(logprobs[token]), alternatives=tuple(alternatives))
        )
        self._starts.append(len(self._bytes))
        if token in self._ends:
            self.finish = "stop"
            return token
        self._bytes += self._bytes_of(token)
        if not self._cut_at_stop() and self.count >= self._most:
            self.finish = "length"
        return token

    def _choose(self, logprobs: Any, best: Any) -> int:
        if self._request.temperature == 0:
            return int(best[0])
        shares = torch.softmax(logprobs.double() / self._request.temperature, 0).cumsum(0)
        drawn = self._random.random() * float(shares[-1])
        return min(int(torch.searchsorted(shares, drawn, right=True)), len(shares) - 1)

    def _cut_at_stop(self) -> bool:
        """Cut the reply at the first stop text, with the tokens that begin behind the cut."""
        found = [at for at in (self._bytes.find(stop) for stop in self._stops) if at >= 0]
        if not found:
            return False
        del self._bytes[min(found) :]
        kept = sum(start < len(self._bytes) for start in self._starts)
        del self.written[kept:]
        self.finish = "stop"
        return True
