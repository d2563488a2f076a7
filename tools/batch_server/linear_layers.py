"""Linear layers in three precisions. All take and return float32."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

Linear = Callable[[Any], Any]
"""Called with the input, [tokens, columns]; returns [tokens, rows]."""

USUAL_TOKENS = 64
"""Tokens of a usual step, for which the weights are laid out."""


def full_linear(weight: Any) -> Linear:
    """Return a layer in float32.

    Args:
        weight: float32, [rows, columns]; as for the other layers.
    """

    def layer(x: Any) -> Any:
        return torch.nn.functional.linear(x, weight)

    return layer


def half_linear(weight: Any) -> Linear:
    """Return a layer in bfloat16, with its weights laid out once for oneDNN."""
    packed = torch.ops.mkldnn._reorder_linear_weight(weight.bfloat16(), USUAL_TOKENS)

    def layer(x: Any) -> Any:
        y = torch.ops.mkldnn._linear_pointwise(x.bfloat16(), packed, None, "none", [], "")
        return y.float()

    return layer


def byte_linear(weight: Any) -> Linear:
    """Return a layer in 8-bit integers: one scale for each row of weights and for each token."""
    scale = weight.abs().amax(1).clamp_min(1e-12) / 127
    whole = (weight / scale[:, None]).round().to(torch.int8)
    packed = torch.ops.onednn.qlinear_prepack(whole, [USUAL_TOKENS, weight.shape[1]])
    zero_points = torch.zeros(len(weight), dtype=torch.int64)
    middle = 128  # oneDNN is fast for unsigned inputs only

    def layer(x: Any) -> Any:
        size = x.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        inputs = (x / size).round_().add_(middle).to(torch.uint8)
        y = torch.ops.onednn.qlinear_pointwise(
            *(inputs, 1.0, middle, packed, scale, zero_points, None),
            *(1.0, 0, torch.float32, "none", [], ""),
        )
        return y.mul_(size)

    return layer


LINEARS: Mapping[str, Callable[[Any], Linear]] = {
    "fp32": full_linear,
    "bf16": half_linear,
    "int8": byte_linear,
}
"""Name of a precision → what makes its layers from their weights."""


def best_precision() -> str:
    """Return `bf16` where the processor has instructions for it, else `fp32`."""
    has = torch.backends.cpu.get_cpu_capability() != "DEFAULT" and (
        torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    )
    return "bf16" if has else "fp32"
