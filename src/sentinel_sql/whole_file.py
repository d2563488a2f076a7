"""Files and folders that appear whole or not at all, durable, readable by their owner only."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, or leave what was there untouched; on return it is on the disk, mode 0600.

    A link is followed; a pipe or a device is written to.

    Args:
        path: the file; its folder must exist.
        content: bytes, or text that is stored as UTF-8 without changing its line ends.

    Raises:
        OSError: it can't be written; nothing of it stays behind.
    """
    path = Path(os.path.realpath(path))  # a link stays a link
    data = content.encode() if isinstance(content, str) else content
    if os.path.exists(path) and not (path.is_file() or path.is_dir()):
        path.write_bytes(data)  # a pipe or a device takes what comes, and must not be replaced
        return
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


def check_replaceable(folder: str | Path, *, known_by: str) -> None:
    """Make sure that `whole_folder` may write a folder, before the work that fills it.

    Raises:
        FileExistsError: the folder holds something else than `known_by` tells.
        OSError: it is no folder, or can't be looked into.
    """
    folder = Path(folder)
    if folder.exists() and not (folder / known_by).is_file() and os.listdir(folder):
        raise FileExistsError(f"{folder} isn't empty and holds no {known_by}")


@contextmanager
def whole_folder(folder: str | Path, *, known_by: str) -> Iterator[Path]:
    """Give a draft to fill; the folder then stands in its place at once, or stays as it was.

    Args:
        folder: absent, empty, or an older one of the same kind, which is replaced.
        known_by: the file that tells the kind; a folder without it is left alone.

    Raises:
        FileExistsError: the folder holds something else.
        OSError: it can't be written; nothing of it stays behind.
    """
    folder = Path(os.path.realpath(folder))  # a link stays a link
    check_replaceable(folder, known_by=known_by)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield draft
        if folder.exists():
            retired = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
            os.replace(folder, retired)
            os.replace(draft, folder)
            shutil.rmtree(retired)
        else:
            os.replace(draft, folder)
        sync_folder(folder.parent)
    finally:
        if draft.exists():
            shutil.rmtree(draft, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make sure that files made in a folder are found there after a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
