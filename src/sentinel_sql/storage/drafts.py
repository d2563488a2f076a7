"""Drafts: temporary files and folders that replace their target when they are complete.

A draft is named `.TARGET.sentinel-XXXXXXXX`, and its writer holds a lock on it. An unlocked draft
is therefore that of a killed writer, and may be removed.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_MARK = "sentinel-"
DRAFT = re.compile(rf"(^|/)\.([^/]+)\.(?:{_MARK})?[a-z0-9_]{{8}}$")
"""Path of a draft: its folder and the target's name; drafts of earlier versions have no mark."""


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a new folder beside `target`; what is at its path afterwards is removed.

    Raises:
        OSError: the folder can't be made.
    """
    while True:
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target)))
        handle = os.open(draft, os.O_RDONLY)
        if _lock(handle, draft):
            break
        os.close(handle)  # another writer removed it as the draft of a killed one
    try:
        yield draft
        remove_dead(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


@contextmanager
def file_beside(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Yield a new file beside `target`, open for writing; it is removed unless it was moved.

    Raises:
        OSError: the file can't be made.
    """
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target))
        if _lock(handle, Path(name)):
            break
        os.close(handle)
    try:
        with os.fdopen(handle, "wb") as sink:
            yield Path(name), sink
        remove_dead(target)
    finally:
        Path(name).unlink(missing_ok=True)


def exchange(draft: Path, target: Path) -> None:
    """Exchange two folders, by one call of the operating system if possible.

    Linux has such a call since 3.15 and macOS since 10.12, on their usual file systems. Elsewhere
    the target is moved away first. A kill in between leaves no target, and the old folder beside it
    as a draft.

    Raises:
        OSError: they can't be exchanged; the target stays unchanged.
    """
    if _exchange_paths(os.fsencode(draft), os.fsencode(target)):
        return
    retired = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target)))
    os.replace(target, retired)
    try:
        os.replace(draft, target)
    except OSError:
        os.replace(retired, target)
        raise
    shutil.rmtree(retired)


_HERE, _EXCHANGE, _SWAP = -100, 2, 2
"""Linux's AT_FDCWD and RENAME_EXCHANGE; macOS's RENAME_SWAP."""
_LACKING = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def _exchange_paths(one: bytes, other: bytes) -> bool:
    """Exchange two paths; False if the system or the file system has no call for it."""
    system: Any = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(system, "renameat2"):
        failed = system.renameat2(_HERE, one, _HERE, other, _EXCHANGE)
    elif hasattr(system, "renamex_np"):
        failed = system.renamex_np(one, other, _SWAP)
    else:
        return False
    if failed and ctypes.get_errno() not in _LACKING:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fsdecode(other))
    return not failed


def _prefix(target: Path) -> str:
    return f".{target.name}.{_MARK}"


def _lock(handle: int, path: Path) -> bool:
    """Lock a draft for its writer; False if it is gone or belongs to another writer."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.stat(path).st_ino == os.fstat(handle).st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def remove_dead(target: Path) -> None:
    """Remove the drafts of killed writers of this target."""
    prefix = _prefix(target)
    for name in os.listdir(target.parent):
        path = target.parent / name
        if name.startswith(prefix) and len(name) == len(prefix) + 8:
            with suppress(OSError):
                _remove_unlocked(path)
        elif name.startswith(f".{_MARK}") and len(name) == len(_MARK) + 9:
            with suppress(OSError):  # left by a killed `check_writable`, always empty
                path.rmdir()


def _remove_unlocked(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(handle)
