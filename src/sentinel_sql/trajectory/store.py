"""Where recorded runs live: an append-only folder of trajectories, and reading any recordings.

A store is a folder with `store.json` (whose runs these are) and `trajectories.jsonl` (one
trajectory a line). A run is acknowledged once its line is on the disk; nothing acknowledged is
lost, whenever the process dies.
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

from sentinel_sql.errors import StoreError
from sentinel_sql.storage.append_log import AppendLog, read_count
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
    """Whose runs a store holds, and over which database."""

    format: Literal["sentinel-store/1"] = "sentinel-store/1"
    agent: AgentInfo
    database: str | None = None
    clock: str | None = None
    schema_sha256: str | None = None


def read_trajectories(path: str | PathLike[str]) -> Iterator[Trajectory]:
    """Yield the trajectories of a store's folder or of one recordings file, in their order.

    Reading never writes, locks or repairs, so it works on a read-only disk and beside a running
    collector. A last line that was cut off is skipped in a store, where it was never
    acknowledged, and is an error in a file, where a cut means that something was lost.

    Args:
        path: a store's folder, or a `.jsonl` file, plain or gzip (told by its first bytes).

    Raises:
        StoreError: nothing there, a damaged line, another format version, or an id twice. The
            message names file, line and id, never the content.
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
    """Return whose runs a store holds, or None where `folder` is a recordings file or no store.

    Raises:
        StoreError: `store.json` is there but damaged.
    """
    return manifest_in(path_of(folder) / MANIFEST, StoreManifest, stated="sentinel-store/1")


def manifest_in(file: Path, kind: type[_Manifest], *, stated: str) -> _Manifest | None:
    """Return the manifest of a folder that is collected into, or None where there is none.

    Args:
        file: the manifest.
        kind: what it is read as.
        stated: its format, for people.

    Raises:
        StoreError: it is there but damaged.
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
    """Write the manifest of a folder that is collected into, with the hash of its content.

    Raises:
        OSError: it can't be written.
    """
    write_whole(file, json.dumps(sealed(manifest.model_dump()), indent=2) + "\n")


def _read(file: Path, *, torn_tail_is_fault: bool) -> Iterator[Trajectory]:
    seen: set[str] = set()
    number = 0
    try:
        expected = read_count(file)
        with _opened(file) as lines:
            for number, content, ended in read_lines(lines, file=file, expected=expected):
                try:
                    trajectory = decode(content, where=f"{file}, line {number}")
                except StoreError:
                    if ended:
                        raise
                    if torn_tail_is_fault:
                        raise StoreError(
                            f"{file}, line {number}: the last line is cut off; restore the file "
                            "from a copy, or take that line out"
                        ) from None
                    continue
                if trajectory.question.id in seen:
                    raise StoreError(
                        f"{file}, line {number}: question {trajectory.question.id} is in it "
                        "twice; take one of the two lines out"
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
def _opened(file: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open once and only read on, as a pipe allows no more."""
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

    Use as a context manager. `ids` are the questions that the store holds already; `set_aside`
    is how many bytes of a torn last line were moved to `trajectories.torn` on opening.
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
    def open(cls, folder: str | PathLike[str], *, manifest: StoreManifest | None = None) -> Self:
        """Open a store, or make one where `manifest` says whose.

        A last line that a dying process left behind is set aside in `trajectories.torn`; its
        question counts as not yet run. Folder 0700, files 0600.

        Args:
            folder: the store's folder.
            manifest: agent, database and schema of the runs to come; None opens what exists.

        Raises:
            StoreError: another process writes to it, it holds another agent's runs or another
                database's, it is damaged, or the folder can't be written.
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
                check=partial(_settled_manifest, folder, manifest),
            )
            try:
                kept = _settled_manifest(folder, None)
                ids = {run.question.id for run in read_trajectories(folder)}
            except BaseException:
                log.close()
                raise
        except OSError as error:
            raise StoreError(
                f"{folder}: can't be written ({error.strerror}); choose another folder, or mend "
                "its rights or space"
            ) from error
        return cls(folder=folder, manifest=kept, log=log, ids=ids)

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the questions whose runs are in the store or on their way into it."""
        with self._guard:
            return frozenset(self._ids)

    def append(self, trajectory: Trajectory) -> None:
        """Add one run; returns once it is on the disk. Safe from any thread.

        Raises:
            StoreError: its question is in the store already, another agent ran it, or the disk
                is full or broken (then nothing of it stays behind).
        """
        stored = self.submit(trajectory)
        try:
            stored.result()
        finally:
            self._forget_if_lost(trajectory.question.id, stored)

    def submit(self, trajectory: Trajectory) -> Future[None]:
        """Add one run without waiting; the future is done once it is on the disk.

        Raises:
            StoreError: its question is in the store already, or another agent ran it. A full or
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
        """Write what is queued, and let other processes have the store."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget_if_lost(self, question_id: str, stored: Future[None]) -> None:
        if stored.exception() is not None:
            with self._guard:
                self._ids.discard(question_id)


def _settled_manifest(folder: Path, asked: StoreManifest | None) -> StoreManifest:
    """Return the manifest of a store that can be added to, written now if the store is new."""
    file = folder / RECORDS
    if file.exists() and _is_gzip(file):
        raise StoreError(f"{file}: is gzip, so nothing can be added; unpack it first")
    there = read_manifest(folder)
    if there is None:
        if asked is None or (folder / RECORDS).exists():
            raise StoreError(
                f"{folder}: {RECORDS} without {MANIFEST}, so nobody can tell whose runs these "
                "are; restore the manifest, or use another folder"
            )
        write_manifest(folder / MANIFEST, asked)
        return asked
    if asked is None:
        return there
    if asked.agent.fingerprint != there.agent.fingerprint:
        raise StoreError(_another_agent(folder, there.agent.fingerprint, asked.agent.fingerprint))
    for name in ("database", "clock", "schema_sha256"):
        theirs, ours = getattr(asked, name), getattr(there, name)
        if None not in (theirs, ours) and theirs != ours:
            raise StoreError(
                f"{folder}: holds runs whose {name} is {ours}, and these have {theirs}; "
                "use another store"
            )
    return there


def _another_agent(folder: Path, ours: str, theirs: str) -> str:
    return (
        f"{folder}: holds runs of the agent [{ours}], and these are of [{theirs}]; "
        f"{difference(ours, theirs)}; use another store, one an agent"
    )


def _is_trajectory(line: bytes) -> bool:
    try:
        decode(line, where="last line")
    except StoreError:
        return False
    return True
