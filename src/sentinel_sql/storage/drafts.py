"""Drafts: what a writer fills beside its target before it takes the target's place.

A draft is named `.TARGET.sentinel-XXXXXXXX` and locked by its writer for as long as it works. So a
draft that nobody holds is of a writer that was killed, and may be removed.
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
"""A draft's path: its folder, and the target's name; those of earlier versions have no mark."""


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Give a new folder beside `target`; whatever then stands at its path is removed at the end.

    Raises:
        OSError: it can't be made.
    """
    while True:
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target)))
        handle = os.open(draft, os.O_RDONLY)
        if _held(handle, draft):
            break
        os.close(handle)  # another writer took it for a dead one's in between
    try:
        yield draft
        _remove_dead(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


@contextmanager
def file_beside(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Give a new file beside `target`, open for writing; it is removed unless it was moved.

    Raises:
        OSError: it can't be made.
    """
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target))
        if _held(handle, Path(name)):
            break
        os.close(handle)
    try:
        with os.fdopen(handle, "wb") as sink:
            yield Path(name), sink
        _remove_dead(target)
    finally:
        Path(name).unlink(missing_ok=True)


def exchange(draft: Path, target: Path) -> None:
    """Let two folders change places, in one call where the operating system has one.

    Linux has it since 3.15 and macOS since 10.12, on their usual file systems. Elsewhere the
    target is moved away first, and a kill in between leaves the target absent, with the old
    folder beside it as a draft.

    Raises:
        OSError: it can't be done; the target is as it was.
    """
    if _exchanged(os.fsencode(draft), os.fsencode(target)):
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


def _exchanged(one: bytes, other: bytes) -> bool:
    """Exchange two paths; False where the system or the file system has no call for it."""
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


def _held(handle: int, path: Path) -> bool:
    """Lock a draft for its writer; False where it is gone or another one's by now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.stat(path).st_ino == os.fstat(handle).st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _remove_dead(target: Path) -> None:
    """Remove the drafts of writers of this target that were killed."""
    prefix = _prefix(target)
    for name in os.listdir(target.parent):
        path = target.parent / name
        if name.startswith(prefix) and len(name) == len(prefix) + 8:
            with suppress(OSError):
                _remove_unheld(path)
        elif name.startswith(f".{_MARK}") and len(name) == len(_MARK) + 9:
            with suppress(OSError):  # the probe of a killed `check_writable`, always empty
                path.rmdir()


def _remove_unheld(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(handle)
