"""An encoder in memory, which turns texts into vectors by torch or by onnxruntime.

An encoder's folder holds `tokenizer.json`, the weights, and `encoder.json`, which says how to run
them. The vector of a text is the logits of a trained encoder, or the mean of the token vectors of
a frozen one.
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
OUTPUTS: Sequence[Output] = ("logits", "mean")

TOKENIZER, DESCRIPTION, ONNX = "tokenizer.json", "encoder.json", "model.onnx"
TORCH_FILES = ("config.json", "model.safetensors", TOKENIZER, DESCRIPTION)
ONNX_FILES = (ONNX, TOKENIZER, DESCRIPTION)

VECTORS_KEPT = 50_000
"""Vectors that an encoder caches; ours: enough for the snapshots of a fit, 75 MB at width 384."""

_SAMPLE = "how many female patients were first admitted in 2105?"

OnProgress = Callable[[str, int, int], None]
"""Called with the name of the task, the units done and the total number of units."""


def silent(what: str, done: int, total: int) -> None:
    """Ignore the progress."""


class Network(Protocol):
    """Weights, ready to run."""

    def vectors(self, rows: Sequence[Ids]) -> Floats:
        """Return one vector for each row, shape (len(rows), width)."""
        ...

    @property
    def at_once(self) -> int:
        """The best batch size."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """How to run an encoder: its runtime, its output, and the most tokens that it reads."""

    runtime: Runtime
    output: Output
    limit: int

    def __post_init__(self) -> None:
        """Check what is read from a file; raise a `ValueError`."""
        if self.runtime not in RUNTIMES or self.output not in OUTPUTS:
            raise ValueError("no runtime or output of an encoder")
        if type(self.limit) is not int or self.limit < 1:
            raise ValueError("no number of tokens")

    def write(self, folder: Path) -> None:
        """Write it beside the weights."""
        (folder / DESCRIPTION).write_text(json.dumps(asdict(self)))


class Encoder:
    """An encoder in memory. Safe to share between threads.

    It caches the vectors of recent texts by their content, because both heads of a monitor ask
    for the same texts, one after the other.

    Args:
        files: the files of an encoder's folder by name.

    Raises:
        InputError: they can't be read.
        MissingExtraError: the runtime isn't installed.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        try:
            self.description = Description(**json.loads(files[DESCRIPTION].read_bytes()))
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
        """Return one vector for each text, shape (len(texts), width)."""
        digests = [text.digest for text in texts]
        with self._lock:
            found = {digest: self._known.get(digest) for digest in digests}
        new = {d: text for d, text in zip(digests, texts, strict=True) if found[d] is None}
        at_once = self._network.at_once
        rows = {digest: self.ids(text) for digest, text in new.items()}
        order = sorted(rows, key=lambda digest: len(rows[digest]))
        for at in range(0, len(order), at_once):
            batch = order[at : at + at_once]
            vectors = self._run([rows[digest] for digest in batch])
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
        """Length of its vectors; found by reading two texts once.

        Raises:
            InputError: the weights can't be run, give what is no number, or tell no texts apart.
        """
        blank, asked = self.vectors([Text(question=""), Text(question=_SAMPLE)])
        if not np.isfinite([blank, asked]).all():
            raise InputError("the encoder's vectors hold what is no finite number")
        if np.array_equal(blank, asked):
            raise InputError("the encoder gives every text the same vector: its weights are wrong")
        return len(blank)

    def _run(self, rows: Sequence[Ids]) -> Floats:
        try:
            return self._network.vectors(rows)
        except SentinelError:
            raise
        except Exception as error:  # each runtime has kinds of its own
            raise InputError(
                f"the encoder can't be run, or its tokenizer is another's: "
                f"{' '.join(str(error).split())[:200]}"
            ) from error

    def remove_at_end(self, folder: Path) -> None:
        """Remove the temporary folder of the files when this encoder is no longer in use."""
        finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def ids(self, text: Text) -> Ids:
        """Return the token ids that the encoder reads from a text."""
        return self._cutter.ids(text, self.description.limit)


_OPEN: WeakValueDictionary[tuple[str, int, int], Encoder] = WeakValueDictionary()
_OPENING = threading.Lock()


def open_encoder(files: Mapping[str, Path]) -> Encoder:
    """Open an encoder, or return it if it is already open, because heads may share one.

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
