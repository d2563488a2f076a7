"""An encoder run by onnxruntime, so that serving a monitor needs neither torch nor transformers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.encoders.extras import onnxruntime
from sentinel_sql.monitor.encoders.tokens import Ids
from sentinel_sql.monitor.head import Floats

INPUT, OUTPUT = "ids", "vector"


class OnnxNetwork:
    """A graph that takes the token ids of one text, without padding, and gives its vector.

    Texts run one by one: dynamic int8 uses one scale for a whole batch, so that other texts of a
    batch would change a score.

    Args:
        path: a `model.onnx` that `onnx_export` wrote.

    Raises:
        InputError: the file can't be loaded.
        MissingExtraError: onnxruntime isn't installed.
    """

    at_once = 1

    def __init__(self, path: Path) -> None:
        library = onnxruntime()
        options: Any = library.SessionOptions()
        options.log_severity_level = 3
        if (threads := os.environ.get("OMP_NUM_THREADS", "")).isdigit():
            options.intra_op_num_threads = int(threads)  # torch and numpy read it, too
        try:
            self._session: Any = library.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library has many exception classes of its own
            raise InputError(
                f"{path} can't be loaded: {' '.join(str(error).split())[:200]}"
            ) from error

    def vectors(self, rows: Sequence[Ids]) -> Floats:
        """Return one vector for each row, shape (len(rows), width)."""
        return np.array(
            [
                self._session.run([OUTPUT], {INPUT: row[np.newaxis].astype(np.int64)})[0][0]
                for row in rows
            ],
            np.float64,
        )
