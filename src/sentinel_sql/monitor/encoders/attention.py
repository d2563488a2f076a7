"""Attention as an exported graph computes it: fused over a whole text, by blocks in a window.

For graphs alone: a graph reads one text, unpadded, so that nothing is masked but what lies outside
of a layer's window. Torch's own pass keeps the library's attention.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sentinel_sql.monitor.encoders.extras import torch, transformers

NAME = "one-unpadded-text"
"""Of this attention among the library's."""

FAMILIES = ("bert", "distilbert", "modernbert", "roberta")
"""Model types that attend through the library's interface, each token to all or within a window.
Others, which may add to the scores what this attention doesn't know, keep their own."""

UNSEEN = -1e9
"""Added to the score of a token that is out of reach."""


def prepare(model: Any) -> None:
    """Have a loaded model attend in this way if its family is known, until it is exported."""
    config = model.config
    if config.model_type in FAMILIES and not getattr(config, "is_decoder", False):
        transformers().AttentionInterface.register(NAME, attend)
        model.set_attn_implementation(NAME)


def attend(
    module: Any,  # noqa: ARG001  (the library's signature)
    query: Any,
    key: Any,
    value: Any,
    mask: Any,  # noqa: ARG001
    *,
    scaling: float,
    sliding_window: int | None = None,
    **_: Any,
) -> tuple[Any, None]:
    """Attend as the library's interface has it, one text at a time.

    Args:
        module: the layer; not read.
        query: (1, heads, tokens, width), like `key` and `value`.
        key: what queries are compared with.
        value: what is read.
        mask: not read: one text needs none.
        scaling: factor of the scores.
        sliding_window: tokens that are as many places apart don't see each other; all do if None.

    Returns:
        (1, tokens, heads, width), and no weights.
    """
    if sliding_window is not None:
        return within(query, key, value, scaling=scaling, reach=sliding_window - 1), None
    heads = int(query.shape[1])
    flat = (its.transpose(1, 2).flatten(2) for its in (query, key, value))
    return _fused()(*flat, heads, scaling).unflatten(2, (heads, -1)), None


def within(query: Any, key: Any, value: Any, *, scaling: float, reach: int) -> Any:
    """Attend to what is at most `reach` places away, in a time linear in the tokens.

    Queries go by blocks. A block's window holds all that its queries see; at the ends of the text
    it is shifted inwards, so that it never leaves the text. Ours: blocks of half the reach, the
    fastest of those tried in onnxruntime. Shapes as in `attend`.
    """
    library = torch()
    tokens, block = query.shape[2], max(reach // 2, 1)
    starts = library.arange(0, tokens, block)[:, None]
    asking = (starts + library.arange(block)).clamp(max=tokens - 1)  # the last block is filled up
    window = library.arange(block + 2 * reach)[:tokens]
    asked = (starts - reach).clamp(min=0).clamp(max=tokens - window.shape[0]) + window
    unseen = (asking[:, :, None] - asked[:, None, :]).abs() > reach
    query, key, value = query[0][:, asking], key[0][:, asked], value[0][:, asked]
    scores = query @ key.transpose(2, 3) * scaling + UNSEEN * unseen
    found = (scores.softmax(-1) @ value).flatten(1, 2)[:, :tokens]
    return found.transpose(0, 1)[None]


@cache
def _fused() -> Any:
    """Attend to all, (1, tokens, heads · width) → the same: a graph has onnxruntime's own kernel.

    It keeps each part of the scores in the processor's cache, as long as there is no mask.
    """
    library = torch()

    class Fused(library.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(_: Any, query: Any, key: Any, value: Any, heads: int, scaling: float) -> Any:
            split = (its.unflatten(2, (heads, -1)).transpose(1, 2) for its in (query, key, value))
            attention = library.nn.functional.scaled_dot_product_attention
            return attention(*split, scale=scaling).transpose(1, 2).flatten(2)

        @staticmethod
        def symbolic(
            graph: Any, query: Any, key: Any, value: Any, heads: int, scaling: float
        ) -> Any:
            name = "com.microsoft::MultiHeadAttention"
            found = graph.op(name, query, key, value, num_heads_i=heads, scale_f=scaling)
            return found.setType(query.type())

    return Fused.apply
