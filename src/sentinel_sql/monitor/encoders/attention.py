"""The attention of exported graphs: fused over a whole text, or in blocks within a window.

It is for graphs only. A graph reads one text without padding, so that a mask is needed only for
the tokens outside of a layer's window. Running by torch keeps the library's attention.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sentinel_sql.monitor.encoders.extras import torch, transformers

NAME = "one-unpadded-text"
"""The name of this attention in the library's registry."""

FAMILIES = ("bert", "distilbert", "modernbert", "roberta")
"""Model types that use the library's attention interface, with full or windowed attention.
Other types keep their own attention, because they may add terms that this one doesn't know."""

UNSEEN = -1e9
"""Added to the score of a token outside of the window."""


def set_attention(model: Any) -> None:
    """Set this attention in a loaded model, if its family is known, before its export."""
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
    """Compute the attention of one text, with the signature of the library's interface.

    Args:
        module: the layer; not used.
        query: (1, heads, tokens, width), like `key` and `value`.
        key: the keys.
        value: the values.
        mask: not used: one text needs none.
        scaling: factor of the scores.
        sliding_window: tokens that are this far apart, or farther, don't attend to each other;
            None for full attention.

    Returns:
        (1, tokens, heads, width), and None for the weights.
    """
    if sliding_window is not None:
        return attend_in_window(query, key, value, scaling=scaling, reach=sliding_window - 1), None
    heads = int(query.shape[1])
    flat = (its.transpose(1, 2).flatten(2) for its in (query, key, value))
    return _fused()(*flat, heads, scaling).unflatten(2, (heads, -1)), None


def attend_in_window(query: Any, key: Any, value: Any, *, scaling: float, reach: int) -> Any:
    """Attend to tokens at most `reach` places away, in a time linear in the number of tokens.

    Queries are processed in blocks. The window of a block holds all tokens that its queries
    attend to. At the ends of the text the window is shifted inwards, so that it stays within the
    text. Ours: blocks of half the reach, the fastest of those tried in onnxruntime. Shapes are as
    in `attend`.
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
    """Return full attention, (1, tokens, heads · width) → the same, by onnxruntime's own kernel.

    Without a mask, the kernel keeps each part of the scores in the processor's cache.
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
