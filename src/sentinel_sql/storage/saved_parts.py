"""The parts of saved folders: a JSON document with its format, and arrays without code.

Monitors and evaluations are saved like this. Readers pass their own error type for what can't be
read.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.errors import SentinelError
from sentinel_sql.storage.checksums import unsealed

DAMAGES: Final = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Errors of numpy, zip and the readers of parts for content that isn't what was saved."""


def packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return arrays of any shape as a compressed npz archive, without pickle."""
    sink = io.BytesIO()
    np.savez_compressed(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def unpacked(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive that `packed` made.

    Raises:
        DAMAGES: one of these, if the data are no such archive.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def under(arrays: Mapping[str, NDArray[Any]], start: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with `start`, without this prefix."""
    return {name[len(start) :]: it for name, it in arrays.items() if name.startswith(start)}


def read_document(
    path: Path, *, kind: str, stated: str, again: str, refusal: type[SentinelError]
) -> dict[str, Any]:
    """Read the document of a folder.

    Args:
        path: path of the document.
        kind: what the folder holds, for messages.
        stated: the format that this version reads.
        again: what to do if the document can't be used.
        refusal: the error to raise.

    Raises:
        SentinelError: `refusal`, if the document is missing, isn't JSON, has another format, or
            its hash doesn't fit.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise refusal(
            f"{path.parent} holds no {kind} ({path.name}: {error.strerror}): {again}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise refusal(f"{path} is damaged: it isn't JSON; {again}") from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != stated:
        raise refusal(
            f"{path} is of format {str(found)[:40]}, this version reads {stated}: {again}"
        )
    try:
        unsealed(document)
    except (ValueError, RecursionError) as error:
        raise refusal(f"{path} is damaged: its content isn't what was saved; {again}") from error
    return dict(document)
