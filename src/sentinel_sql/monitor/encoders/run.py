"""An opened encoder: from texts to vectors, each text read once, by torch or by onnxruntime.

An encoder's folder holds `tokenizer.json`, the weights, and `encoder.json`, which says how to run
them. What comes out is a vector a text: the logits of a trained encoder, or the mean of a frozen
one's token vectors.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol
from weakref import WeakValueDictionary, finalize

import numpy as np

from sentinel_sql.errors import InputError, SentinelError
from sentinel_sql.monitor.encoders.onnx_run import OnnxNetwork
from sentinel_sql.monitor.encoders.text import Text
from sentinel_sql.monitor.encoders.tokens import Cutter, Ids
from sentinel_sql.monitor.encoders.torch_run import TorchNetwork
from sentinel_sql.monitor.head import Floats

Runtime = Literal["torch", "onnx", "onnx-int8"]
RUNTIMES: Sequence[Runtime] = ("torch", "onnx", "onnx-int8")

Output = Literal["logits", "mean"]

TOKENIZER, DESCRIPTION, ONNX = "tokenizer.json", "encoder.json", "model.onnx"
TORCH_FILES = ("config.json", "model.safetensors", TOKENIZER, DESCRIPTION)
ONNX_FILES = (ONNX, TOKENIZER, DESCRIPTION)

VECTORS_KEPT = 50_000
"""Vectors that an opened encoder remembers, ours: enough for a fit's snapshots, 75 MB of
384-wide ones."""

OnProgress = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""


class Network(Protocol):
    """Weights, ready to run."""

    def vectors(self, rows: Sequence[Ids]) -> Floats:
        """Return one vector a row, shape (len(rows), width)."""
        ...

    @property
    def at_once(self) -> int:
        """How many rows are worth giving at a time."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """How an encoder is run: its runtime, what comes out, and how many tokens it reads at most."""

    runtime: Runtime
    output: Output
    limit: int

    def write(self, folder: Path) -> None:
        """Write it beside the weights."""
        (folder / DESCRIPTION).write_text(json.dumps(asdict(self)))


class Encoder:
    """An encoder in memory. Safe to share between threads.

    It remembers the vectors of the texts that it read last, by their content: the heads of a
    monitor ask for the same texts one after the other, and the second time costs nothing.

    Args:
        files: the files of an encoder's folder by name.

    Raises:
        InputError: they can't be read.
        MissingExtraError: the runtime isn't installed.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        try:
            told = json.loads(files[DESCRIPTION].read_bytes())
            self.description = Description(**told)
            self.files = {
                name: files[name]
                for name in (TORCH_FILES if self.description.runtime == "torch" else ONNX_FILES)
            }
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError("an encoder's files are incomplete: fit the head again") from error
        self._cutter = Cutter(files[TOKENIZER])
        self._network: Network = (
            TorchNetwork(files["config.json"].parent, output=self.description.output)
            if self.description.runtime == "torch"
            else OnnxNetwork(files[ONNX])
        )
        self._known: dict[bytes, Floats] = {}
        self._lock = threading.Lock()

    def vectors(self, texts: Sequence[Text], on_progress: OnProgress = silent) -> Floats:
        """Return one vector a text, shape (len(texts), width)."""
        digests = [text.digest for text in texts]
        with self._lock:
            found = {digest: self._known.get(digest) for digest in digests}
        new = {d: text for d, text in zip(digests, texts, strict=True) if found[d] is None}
        at_once = self._network.at_once
        rows = {digest: self.ids(text) for digest, text in new.items()}
        order = sorted(rows, key=lambda digest: len(rows[digest]))
        for at in range(0, len(order), at_once):
            batch = order[at : at + at_once]
            vectors = self._network.vectors([rows[digest] for digest in batch])
            found |= zip(batch, vectors, strict=True)
            on_progress("scoring", at + len(batch), len(order))
        with self._lock:
            for digest in order:
                while len(self._known) >= VECTORS_KEPT:
                    del self._known[next(iter(self._known))]
                self._known[digest] = found[digest]  # type: ignore[assignment]
        return np.array([found[digest] for digest in digests], np.float64)

    @cached_property
    def width(self) -> int:
        """Length of its vectors; found by reading an empty text once.

        Raises:
            InputError: the weights can't be run, or give what is no number.
        """
        try:
            vector = self.vectors([Text(question="")])[0]
        except SentinelError:
            raise
        except Exception as error:  # each runtime has kinds of its own
            raise InputError(
                f"the encoder can't be run: {' '.join(str(error).split())[:200]}"
            ) from error
        if not np.isfinite(vector).all():
            raise InputError("the encoder's vectors hold what is no finite number")
        return len(vector)

    def remove_at_end(self, folder: Path) -> None:
        """Remove a temporary folder that holds the files once nothing uses this encoder."""
        finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def ids(self, text: Text) -> Ids:
        """Return the tokens that the encoder reads of a text."""
        return self._cutter.ids(text, self.description.limit)


_OPEN: WeakValueDictionary[tuple[str, int, int], Encoder] = WeakValueDictionary()
_OPENING = threading.Lock()


def open_encoder(files: Mapping[str, Path]) -> Encoder:
    """Open an encoder, or return it where it is open already: heads may share one.

    Raises:
        InputError: the files can't be read.
        MissingExtraError: the runtime isn't installed.
    """
    try:
        path = files[DESCRIPTION].resolve()
        its = str(path), path.stat().st_ino, path.stat().st_mtime_ns
    except (KeyError, OSError) as error:
        raise InputError("an encoder's files are incomplete: fit the head again") from error
    with _OPENING:
        opened = _OPEN.get(its)
        if opened is None:
            opened = _OPEN[its] = Encoder(files)
        return opened


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files of an encoder's folder by name."""
    return {path.name: path for path in folder.iterdir() if path.is_file()}
