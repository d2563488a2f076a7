"""The store of recorded runs, an append-only folder; also reads recordings files.

A store is a folder with `store.json` (agent and database) and `trajectories.jsonl` (one trajectory
a line). A run is acknowledged when its line is on the disk, and is never lost afterwards, even if
the process is killed.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal, Self, TypeVar

from pydantic import BaseModel

from sentinel_sql.arguments import checked
from sentinel_sql.errors import StoreError
from sentinel_sql.storage.append_log import AppendLog, count_file, read_count
from sentinel_sql.storage.checksums import read_lines, sealed, unsealed
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.whole_file import write_whole
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.codec import decode, encode
from sentinel_sql.trajectory.record import AgentInfo, Record, Trajectory

RECORDS = "trajectories.jsonl"
MANIFEST = "store.json"
TORN = "trajectories.torn"
LOCK = "store.lock"

_Manifest = TypeVar("_Manifest", bound=BaseModel)


class StoreManifest(Record):
    """The agent of a store's runs, and their database."""

    format: Literal["sentinel-store/1"] = "sentinel-store/1"
    agent: AgentInfo
    database: str | None = None
    clock: str | None = None
    schema_sha256: str | None = None


def read_trajectories(path: str | PathLike[str]) -> Iterator[Trajectory]:
    """Yield the trajectories of a store's folder or of one recordings file, in order.

    Reading never writes, locks or repairs, so it works on a read-only disk and during a collection.
    An incomplete last line is skipped in a store, where it was never acknowledged. In a file it is
    an error, because something was lost.

    Args:
        path: a store's folder, or a `.jsonl` file, plain or gzip (by its first bytes).

    Raises:
        StoreError: the path is missing, a line is damaged, the format has another version, or two
            runs have the same id. The message names file, line and id, never the content.

    Warns:
        UncheckedWarning: the file has no checksums, or its count is missing beside it.
    """
    path = path_of(path)
    if os.path.isdir(path):
        file = path / RECORDS
        if not file.is_file():
            raise StoreError(
                f"{path}: no store here ({RECORDS} is missing); name the folder that "
                "`sentinel collect` or `sentinel import` wrote"
            )
        return _read(file, torn_tail_is_fault=False)
    return _read(path, torn_tail_is_fault=True)


def read_manifest(folder: str | PathLike[str]) -> StoreManifest | None:
    """Return the manifest of a store, or None if `folder` is a recordings file or no store.

    Raises:
        StoreError: `store.json` is damaged.
    """
    return manifest_in(path_of(folder) / MANIFEST, StoreManifest, stated="sentinel-store/1")


def manifest_in(file: Path, kind: type[_Manifest], *, stated: str) -> _Manifest | None:
    """Return the manifest of a folder of collected records, or None if there is none.

    Args:
        file: path of the manifest.
        kind: its record type.
        stated: its format, for messages.

    Raises:
        StoreError: the manifest is damaged.
    """
    try:
        return kind.model_validate(unsealed(json.loads(file.read_bytes())))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}; check its rights") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"{file}: not a {stated} manifest; restore it from a copy, or collect into "
            "another folder"
        ) from error


def write_manifest(file: Path, manifest: BaseModel) -> None:
    """Write the manifest of a folder of collected records, with the hash of its content.

    Raises:
        OSError: the manifest can't be written.
    """
    write_whole(file, json.dumps(sealed(manifest.model_dump()), indent=2) + "\n")


def _read(file: Path, *, torn_tail_is_fault: bool) -> Iterator[Trajectory]:
    seen: set[str] = set()
    number = 0
    try:
        expected = read_count(file)
        with _open_lines(file) as lines:
            # gzip has a checksum and a length of its own
            warn_by = None if isinstance(lines, gzip.GzipFile) else count_file(file).name
            for number, content, ended in read_lines(
                lines, file=file, expected=expected, warn_by=warn_by
            ):
                try:
                    trajectory = decode(content, where=f"{file}, line {number}")
                except StoreError:
                    if ended:
                        raise
                    if torn_tail_is_fault:
                        raise StoreError(
                            f"{file}, line {number}: the last line is cut off; restore the file "
                            "from a copy, or remove that line"
                        ) from None
                    continue
                if trajectory.question.id in seen:
                    raise StoreError(
                        f"{file}, line {number}: question {trajectory.question.id} is in it "
                        "twice; remove one of the two lines"
                    )
                seen.add(trajectory.question.id)
                yield trajectory
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise StoreError(
            f"{file}: the gzip data are damaged after line {number}; restore it from a copy"
        ) from error
    except FileNotFoundError as error:
        raise StoreError(f"{file}: no such file; check the path") from error
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror or error}; check its rights") from error


@contextmanager
def _open_lines(file: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file once and only read forward, so that it may be a pipe."""
    with file.open("rb") as lines:
        if _starts_as_gzip(lines):
            with gzip.open(lines) as unpacked:
                yield unpacked
        else:
            yield lines


def _is_gzip(file: Path) -> bool:
    with file.open("rb") as probe:
        return _starts_as_gzip(probe)


def _starts_as_gzip(lines: BufferedReader) -> bool:
    return lines.peek(2).startswith(b"\x1f\x8b")


class TrajectoryStore:
    """A store opened for appending, by one process at a time and any number of its threads.

    Use as a context manager. `ids` are the questions with a run in the store. `set_aside` is the
    number of bytes of an incomplete last line that were moved to `trajectories.torn` at opening.
    """

    def __init__(
        self, *, folder: Path, manifest: StoreManifest, log: AppendLog, ids: set[str]
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.set_aside = log.set_aside
        self._log = log
        self._ids = ids
        self._guard = threading.Lock()

    @classmethod
    @checked
    def open(cls, folder: str | PathLike[str], *, manifest: StoreManifest | None = None) -> Self:
        """Open a store, or make one if `manifest` is given.

        An incomplete last line of a killed process is moved to `trajectories.torn`, and its
        question counts as not yet run. The folder is 0700, files are 0600.

        Args:
            folder: the store's folder.
            manifest: agent, database and schema of new runs; None opens an existing store.

        Raises:
            StoreError: another process writes to the store, it holds runs of another agent or
                database, it is damaged, or the folder can't be written.
        """
        folder = path_of(folder)
        try:
            if manifest is not None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not (folder / MANIFEST).is_file():
                raise StoreError(
                    f"{folder}: no store here ({MANIFEST} is missing); name the folder that "
                    "`sentinel collect` or `sentinel import` wrote"
                )
            log = AppendLog.open(
                folder / RECORDS,
                lock=folder / LOCK,
                torn=folder / TORN,
                is_whole=_is_trajectory,
                check=partial(_check_manifest, folder, manifest),
            )
            try:
                stored = _check_manifest(folder, None)
                ids = {run.question.id for run in read_trajectories(folder)}
            except BaseException:
                log.close()
                raise
        except OSError as error:
            raise StoreError(
                f"{folder}: can't be written ({error.strerror}); choose another folder, or mend "
                "its rights or space"
            ) from error
        return cls(folder=folder, manifest=stored, log=log, ids=ids)

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the questions whose runs are in the store or are being written."""
        with self._guard:
            return frozenset(self._ids)

    def append(self, trajectory: Trajectory) -> None:
        """Add one run; return when it is on the disk. Any thread may call it.

        Raises:
            StoreError: its question has a run already, the run is of another agent, or the disk is
                full or broken (no part of the run is kept then).
        """
        stored = self.submit(trajectory)
        try:
            stored.result()
        finally:
            self._forget_if_lost(trajectory.question.id, stored)

    @checked
    def submit(self, trajectory: Trajectory) -> Future[None]:
        """Add one run without waiting; the future is done when the run is on the disk.

        Raises:
            StoreError: its question has a run already, or the run is of another agent. A full or
                broken disk is the future's exception.
        """
        theirs, ours = trajectory.agent.fingerprint, self.manifest.agent.fingerprint
        if theirs != ours:
            raise StoreError(_another_agent(self.folder, ours, theirs))
        question_id = trajectory.question.id
        try:
            question_id.encode()
        except UnicodeEncodeError as error:
            raise StoreError(
                f"{self.folder}: question id {question_id!a} holds half a surrogate pair, which "
                "can't be written; give it another id"
            ) from error
        record = encode(trajectory)
        with self._guard:
            if question_id in self._ids:
                raise StoreError(
                    f"{self.folder}: question {question_id} is in the store already; leave it "
                    "out, or use another store"
                )
            stored = self._log.submit(record)
            self._ids.add(question_id)
        stored.add_done_callback(partial(self._forget_if_lost, question_id))
        return stored

    def add_checksums(self) -> int:
        """Give each line of an older version its checksum; see `AppendLog.add_checksums`."""
        return self._log.add_checksums()

    def close(self) -> None:
        """Write all queued runs, and close the store for this process."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget_if_lost(self, question_id: str, stored: Future[None]) -> None:
        if stored.exception() is not None:
            with self._guard:
                self._ids.discard(question_id)


def _check_manifest(folder: Path, wanted: StoreManifest | None) -> StoreManifest:
    """Check a store before adding runs, and return its manifest, written if the store is new."""
    file = folder / RECORDS
    if file.exists() and _is_gzip(file):
        raise StoreError(f"{file}: is gzip, so nothing can be added; unpack it first")
    existing = read_manifest(folder)
    if existing is None:
        if wanted is None or (folder / RECORDS).exists():
            raise StoreError(
                f"{folder}: {RECORDS} without {MANIFEST}, so the agent of these runs is unknown; "
                "restore the manifest, or use another folder"
            )
        write_manifest(folder / MANIFEST, wanted)
        return wanted
    if wanted is None:
        return existing
    if wanted.agent.fingerprint != existing.agent.fingerprint:
        raise StoreError(
            _another_agent(folder, existing.agent.fingerprint, wanted.agent.fingerprint)
        )
    for name in ("database", "clock", "schema_sha256"):
        theirs, ours = getattr(wanted, name), getattr(existing, name)
        if None not in (theirs, ours) and theirs != ours:
            raise StoreError(
                f"{folder}: holds runs whose {name} is {ours}, but these have {theirs}; "
                "use another store"
            )
    return existing


def _another_agent(folder: Path, ours: str, theirs: str) -> str:
    return (
        f"{folder}: holds runs of the agent [{ours}], but these are of [{theirs}]; "
        f"{difference(ours, theirs)}; use another store for each agent"
    )


def _is_trajectory(line: bytes) -> bool:
    try:
        decode(line, where="last line")
    except StoreError:
        return False
    return True
