"""The export of an encoder to an ONNX graph, in single precision or with dynamic int8 weights."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.encoders.attention import set_attention
from sentinel_sql.monitor.encoders.extras import FITTING, import_extra, torch
from sentinel_sql.monitor.encoders.onnx_run import INPUT, OUTPUT
from sentinel_sql.monitor.encoders.run import (
    ONNX,
    TOKENIZER,
    Description,
    Output,
    Runtime,
)
from sentinel_sql.monitor.encoders.torch_run import load_classifier, load_frozen, masked_mean

LARGEST = 2_000_000_000
"""Most bytes of weights, because a protocol buffer can't hold more than 2 GiB."""

OPSET = 17


def export(source: Path, target: Path, *, runtime: Runtime, output: Output, limit: int) -> None:
    """Write the encoder of one folder as an ONNX graph into another, whole or not at all.

    Int8 weights are quantized per channel, because one scale for a whole tensor makes the vectors
    of real encoders visibly wrong.

    Args:
        source: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
        target: the folder to write; an existing one is replaced.
        runtime: `onnx` or `onnx-int8`.
        output: as `Description.output`.
        limit: most tokens to read.

    Raises:
        InputError: the encoder is too large for a graph.
        MissingExtraError: the extra `encoders` isn't installed.
    """
    import_extra("onnx", FITTING)
    load = load_classifier if output == "logits" else load_frozen
    # `eager` is for the families that `set_attention` doesn't know. Torch's fused attention would
    # be exported with a check for NaN in every layer, which takes as long as its products.
    model = load(source, attention="eager").eval()
    set_attention(model)
    if sum(weight.numel() for weight in model.parameters()) * 4 > LARGEST:
        raise InputError(
            f"the encoder in {source} is too large for an ONNX graph (2 GB): serve it by torch"
        )
    draft = target.with_name(f".{target.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700, parents=True)
    whole = draft / ("whole.onnx" if runtime == "onnx-int8" else ONNX)
    _write(model, whole, output)
    if runtime == "onnx-int8":
        _quantize(whole, draft / ONNX)
        whole.unlink()
    shutil.copyfile(source / TOKENIZER, draft / TOKENIZER)
    Description(runtime=runtime, output=output, limit=limit).write(draft)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(draft, target)


def _write(model: Any, path: Path, output: Output) -> None:
    library = torch()

    class Graph(library.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any) -> Any:
            mask = library.ones_like(ids)  # one text, unpadded
            outputs = self.model(input_ids=ids, attention_mask=mask)
            return (
                masked_mean(outputs.last_hidden_state, mask) if output == "mean" else outputs.logits
            )

    example = library.arange(1, 41).reshape(1, 40) % int(model.config.vocab_size)
    with warnings.catch_warnings(), library.inference_mode():
        warnings.simplefilter("ignore")  # warnings of tracing; tests compare the scores instead
        library.onnx.export(
            Graph().eval(),
            (example,),
            str(path),
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_axes={INPUT: {1: "tokens"}},
            opset_version=OPSET,
            dynamo=False,  # this exporter keeps the length dynamic for every family tried
        )


def _quantize(source: Path, target: Path) -> None:
    library = import_module("onnxruntime.quantization")
    logging.disable(logging.WARNING)  # it recommends a preprocessing that needs fixed shapes
    try:
        library.quantize_dynamic(
            str(source), str(target), per_channel=True, weight_type=library.QuantType.QInt8
        )
    finally:
        logging.disable(logging.NOTSET)
