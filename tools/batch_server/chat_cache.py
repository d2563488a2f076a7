"""Keys and values of the tokens that were read: of a shared prefix, and of one chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from .gguf_file import Sizes

Tokens = NDArray[np.int32]

GROWTH = 128
"""Tokens by which the room of a chat grows."""


def common_length(one: Tokens, other: Tokens) -> int:
    """Return how many tokens two texts share from their start."""
    shortest = min(len(one), len(other))
    differ = one[:shortest] != other[:shortest]
    return int(differ.argmax()) if differ.any() else shortest


@dataclass(frozen=True, kw_only=True, eq=False)
class Prefix:
    """A start that several chats share.

    Attributes:
        tokens: its tokens.
        keys: [layers, heads, tokens, width].
        values: as the keys.
    """

    tokens: Tokens
    keys: Any
    values: Any

    def __len__(self) -> int:
        return len(self.tokens)

    def shortened(self, length: int) -> Prefix:
        """Return its first tokens, without a copy."""
        return Prefix(
            tokens=self.tokens[:length],
            keys=self.keys[:, :, :length],
            values=self.values[:, :, :length],
        )


class ChatCache:
    """What was read of one chat: a shared prefix, then tokens of its own.

    Args:
        sizes: sizes of the model.
        prefix: the shared start, if any.
    """

    def __init__(self, sizes: Sizes, prefix: Prefix | None = None) -> None:
        self.prefix = prefix
        self.tokens = prefix.tokens if prefix else np.empty(0, np.int32)
        self._sizes = sizes
        self._room = self._empty(0)

    @property
    def length(self) -> int:
        """Tokens that were read, with the prefix."""
        return len(self.tokens)

    @property
    def own_length(self) -> int:
        """Tokens that were read after the prefix."""
        return len(self.tokens) - (len(self.prefix) if self.prefix else 0)

    @property
    def bytes(self) -> int:
        """Memory of its own."""
        return int(self._room.nbytes)

    def store(self, layer: int, keys: Any, values: Any) -> tuple[Any, Any]:
        """Write keys and values of new tokens behind those read; return all of its own.

        `extend` counts the tokens as read, once every layer has stored them.

        Args:
            layer: number of the layer.
            keys: [new tokens, heads, width].
            values: as the keys.

        Returns:
            Keys and values, [heads, own tokens, width] each.
        """
        start, end = self.own_length, self.own_length + len(keys)
        if end > self._room.shape[3]:
            grown = self._empty(-(-end // GROWTH) * GROWTH)
            grown[:, :, :, :start] = self._room[:, :, :, :start]
            self._room = grown
        self._room[0, layer, :, start:end] = keys.transpose(0, 1)
        self._room[1, layer, :, start:end] = values.transpose(0, 1)
        return self._room[0, layer, :, :end], self._room[1, layer, :, :end]

    def extend(self, tokens: Tokens) -> None:
        """Count tokens as read, after every layer has stored theirs."""
        self.tokens = np.concatenate([self.tokens, tokens])

    def cut(self, length: int) -> None:
        """Forget all but the first tokens, at least the prefix."""
        self.tokens = self.tokens[: max(length, len(self.prefix) if self.prefix else 0)]

    def copied(self, length: int) -> Self:
        """Return a chat of its own that has read the same first tokens, at least the prefix."""
        twin = type(self)(self._sizes, self.prefix)
        twin._room = self._room[:, :, :, : length - (self.length - self.own_length)].clone()
        twin.tokens = self.tokens[:length]
        return twin

    def as_prefix(self, length: int) -> Prefix:
        """Return the first tokens that were read, at least the prefix, as a prefix for others."""
        own = self._room[:, :, :, : length - (self.length - self.own_length)]
        keys, values = own.clone()
        if self.prefix is not None:
            keys = torch.cat([self.prefix.keys, keys], 2)
            values = torch.cat([self.prefix.values, values], 2)
        return Prefix(tokens=self.tokens[:length].copy(), keys=keys, values=values)

    def _empty(self, tokens: int) -> Any:
        sizes = self._sizes
        return torch.empty(2, sizes.layers, sizes.shared_heads, tokens, sizes.head_width)
