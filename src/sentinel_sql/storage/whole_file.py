"""Writes files and folders as a whole or not at all, durably, readable by their owner only."""

from __future__ import annotations

import fnmatch
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from sentinel_sql.errors import SentinelError
from sentinel_sql.storage.drafts import DRAFT, exchange, file_beside, folder_beside


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file (0600) to the disk, or leave the old one unchanged.

    A link is followed; a pipe or a device is written to.

    Args:
        path: the file; its folder must exist.
        content: bytes, or text that is stored as UTF-8 with its line ends.

    Raises:
        OSError: the file can't be written; no part of it is kept.
    """
    path = Path(os.path.realpath(path))  # a link stays a link
    data = content.encode() if isinstance(content, str) else content
    if os.path.exists(path) and not (path.is_file() or path.is_dir()):
        path.write_bytes(data)  # a pipe or a device must not be replaced
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
    """Check that `whole_folder` may write a folder, before the work that fills it.

    Raises:
        OccupiedError: the folder holds other files.
        OSError: the path is no folder, or can't be read or written.
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
            continue  # an empty folder is no loss
        target_name = DRAFT.sub(r"\1\2", name)
        if path.name not in _LITTER and not any(
            fnmatch.fnmatch(target_name, it) for it in patterns
        ):
            raise OccupiedError(folder, f"also holds {name}, which would be lost")


def check_writable(folder: Path, *, make: bool = True) -> None:
    """Check that files can be made in a folder.

    Args:
        folder: the folder.
        make: True if a missing folder will be made; False if it must exist.

    Raises:
        OSError: no file can be made, or the path is no folder.
    """
    places = (folder, *folder.parents) if make else (folder,)
    existing = next((place for place in places if os.path.lexists(place)), folder)
    probe = tempfile.mkdtemp(dir=existing, prefix=".sentinel-")
    with suppress(FileNotFoundError):  # another writer removed it as the rest of a killed one
        os.rmdir(probe)


_Read = TypeVar("_Read")
_READINGS = 5
"""Most readings of a folder that is replaced again and again (our choice)."""


class OccupiedError(FileExistsError):
    """A folder isn't replaced because it holds other files; the message names one."""

    def __init__(self, folder: Path, what: str) -> None:
        super().__init__(f"{folder} {what}")


_LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that file browsers create."""


@contextmanager
def whole_folder(
    folder: str | Path, *, known_by: str, parts: Iterable[str] = (), kind: str = ""
) -> Iterator[Path]:
    """Yield a draft to fill; afterwards it replaces the folder at once, or the folder is unchanged.

    The old folder and the draft are exchanged by one call of the operating system, so a reader
    finds one or the other. The next writer removes the draft of a killed one.

    Args:
        folder: missing, empty, or an older folder of the same kind, which is replaced.
        known_by: file that identifies the kind; a folder without it is never replaced.
        parts: patterns of its other files, such as `tables/*.csv`; a folder with any other file is
            never replaced.
        kind: name of such a folder in errors.

    Raises:
        OccupiedError: the folder holds other files.
        OSError: the folder can't be written; no part of it is kept.
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


def read_whole_folder(folder: Path, read: Callable[[], _Read]) -> _Read:
    """Return what `read` reads from a folder, all of it from one and the same saving.

    If the folder is replaced meanwhile, what was read is of two savings, or seems damaged; it is
    then read again.
    """
    for _ in range(_READINGS):
        before = _identity(folder)
        try:
            found = read()
        except SentinelError:
            if _identity(folder) == before:
                raise
        else:
            if _identity(folder) == before:
                return found
    return read()


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


def sync_folder(folder: Path) -> None:
    """Make new files of a folder survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
