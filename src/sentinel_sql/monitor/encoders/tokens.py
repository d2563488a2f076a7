"""From text to an encoder's own tokens, cut from the left while keeping the question line.

It needs the `tokenizers` library only, which keeps serving light.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.encoders.extras import tokenizers
from sentinel_sql.monitor.encoders.text import Text

Ids = NDArray[np.int32]

SEGMENTS_KEPT = 4096
"""Segments whose tokens are cached: the next prefix of a run shares all but its newest."""


class Cutter:
    """The tokenizer of one encoder.

    Args:
        path: a `tokenizer.json`.

    Raises:
        InputError: the file can't be read as a tokenizer.
        MissingExtraError: the `tokenizers` library isn't installed.
    """

    def __init__(self, path: Path) -> None:
        library = tokenizers()
        try:
            tokenizer: Any = library.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise InputError(
                f"{path} isn't a tokenizer that can be read: {_line(error)}"
            ) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # The encoding of one word shows which special tokens stand before and after a text.
        probe = tokenizer.encode("a")
        inner = [at for at, special in enumerate(probe.special_tokens_mask) if not special]
        first, last = (inner[0], inner[-1] + 1) if inner else (0, 0)
        self._before = np.array(probe.ids[:first], np.int32)
        self._after = np.array(probe.ids[last:], np.int32)

        @lru_cache(maxsize=SEGMENTS_KEPT)
        def encode(segment: str) -> Ids:
            return np.array(tokenizer.encode(segment, add_special_tokens=False).ids, np.int32)

        self._encode = encode

    def ids(self, text: Text, limit: int) -> Ids:
        """Return at most `limit` token ids: the question line and the newest of the steps.

        A question line longer than half the limit is cut to its start, as in `trajectory.render`.
        """
        room = limit - len(self._before) - len(self._after)
        question = self._encode(text.question)[: max(room // 2, 1)]
        left = room - len(question)
        kept: list[Ids] = []
        for step in reversed(text.steps):
            if left <= 0:
                break
            kept.append(self._encode(f"\n{step}")[-left:])
            left -= len(kept[-1])
        return np.concatenate([self._before, question, *reversed(kept), self._after])


def pad(rows: Sequence[Ids], filler: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ids and attention mask, both (rows, longest), the rows padded on the right."""
    ids = np.full((len(rows), max(map(len, rows))), filler, np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    return ids, mask


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
