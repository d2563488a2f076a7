"""Computes a model of the architecture `qwen2` for the new tokens of many chats at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .attention import attend, causal_mask, join
from .chat_cache import ChatCache, Prefix, Tokens
from .gguf_file import Sizes
from .linear_layers import Linear

EXACT = 64
"""The most likely tokens of a position whose logits are computed again in float32."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """New tokens of one chat, at least one."""

    cache: ChatCache
    tokens: Tokens


@dataclass(frozen=True, kw_only=True)
class _Layer:
    norm: Any
    attention: Linear  # queries, keys and values in one
    attention_bias: Any
    output: Linear
    second_norm: Any
    gate_and_up: Linear
    down: Linear


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Which rows of a step belong to which piece, and to which prefix."""

    pieces: Sequence[Piece]
    rows: Sequence[slice]
    masks: Sequence[Any]
    shared: Mapping[Prefix, Any]
    cosine: Any
    sine: Any


class Model:
    """A model, ready to read.

    Args:
        sizes: its sizes.
        tensor: called with a name of the GGUF format; returns the weights in float32.
        linear: makes a linear layer from its weights; one of `LINEARS`.
    """

    def __init__(
        self, sizes: Sizes, tensor: Callable[[str], Any], linear: Callable[[Any], Linear]
    ) -> None:
        self.sizes = sizes
        self._embedding = tensor("token_embd.weight").bfloat16()
        self._layers = [_layer(number, tensor, linear) for number in range(sizes.layers)]
        self._norm = tensor("output_norm.weight")
        head = tensor("output.weight")
        self._head, self._head_rows = linear(head), head.bfloat16()
        steps = torch.arange(0, sizes.head_width, 2, dtype=torch.float32) / sizes.head_width
        self._frequencies = sizes.rotary_base**-steps

    def read(self, pieces: Sequence[Piece]) -> Any:
        """Read new tokens, and return the state after each piece's last one, [pieces, width].

        The caches then hold the new tokens, too.
        """
        with torch.inference_mode():
            tokens = torch.from_numpy(np.concatenate([piece.tokens for piece in pieces])).long()
            plan = self._plan(pieces)
            x = self._embedding[tokens].float()
            for number, layer in enumerate(self._layers):
                x += layer.output(self._attention(number, layer, x, plan))
                gate, up = layer.gate_and_up(self._normed(x, layer.second_norm)).chunk(2, 1)
                x += layer.down(torch.nn.functional.silu(gate) * up)
            for piece in pieces:
                piece.cache.extend(piece.tokens)
            return self._normed(x[[rows.stop - 1 for rows in plan.rows]], self._norm)

    def logits(self, states: Any) -> Any:
        """Return the logits of the next token, [states, vocabulary], the best in float32.

        Args:
            states: of `read`, [states, width].
        """
        with torch.inference_mode():
            logits = self._head(states)
            best = logits.topk(min(EXACT, logits.shape[1]), 1).indices
            exact = torch.einsum("sbw,sw->sb", self._head_rows[best].float(), states)
            return logits.scatter_(1, best, exact)

    def _plan(self, pieces: Sequence[Piece]) -> _Plan:
        ends = np.cumsum([len(piece.tokens) for piece in pieces]).tolist()
        rows = [
            slice(end - len(piece.tokens), end) for end, piece in zip(ends, pieces, strict=True)
        ]
        positions: list[int] = []
        masks: list[Any] = []
        shared: dict[Prefix, list[int]] = {}
        for piece, own in zip(pieces, rows, strict=True):
            cache, new = piece.cache, len(piece.tokens)
            positions += range(cache.length, cache.length + new)
            group = self.sizes.heads // self.sizes.shared_heads
            masks.append(causal_mask(cache.own_length, new, group) if new > 1 else None)
            if cache.prefix is not None:
                shared.setdefault(cache.prefix, []).extend(range(own.start, own.stop))
        angles = torch.tensor(positions)[:, None] * self._frequencies
        angles = torch.cat([angles, angles], 1)[:, None]
        return _Plan(
            pieces=pieces,
            rows=rows,
            masks=masks,
            shared={prefix: torch.tensor(taken) for prefix, taken in shared.items()},
            cosine=angles.cos(),
            sine=angles.sin(),
        )

    def _attention(self, number: int, layer: _Layer, x: Any, plan: _Plan) -> Any:
        """Return the attention of every row, [rows, heads · head width]."""
        sizes = self.sizes
        heads, shared_heads, width = sizes.heads, sizes.shared_heads, sizes.head_width
        both = layer.attention(self._normed(x, layer.norm)).add_(layer.attention_bias)
        both = both.view(len(x), heads + 2 * shared_heads, width)
        turned = _rotate(both[:, : heads + shared_heads], plan)
        keys, values = turned[:, heads:], both[:, heads + shared_heads :]
        queries = turned[:, :heads].reshape(len(x), shared_heads, heads // shared_heads, width)
        out = torch.empty_like(queries)
        weight = torch.empty(queries.shape[:3])
        for piece, rows, mask in zip(plan.pieces, plan.rows, plan.masks, strict=True):
            own = piece.cache.store(number, keys[rows], values[rows])
            out[rows], weight[rows] = _grouped(queries[rows], *own, mask)
        for prefix, rows in plan.shared.items():
            there = _grouped(queries[rows], prefix.keys[number], prefix.values[number])
            out[rows] = join(out[rows], weight[rows], *there)
        return out.view(len(x), heads * width)

    def _normed(self, x: Any, scale: Any) -> Any:
        return torch.nn.functional.rms_norm(x, (x.shape[1],), scale, self.sizes.epsilon)


def _layer(number: int, tensor: Callable[[str], Any], linear: Callable[[Any], Linear]) -> _Layer:
    def named(name: str) -> Any:
        return tensor(f"blk.{number}.{name}")

    parts = ("attn_q", "attn_k", "attn_v")
    return _Layer(
        norm=named("attn_norm.weight"),
        attention=linear(torch.cat([named(f"{part}.weight") for part in parts])),
        attention_bias=torch.cat([named(f"{part}.bias") for part in parts]),
        output=linear(named("attn_output.weight")),
        second_norm=named("ffn_norm.weight"),
        gate_and_up=linear(torch.cat([named("ffn_gate.weight"), named("ffn_up.weight")])),
        down=linear(named("ffn_down.weight")),
    )


def _rotate(x: Any, plan: _Plan) -> Any:
    """Encode the positions in queries and keys, [rows, heads, width]."""
    half = x.shape[2] // 2
    across = torch.cat([-x[:, :, half:], x[:, :, :half]], 2)
    return x * plan.cosine + across * plan.sine


def _grouped(queries: Any, keys: Any, values: Any, mask: Any = None) -> tuple[Any, Any]:
    """Attend where several queries of a token share a head of keys.

    Args:
        queries: [tokens, heads of keys, group, width].
        keys: [heads of keys, keys, width].
        values: as the keys.
        mask: as for `attend`.

    Returns:
        Attention and log-sum-exp in the order of the queries.
    """
    tokens, heads, group, width = queries.shape
    together = queries.transpose(0, 1).reshape(heads, tokens * group, width)
    out, weight = attend(together, keys, values, mask)
    return (
        out.view(heads, tokens, group, width).transpose(0, 1),
        weight.view(heads, tokens, group).transpose(0, 1),
    )
