"""A model of random weights, small enough for tests, and the same mathematics written plainly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from tools.batch_server.batch import Batch
from tools.batch_server.chat_cache import Tokens
from tools.batch_server.gguf_file import Sizes
from tools.batch_server.linear_layers import LINEARS
from tools.batch_server.model import Model

SIZES = Sizes(
    layers=2,
    width=32,
    heads=4,
    shared_heads=2,
    head_width=8,
    rotary_base=10_000.0,
    epsilon=1e-6,
    context=4096,
)
INNER = 64
VOCABULARY = 256


def tiny_weights(seed: int = 0) -> dict[str, Any]:
    """Return weights under their names in GGUF files."""
    generator = torch.Generator().manual_seed(seed)
    width, keys = SIZES.width, SIZES.shared_heads * SIZES.head_width
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (VOCABULARY, width),
        "output.weight": (VOCABULARY, width),
        "output_norm.weight": (width,),
    }
    for layer in range(SIZES.layers):
        shapes |= {
            f"blk.{layer}.{name}": shape
            for name, shape in {
                "attn_norm.weight": (width,),
                "ffn_norm.weight": (width,),
                "attn_q.weight": (width, width),
                "attn_k.weight": (keys, width),
                "attn_v.weight": (keys, width),
                "attn_q.bias": (width,),
                "attn_k.bias": (keys,),
                "attn_v.bias": (keys,),
                "attn_output.weight": (width, width),
                "ffn_gate.weight": (INNER, width),
                "ffn_up.weight": (INNER, width),
                "ffn_down.weight": (width, INNER),
            }.items()
        }
    return {
        # bfloat16 holds the embedding and the output exactly
        name: torch.randn(shape, generator=generator).mul(0.3).bfloat16().float()
        for name, shape in shapes.items()
    }


def tiny_model(seed: int = 0) -> Model:
    return Model(SIZES, tiny_weights(seed).__getitem__, LINEARS["fp32"])


def plain_logits(tokens: Sequence[int], weights: Mapping[str, Any]) -> Any:
    """Return the logits after each token, [tokens, vocabulary], without caches or batches."""
    count, heads, width = len(tokens), SIZES.heads, SIZES.head_width

    def normed(x: Any, scale: Any) -> Any:
        return x / (x.pow(2).mean(-1, keepdim=True) + SIZES.epsilon).sqrt() * scale

    def turned(x: Any) -> Any:  # [tokens, heads, width], as complex numbers
        halves = torch.complex(x[..., : width // 2], x[..., width // 2 :])
        steps = torch.arange(width // 2) * 2 / width
        angles = torch.arange(count)[:, None] * SIZES.rotary_base**-steps
        spun = halves * torch.polar(torch.ones_like(angles), angles)[:, None]
        return torch.cat([spun.real, spun.imag], -1)

    x = weights["token_embd.weight"][list(tokens)]
    for number in range(SIZES.layers):
        at = {
            name.split(".", 2)[2]: weight
            for name, weight in weights.items()
            if name.startswith(f"blk.{number}.")
        }
        y = normed(x, at["attn_norm.weight"])
        q, k, v = (
            (y @ at[f"attn_{part}.weight"].T + at[f"attn_{part}.bias"]).view(count, -1, width)
            for part in "qkv"
        )
        q, k = turned(q), turned(k)
        k, v = (one.repeat_interleave(heads // SIZES.shared_heads, 1) for one in (k, v))
        scores = torch.einsum("qhw,khw->hqk", q, k) / math.sqrt(width)
        scores = scores.masked_fill(torch.ones(count, count).triu(1).bool(), -math.inf)
        mixed = torch.einsum("hqk,khw->qhw", scores.softmax(-1), v).reshape(count, -1)
        x = x + mixed @ at["attn_output.weight"].T
        y = normed(x, at["ffn_norm.weight"])
        gate, up = y @ at["ffn_gate.weight"].T, y @ at["ffn_up.weight"].T
        x = x + (gate * torch.sigmoid(gate) * up) @ at["ffn_down.weight"].T
    return normed(x, weights["output_norm.weight"]) @ weights["output.weight"].T


class ByteText:
    """A tokenizer whose tokens are bytes, and a template that joins the contents."""

    ends = frozenset({0})

    def tokens(self, messages: Sequence[Mapping[str, Any]]) -> Tokens:
        joined = "".join(f"{message['content']}\n" for message in messages)
        return np.frombuffer(joined.encode(), np.uint8).astype(np.int32)

    def bytes_of(self, token: int) -> bytes:
        return bytes([token])


def tiny_batch(edit: Callable[[Model], Model] = lambda model: model, **changes: Any) -> Batch:
    settings: dict[str, Any] = {"most_chats": 8, "context": 4096, "cache_bytes": 2**24}
    return Batch(edit(tiny_model()), ByteText(), **settings | changes)  # type: ignore[arg-type]
