"""Files and folders that appear whole or not at all, durable, readable by their owner only."""

from __future__ import annotations

import fnmatch
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sentinel_sql.storage.drafts import DRAFT, exchange, file_beside, folder_beside


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
    with file_beside(path) as (draft, sink):
        sink.write(data)
        sink.flush()
        os.fsync(sink.fileno())
        os.replace(draft, path)
    sync_folder(path.parent)


def check_replaceable(
    folder: str | Path, *, known_by: str, parts: Iterable[str], kind: str = ""
) -> None:
    """Make sure that `whole_folder` may write a folder, before the work that fills it.

    Raises:
        OccupiedError: the folder holds something that isn't of its kind.
        OSError: it is no folder, or can't be looked into or written.
    """
    folder = Path(os.path.realpath(folder))
    check_writable(folder.parent)
    if not os.path.lexists(folder):
        return
    names = os.listdir(folder)
    if names and not (folder / known_by).is_file():
        raise OccupiedError(folder, f"isn't empty and holds no {kind or known_by}")
    patterns = [known_by, *parts]
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            continue  # one that is empty is nobody's loss
        kept = DRAFT.sub(r"\1\2", name)
        if path.name not in _LITTER and not any(fnmatch.fnmatch(kept, it) for it in patterns):
            raise OccupiedError(folder, f"also holds {name}, which would be lost")


def check_writable(folder: Path, *, make: bool = True) -> None:
    """Make sure that something can be made in a folder.

    Args:
        folder: where.
        make: a folder that isn't there will be made; False where it must be there.

    Raises:
        OSError: nothing can, or it is no folder.
    """
    places = (folder, *folder.parents) if make else (folder,)
    there = next((place for place in places if os.path.lexists(place)), folder)
    probe = tempfile.mkdtemp(dir=there, prefix=".sentinel-")
    with suppress(FileNotFoundError):  # another writer took it for what a killed one left
        os.rmdir(probe)


class OccupiedError(FileExistsError):
    """A folder isn't replaced, for it holds what isn't of its kind; the text says what."""

    def __init__(self, folder: Path, what: str) -> None:
        super().__init__(f"{folder} {what}")


_LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""What file browsers leave behind."""


@contextmanager
def whole_folder(
    folder: str | Path, *, known_by: str, parts: Iterable[str] = (), kind: str = ""
) -> Iterator[Path]:
    """Give a draft to fill; the folder then stands in its place at once, or stays as it was.

    An older folder and the draft change places in one call of the operating system, so whoever
    looks finds the one or the other. What a killed writer left behind is removed by the next one.

    Args:
        folder: absent, empty, or an older one of the same kind, which is replaced.
        known_by: the file that tells the kind; a folder without it is left alone.
        parts: what else such a folder is made of, as patterns such as `tables/*.csv`; a folder
            that holds any other file is left alone, too.
        kind: what such a folder is called in errors.

    Raises:
        OccupiedError: the folder holds something else.
        OSError: it can't be written; nothing of it stays behind.
    """
    folder = Path(os.path.realpath(folder))  # a link stays a link
    check_replaceable(folder, known_by=known_by, parts=parts, kind=kind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder_beside(folder) as draft:
        yield draft
        for place, _, _ in os.walk(draft):
            sync_folder(Path(place))
        if folder.exists():
            exchange(draft, folder)
        else:
            os.replace(draft, folder)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that files made in a folder are found there after a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
