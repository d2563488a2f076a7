"""Attention over two parts of a chat, each apart, and their exact join."""

from __future__ import annotations

from typing import Any

import torch


def attend(queries: Any, keys: Any, values: Any, mask: Any = None) -> tuple[Any, Any]:
    """Return the attention of some queries over some keys, and the weight of these keys.

    Args:
        queries: [heads, queries, width].
        keys: [heads, keys, width].
        values: [heads, keys, width].
        mask: [queries, keys], 0 where a query may see a key and −∞ elsewhere; None: all.

    Returns:
        [heads, queries, width], and the logarithm of the sum of the exponentials of all scores,
        [heads, queries], in nats.
    """
    out, weight = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        *(queries[None], keys[None], values[None]),
        attn_mask=None if mask is None else mask[None, None],
    )
    return out[0], weight[0]


def join(out: Any, weight: Any, other: Any, other_weight: Any) -> Any:
    """Return the attention over the keys of two parts together.

    Args:
        out: attention over the one part, […, width].
        weight: its log-sum-exp, […].
        other: attention over the other part.
        other_weight: its log-sum-exp.
    """
    # exp(a) / (exp(a) + exp(b)) is the sigmoid of a - b
    share = torch.sigmoid(weight - other_weight)[..., None]
    return torch.lerp(other, out, share)


def causal_mask(read: int, new: int, group: int) -> Any:
    """Return the mask of new tokens that see what was read and one another's past.

    Args:
        read: tokens read before.
        new: new tokens, the last keys.
        group: queries of one token, which stand together.

    Returns:
        [new · group, read + new].
    """
    may = torch.ones(new, read + new, dtype=torch.bool).tril(read)
    mask = torch.zeros(new, read + new).masked_fill_(~may, float("-inf"))
    return mask.repeat_interleave(group, 0)
