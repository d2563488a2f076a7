"""Erases runs from a recordings file: one file of runs, plain or gzip, without a writer."""

from __future__ import annotations

import gzip
from os import PathLike

from sentinel_sql.errors import StoreError
from sentinel_sql.storage.checksums import carries_checksum, read_lines, with_checksum
from sentinel_sql.storage.drafts import remove_dead
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.run_id import ids_of_run
from sentinel_sql.storage.whole_file import write_whole
from sentinel_sql.trajectory.codec import decode

_GZIP = b"\x1f\x8b"


def erase_from_recordings(path: str | PathLike[str], erased_id: str) -> int:
    """Erase a run, or all runs of a question; the file is replaced as a whole or not at all.

    Returns:
        Number of runs erased.

    Raises:
        StoreError: the file can't be read or written, or is damaged; it stays unchanged then.
    """
    path = path_of(path).resolve()
    try:
        data = path.read_bytes()
        packed = data.startswith(_GZIP)
        lines = (gzip.decompress(data) if packed else data).splitlines(keepends=True)
        sealed = any(carries_checksum(line.rstrip(b"\n")) for line in lines)
        records = [line.content for line in read_lines(lines, file=path)]
        kept = [
            record
            for record in records
            if erased_id not in ids_of_run(decode(record, where=str(path)).question.id)
        ]
        if len(kept) < len(records):
            written = b"".join(
                with_checksum(record, line=number) if sealed else record + b"\n"
                for number, record in enumerate(kept, 1)
            )
            write_whole(path, gzip.compress(written, mtime=0) if packed else written)
        remove_dead(path)
    except (OSError, EOFError) as error:
        raise StoreError(
            f"{path}: can't be read or written ({getattr(error, 'strerror', None) or error}); "
            "check the file and its rights"
        ) from error
    return len(records) - len(kept)
