"""Reads a model file in the GGUF format: sizes, weights, tokens, chat template."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader, dequantize

ARCHITECTURE = "qwen2"
"""The one architecture that `model.py` computes."""


class UnservableError(Exception):
    """The file can't be served; the message has the reason and the remedy."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of a model.

    Attributes:
        layers: number of layers.
        width: numbers that stand for one token between two layers.
        heads: heads of queries.
        shared_heads: heads of keys and values; `heads` is a multiple.
        head_width: numbers of one head.
        rotary_base: base of the rotary position encoding.
        epsilon: what the root mean square adds under the root.
        context: most tokens of one chat.
    """

    layers: int
    width: int
    heads: int
    shared_heads: int
    head_width: int
    rotary_base: float
    epsilon: float
    context: int


class GgufFile:
    """A GGUF file of the architecture `qwen2`, opened by memory map.

    Raises:
        UnservableError: it is no GGUF file, or holds another architecture.
    """

    def __init__(self, path: Path) -> None:
        try:
            reader = GGUFReader(path)
        except (OSError, ValueError) as error:
            raise UnservableError(f"{path} can't be read as a GGUF file: {error}") from None
        self._fields = reader.fields
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        found = self.value("general.architecture", "unknown")
        if found != ARCHITECTURE:
            raise UnservableError(
                f"{path} holds a model of the architecture {found}; serve a {ARCHITECTURE} model, "
                "such as Qwen2.5-Coder"
            )

    @property
    def sizes(self) -> Sizes:
        """The sizes of the model."""

        def of_model(key: str) -> Any:
            return self.value(f"{ARCHITECTURE}.{key}")

        width, heads = of_model("embedding_length"), of_model("attention.head_count")
        return Sizes(
            layers=of_model("block_count"),
            width=width,
            heads=heads,
            shared_heads=of_model("attention.head_count_kv"),
            head_width=width // heads,
            rotary_base=of_model("rope.freq_base"),
            epsilon=of_model("attention.layer_norm_rms_epsilon"),
            context=of_model("context_length"),
        )

    def value(self, key: str, default: Any = None) -> Any:
        """Return a field of the file's head.

        Raises:
            UnservableError: it is missing, and there is no default.
        """
        if key in self._fields:
            return self._fields[key].contents()
        if default is None:
            raise UnservableError(f"the GGUF file lacks the field {key}; convert the model anew")
        return default

    def has(self, name: str) -> bool:
        """Say whether the file holds a tensor."""
        return name in self._tensors

    def tensor(self, name: str) -> Any:
        """Return a tensor of any quantization as float32, [rows, columns] or [numbers].

        Raises:
            UnservableError: there is no such tensor.
        """
        if name not in self._tensors:
            raise UnservableError(f"the GGUF file lacks the tensor {name}; convert the model anew")
        stored = self._tensors[name]
        return torch.from_numpy(dequantize(stored.data, stored.tensor_type).copy())
