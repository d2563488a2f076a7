"""Files that outlive their writer: locked, appended and synced, cut back after a crash."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sentinel_sql.errors import StoreError


def open_to_append(file: Path) -> int:
    """Open a file for appending, made 0600 if absent; return its descriptor."""
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def append(descriptor: int, data: bytes) -> None:
    """Append and sync; on a failure nothing of `data` stays behind.

    Raises:
        OSError: the disk is full or broken.
    """
    before = os.fstat(descriptor).st_size
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def lock(file: Path) -> int:
    """Take the lock that a file stands for, and return the descriptor that holds it.

    The kernel frees it however the process ends.

    Raises:
        StoreError: another process holds it; the message names that process.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.read(descriptor, 200).decode("utf-8", "replace").strip() or "another process"
        os.close(descriptor)
        raise StoreError(
            f"{file.parent}: {holder} is writing to it; wait for that, or use another store"
        ) from None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def mend_tail(file: Path, is_whole: Callable[[bytes], bool], *, torn: Path) -> int:
    """Make a file end in a newline: keep an unfinished last line if it is whole, else move it.

    Args:
        file: a file of lines.
        is_whole: tells whether a line without its newline is all there.
        torn: where a line that isn't is appended.

    Returns:
        Bytes moved to `torn`.
    """
    with file.open("r+b") as lines:
        start = _start_of_unfinished_line(lines)
        lines.seek(start)
        tail = lines.read()
        if not tail:
            return 0
        moved = 0
        if is_whole(tail):
            lines.write(b"\n")
        else:
            descriptor = open_to_append(torn)
            try:
                append(descriptor, tail + b"\n")
            finally:
                os.close(descriptor)
            lines.truncate(start)
            moved = len(tail)
        lines.flush()
        os.fsync(lines.fileno())
    return moved


def _start_of_unfinished_line(lines: IO[bytes]) -> int:
    """Return the offset after the last newline: the file's length if no line is unfinished."""
    block = 1 << 16
    end = lines.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - block)
        lines.seek(start)
        newline = lines.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
