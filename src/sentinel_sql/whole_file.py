"""Files that appear whole or not at all, durable and readable by their owner only."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, or leave what was there untouched; on return it is on the disk, mode 0600.

    Args:
        path: the file; its folder must exist.
        content: bytes, or text that is stored as UTF-8 without changing its line ends.

    Raises:
        OSError: it can't be written; nothing of it stays behind.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as sink:
            sink.write(data)
            sink.flush()
            os.fsync(sink.fileno())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that files made in a folder are found there after a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
