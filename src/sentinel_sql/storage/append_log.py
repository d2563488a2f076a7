"""An append-only log with checksums that survives the end of its process.

The file `<log>.count` beside the log holds the number of lines that are surely on the disk. It is
written after the lines, so it is never too high. It distinguishes missing lines from an unfinished
last line of a killed process.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

from sentinel_sql.errors import StoreError
from sentinel_sql.storage.checksums import (
    carries_checksum,
    read_lines,
    sealed,
    unsealed,
    with_checksum,
)
from sentinel_sql.storage.whole_file import sync_folder, write_whole

_COUNT_WIDTH: Final = 128
"""Bytes of a count with its newline; fixed, so that it can be overwritten in place."""


class AppendLog:
    """A log opened for appending, by one process at a time and any number of its threads.

    `set_aside` is the number of bytes of an unfinished last line that was moved aside at opening.
    """

    def __init__(self, *, file: Path, lock: int, lines: int, set_aside: int) -> None:
        self.file = file
        self.set_aside = set_aside
        self._lock = lock
        self._lines = lines
        self._guard = threading.Lock()
        self._closed = False
        self._queue: queue.SimpleQueue[_QueuedRecord | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="sentinel-log", daemon=True)
        self._writer.start()

    @classmethod
    def open(
        cls,
        file: Path,
        *,
        lock: Path,
        torn: Path,
        is_whole: Callable[[bytes], bool],
        check: Callable[[], object] = lambda: None,
    ) -> Self:
        """Open a log, or make one (0600); move an unfinished last line aside.

        Args:
            file: the log; its folder must exist.
            lock: file that is locked by the writer.
            torn: file that an unfinished line is appended to.
            is_whole: called with (record) of an older version, without a checksum; returns whether
                it is complete.
            check: called with the lock held, before the log is changed; if it raises, the log stays
                unchanged.

        Raises:
            StoreError: another process writes to the log, or the log is damaged.
            OSError: the log can't be written.
        """
        descriptor = _take_lock(lock)
        try:
            check()
            if not file.exists():
                os.close(_open_to_append(file))
                sync_folder(file.parent)
            _check(file)
            set_aside = _mend_tail(file, is_whole, torn=torn)
            lines = _check(file)
            write_whole(count_file(file), _count_text(lines))
        except BaseException:
            os.close(descriptor)
            raise
        return cls(file=file, lock=descriptor, lines=lines, set_aside=set_aside)

    def append(self, record: bytes) -> None:
        """Add one record, a JSON object in one line; return when it is on the disk.

        Raises:
            StoreError: the log is closed, or the disk is full or broken (no part of the record is
                then kept).
        """
        self.submit(record).result()

    def submit(self, record: bytes) -> Future[None]:
        """Add one record without waiting; the future is done when the record is on the disk.

        Raises:
            StoreError: the log is closed. A full or broken disk is the future's exception.
        """
        waiting = _QueuedRecord(record, Future())
        with self._guard:
            if self._closed:
                raise StoreError(f"{self.file.parent}: the store is closed; open it again")
            self._queue.put(waiting)
        return waiting.done

    def add_checksums(self) -> int:
        """Write the log again with a checksum in each line; call it before adding records.

        Returns:
            Number of lines without a checksum. If 0, the log stays unchanged.

        Raises:
            StoreError: the log is damaged.
            OSError: the log can't be written; it stays unchanged then.
        """
        data = self.file.read_bytes().splitlines(keepends=True)
        bare = sum(not line.isspace() and not carries_checksum(line.rstrip(b"\n")) for line in data)
        if bare:
            contents = [line.content for line in read_lines(data, file=self.file)]
            sealed_lines = [with_checksum(it, line=at) for at, it in enumerate(contents, 1)]
            write_whole(self.file, b"".join(sealed_lines))
            self._lines = len(sealed_lines)
            write_whole(count_file(self.file), _count_text(self._lines))
        return bare

    def close(self) -> None:
        """Write all queued records, and release the lock."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._writer.join()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self) -> None:
        """Write all queued records at once and sync once, because syncing is slow."""
        broken: OSError | None = None
        log = count = -1
        open_for_more = True
        while open_for_more:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            open_for_more = None not in batch
            waiting = [item for item in batch if item is not None]
            try:
                if waiting and broken is None:
                    if log < 0:
                        log = _open_to_append(self.file)
                        count = os.open(count_file(self.file), os.O_WRONLY)
                    lines = enumerate((item.record for item in waiting), self._lines + 1)
                    append(log, b"".join(with_checksum(it, line=number) for number, it in lines))
                    self._lines += len(waiting)
                    os.pwrite(count, _count_text(self._lines), 0)
            except OSError as error:
                # After a failed sync, only a new opening shows what is on the disk.
                broken = error
            for item in waiting:
                if broken is None:
                    item.done.set_result(None)
                else:
                    item.done.set_exception(self._not_written(broken))
        for descriptor in (log, count):
            if descriptor >= 0:
                os.close(descriptor)

    def _not_written(self, broken: OSError) -> StoreError:
        error = StoreError(
            f"{self.file}: can't be written ({broken.strerror}); all that was recorded before is "
            "kept: free the disk and start again"
        )
        error.__cause__ = broken
        return error


@dataclass(frozen=True, slots=True)
class _QueuedRecord:
    """One queued record."""

    record: bytes
    done: Future[None]


def count_file(file: Path) -> Path:
    """Return the path of a log's count."""
    return file.with_name(file.name + ".count")


def read_count(file: Path) -> int | None:
    """Return how many lines a log has at least, or None without a count.

    Read it before the log itself, because a writer may add lines in between.

    Raises:
        StoreError: the count is damaged.
    """
    count = count_file(file)
    for _ in range(3):  # if it is just being overwritten, it is complete a moment later
        try:
            return int(unsealed(json.loads(count.read_bytes()))["lines"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{count}: {error.strerror}; check its rights") from error
        except (ValueError, TypeError, AttributeError, KeyError):
            pass
        time.sleep(0.01)
    raise StoreError(
        f"{count}: damaged, so the number of lines of {file.name} is unknown; restore it from a "
        f"copy, or delete it if all lines of {file.name} are there"
    )


def append(descriptor: int, data: bytes) -> None:
    """Append and sync; on a failure no part of `data` is kept.

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


def _open_to_append(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _take_lock(lock: Path) -> int:
    """Take a lock and return its descriptor; the kernel frees it when the process ends."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.read(descriptor, 200).decode("utf-8", "replace").strip() or "another process"
        os.close(descriptor)
        raise StoreError(
            f"{lock.parent}: {holder} is writing to it; wait for that, or use another store"
        ) from None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check(file: Path) -> int:
    """Check all lines of a log, and return the number of complete ones."""
    expected = read_count(file)
    with file.open("rb") as lines:
        return sum(line.ended for line in read_lines(lines, file=file, expected=expected))


def _count_text(lines: int) -> bytes:
    return json.dumps(sealed({"lines": lines})).encode().ljust(_COUNT_WIDTH - 1) + b"\n"


def _mend_tail(file: Path, is_whole: Callable[[bytes], bool], *, torn: Path) -> int:
    """Make a file end in a newline: complete an unfinished last line, or move it aside.

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
        if carries_checksum(tail) or is_whole(tail):
            lines.write(b"\n")
        else:
            descriptor = _open_to_append(torn)
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
    """Return the offset after the last newline; the file's length if no line is unfinished."""
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
