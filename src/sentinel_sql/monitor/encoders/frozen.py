"""Frozen encoders, each opened once for all fits that use it."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path
from weakref import WeakValueDictionary

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.encoders.extras import FITTING, import_extra
from sentinel_sql.monitor.encoders.onnx_export import export
from sentinel_sql.monitor.encoders.run import (
    TOKENIZER,
    TORCH_FILES,
    Description,
    Encoder,
    Runtime,
    files_in,
)
from sentinel_sql.monitor.encoders.source import content_hash, find_encoder, token_limit
from sentinel_sql.monitor.encoders.tokens import Cutter
from sentinel_sql.monitor.encoders.torch_run import load_frozen

_OPEN: WeakValueDictionary[tuple[str, Runtime, int], Encoder] = WeakValueDictionary()
_OPENING = threading.Lock()


def frozen_encoder(encoder: str, *, serve: Runtime, limit: int) -> tuple[Encoder, str]:
    """Open an encoder that gives the mean of its token vectors; return it with its hash.

    Args:
        encoder: a local folder, or a name on the model hub.
        serve: the runtime.
        limit: most tokens to read; fewer if the encoder's limit is lower.

    Raises:
        InputError: it can't be found, loaded or exported.
        MissingExtraError: the extra `encoders` isn't installed.
    """
    import_extra("transformers", FITTING)
    source = find_encoder(encoder)
    sha256 = content_hash(source)
    limit = min(limit, token_limit(source))
    with _OPENING:
        opened = _OPEN.get((sha256, serve, limit))
        if opened is None:
            opened = _OPEN[sha256, serve, limit] = _open(source, serve, limit)
    return opened, sha256


def _open(source: Path, serve: Runtime, limit: int) -> Encoder:
    Cutter(source / TOKENIZER)
    temporary = Path(tempfile.mkdtemp(prefix="sentinel-"))
    folder = temporary / "torch"
    folder.mkdir()
    load_frozen(source).save_pretrained(str(folder), max_shard_size="1000GB")
    shutil.copyfile(source / TOKENIZER, folder / TOKENIZER)
    Description(runtime="torch", output="mean", limit=limit).write(folder)
    if serve == "torch":
        found = files_in(folder)
        files = {name: found[name] for name in TORCH_FILES}
    else:
        graph = temporary / serve
        export(folder, graph, runtime=serve, output="mean", limit=limit)
        files = files_in(graph)
    encoder = Encoder(files)
    encoder.remove_at_end(temporary)
    try:
        _ = encoder.width  # finds wrong weights before a fit learns from them
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    return encoder
