"""Where recorded runs live: an append-only folder of trajectories, and reading any recordings.

A store is a folder with `store.json` (whose runs these are) and `trajectories.jsonl` (one
trajectory a line). A run is acknowledged once its line is on the disk; nothing acknowledged is
lost, whenever the process dies.
"""

from __future__ import annotations

import gzip
import json
import os
import queue
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal, Self, TypeVar

from pydantic import BaseModel, ValidationError

from sentinel_sql.errors import StoreError
from sentinel_sql.storage import append_log as durable
from sentinel_sql.storage.whole_file import sync_folder, write_whole
from sentinel_sql.trajectory.agent_identity import told_apart
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
    path = Path(path)
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
    return manifest_in(Path(folder) / MANIFEST, StoreManifest, stated="sentinel-store/1")


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
        return kind.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}; check its rights") from error
    except ValidationError as error:
        raise StoreError(
            f"{file}: not a {stated} manifest; restore it from a copy, or collect into "
            "another folder"
        ) from error


def _read(file: Path, *, torn_tail_is_fault: bool) -> Iterator[Trajectory]:
    seen: set[str] = set()
    number = 0
    try:
        with _opened(file) as lines:
            for number, line in enumerate(lines, start=1):
                if line.isspace():
                    continue
                try:
                    trajectory = decode(line, where=f"{file}, line {number}")
                except StoreError:
                    if line.endswith(b"\n"):
                        raise
                    if torn_tail_is_fault:
                        raise StoreError(
                            f"{file}, line {number}: the last line is cut off; restore the file "
                            "from a copy, or take that line out"
                        ) from None
                    return
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
        self, *, folder: Path, manifest: StoreManifest, lock: int, ids: set[str], set_aside: int
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.set_aside = set_aside
        self._lock = lock
        self._ids = ids
        self._guard = threading.Lock()
        self._closed = False
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="sentinel-store", daemon=True)
        self._writer.start()

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
                database's, a line is damaged, or the folder can't be written.
        """
        folder = Path(folder)
        try:
            if manifest is not None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not (folder / MANIFEST).is_file():
                raise StoreError(
                    f"{folder}: no store here ({MANIFEST} is missing); name the folder that "
                    "`sentinel collect` or `sentinel import` wrote"
                )
            lock = durable.lock(folder / LOCK)
            try:
                kept = _settled_manifest(folder, manifest)
                set_aside = _mended(folder)
                ids = {run.question.id for run in read_trajectories(folder)}
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise StoreError(
                f"{folder}: can't be written ({error.strerror}); choose another folder, or mend "
                "its rights or space"
            ) from error
        return cls(folder=folder, manifest=kept, lock=lock, ids=ids, set_aside=set_aside)

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
        self.submit(trajectory).result()

    def submit(self, trajectory: Trajectory) -> Future[None]:
        """Add one run without waiting; the future is done once it is on the disk.

        Raises:
            StoreError: its question is in the store already, or another agent ran it. A full or
                broken disk is the future's exception.
        """
        theirs, ours = trajectory.agent.fingerprint, self.manifest.agent.fingerprint
        if theirs != ours:
            raise StoreError(_another_agent(self.folder, ours, theirs))
        try:
            trajectory.question.id.encode()
        except UnicodeEncodeError as error:
            raise StoreError(
                f"{self.folder}: question id {trajectory.question.id!a} holds half a surrogate "
                "pair, which can't be written; give it another id"
            ) from error
        waiting = _Waiting(trajectory.question.id, encode(trajectory), Future())
        with self._guard:
            if self._closed:
                raise StoreError(f"{self.folder}: the store is closed; open it again")
            if waiting.question_id in self._ids:
                raise StoreError(
                    f"{self.folder}: question {waiting.question_id} is in the store already; "
                    "leave it out, or use another store"
                )
            self._ids.add(waiting.question_id)
            self._queue.put(waiting)
        return waiting.done

    def close(self) -> None:
        """Write what is queued, and let other processes have the store."""
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
        """Write all that waits in one go and sync once, so that syncing doesn't bound the rate."""
        broken: OSError | None = None
        file = -1
        open_for_more = True
        while open_for_more:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            open_for_more = None not in batch
            waiting = [item for item in batch if item is not None]
            try:
                if waiting and broken is None:
                    if file < 0:
                        file = durable.open_to_append(self.folder / RECORDS)
                    durable.append(file, b"".join(item.line for item in waiting))
            except OSError as error:
                # After a failed sync nobody knows what is on the disk: only opening anew can tell.
                broken = error
            for item in waiting:
                if broken is None:
                    item.done.set_result(None)
                else:
                    item.done.set_exception(self._not_written(item.question_id, broken))
        if file >= 0:
            os.close(file)

    def _not_written(self, question_id: str, broken: OSError) -> StoreError:
        with self._guard:
            self._ids.discard(question_id)
        error = StoreError(
            f"{self.folder}: can't be written ({broken.strerror}); all runs acknowledged before "
            "are kept: free the disk and start again"
        )
        error.__cause__ = broken
        return error


@dataclass(frozen=True, slots=True)
class _Waiting:
    """One run on its way to the disk."""

    question_id: str
    line: bytes
    done: Future[None]


def _settled_manifest(folder: Path, asked: StoreManifest | None) -> StoreManifest:
    """Return the store's manifest, written now if the store is new."""
    there = read_manifest(folder)
    if there is None:
        if asked is None or (folder / RECORDS).exists():
            raise StoreError(
                f"{folder}: {RECORDS} without {MANIFEST}, so nobody can tell whose runs these "
                "are; restore the manifest, or use another folder"
            )
        data = json.dumps(asked.model_dump(), indent=2).encode() + b"\n"
        write_whole(folder / MANIFEST, data)
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
        f"{told_apart(ours, theirs)}; use another store, one an agent"
    )


def _mended(folder: Path) -> int:
    """Set a torn last line aside and return its length; leave whole lines as they are."""
    file = folder / RECORDS
    if not file.exists():
        os.close(durable.open_to_append(file))
        sync_folder(folder)
        return 0
    if _is_gzip(file):
        raise StoreError(f"{file}: is gzip, so nothing can be added; unpack it first")
    return durable.mend_tail(file, _is_trajectory, torn=folder / TORN)


def _is_trajectory(line: bytes) -> bool:
    try:
        decode(line, where="last line")
    except StoreError:
        return False
    return True
