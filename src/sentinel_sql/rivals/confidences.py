"""What an agent's own model says of its answers, collected once: the records and their store.

A store is a folder with `confidences.json` (whose answers these are) and `confidences.jsonl` (one
record a line, keyed by run and method). A record is on the disk before the next is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, ValidationError

from sentinel_sql.errors import StoreError
from sentinel_sql.storage.append_log import AppendLog, read_count
from sentinel_sql.storage.checksums import read_lines
from sentinel_sql.storage.paths import path_of
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import AgentInfo, Count, Record, Trajectory
from sentinel_sql.trajectory.store import manifest_in, write_manifest

MANIFEST = "confidences.json"
RECORDS = "confidences.jsonl"
TORN = "confidences.torn"
LOCK = "confidences.lock"

Method = Literal["p-true", "verbalized", "single-turn", "self-consistency"]
METHODS: tuple[Method, ...] = get_args(Method)
"""`single-turn` samples the last turn again, `self-consistency` the whole run."""

SAMPLED: frozenset[Method] = frozenset({"single-turn", "self-consistency"})

Verdict = Literal["same", "other", "none", "cut"]
"""A sample's answer beside the recorded one; `none` where it gave none, `cut` where a result was
too large to tell."""


class ConfidencesManifest(Record):
    """Whose answers a store of confidences is about."""

    format: Literal["sentinel-confidences/1"] = "sentinel-confidences/1"
    agent: AgentInfo
    database: str | None = None
    clock: str | None = None


class Confidence(Record):
    """What one method gave for the answer of one run.

    Attributes:
        run: the run's id.
        answer: `answer_hash` of the run, so that the record is of no other.
        method: how it was asked.
        score: in [0, 1], higher is surer; None where the reply held none.
        by: of `p-true`: read from log-probabilities, or by the word.
        verdicts: of the sampled methods, one a sample; the score is the share of `same`.
        temperature, mode: of the sampled methods: of the samples, and how answers are compared.
        calls, prompt_tokens, completion_tokens, seconds: what it cost; tokens None where the
            endpoint told none, seconds the model's.
    """

    run: str
    answer: str
    method: Method
    score: Annotated[float, Field(ge=0.0, le=1.0)] | None
    by: Literal["logprobs", "word"] | None = None
    verdicts: tuple[Verdict, ...] = ()
    temperature: float | None = None
    mode: str | None = None
    calls: Count
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Annotated[float, Field(ge=0.0)]

    @property
    def settings(self) -> tuple[object, ...]:
        """What must be equal among all records of one method for a fair table."""
        return (len(self.verdicts), self.temperature, self.mode)


def answer_hash(run: Trajectory) -> str:
    """Return what tells the answer of a run from another: of its question and final query."""
    told = json.dumps([run.question.text, run.outcome.final_sql])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def read_confidences(folder: str | Path) -> tuple[ConfidencesManifest, list[Confidence]]:
    """Read a store; a last line that was cut off was never acknowledged and is passed over.

    Raises:
        StoreError: no store there, or a damaged one. The message never quotes a record.
    """
    folder = path_of(folder)
    manifest = _manifest(folder)
    if manifest is None:
        raise StoreError(
            f"{folder}: no confidences here ({MANIFEST} is missing); name the folder that "
            "`sentinel rivals collect` wrote"
        )
    return manifest, _records(folder / RECORDS)


def by_method(records: Iterable[Confidence]) -> Mapping[Method, Mapping[str, Confidence]]:
    """Return the records by method and run, methods in the order of `METHODS`."""
    found: dict[Method, dict[str, Confidence]] = {method: {} for method in METHODS}
    for record in records:
        found[record.method][record.run] = record
    return {method: runs for method, runs in found.items() if runs}


def held_in(folder: str | Path) -> frozenset[tuple[str, Method]]:
    """Return run and method of all records of a store; none where there is no store yet.

    Raises:
        StoreError: a damaged store.
    """
    records = _records(path_of(folder) / RECORDS)
    return frozenset((record.run, record.method) for record in records)


def still_due(
    runs: Sequence[Trajectory],
    methods: Sequence[Method],
    held: Container[tuple[str, Method]],
    limit: int | None,
) -> list[tuple[Trajectory, list[Method]]]:
    """Return the first `limit` runs of which a record is missing, with the missing methods."""
    missing = (
        (run, [method for method in methods if (run.question.id, method) not in held])
        for run in runs
    )
    return list(islice(((run, methods) for run, methods in missing if methods), limit))


class ConfidenceStore:
    """A store opened for appending, by one process at a time. Use as a context manager.

    `held` are the records in it, by run and method.
    """

    def __init__(self, *, folder: Path, log: AppendLog, records: list[Confidence]) -> None:
        self.folder = folder
        self.held = {(record.run, record.method): record for record in records}
        self._log = log

    @classmethod
    def open(cls, folder: str | Path, *, manifest: ConfidencesManifest) -> Self:
        """Open a store, or make one; a torn last line is set aside. Folder 0700, files 0600.

        Raises:
            StoreError: another process writes to it, it is about another agent's answers, it is
                damaged or can't be written.
        """
        folder = path_of(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            log = AppendLog.open(
                folder / RECORDS,
                lock=folder / LOCK,
                torn=folder / TORN,
                is_whole=_is_whole,
                check=partial(_settle, folder, manifest),
            )
            try:
                records = _records(folder / RECORDS)
            except BaseException:
                log.close()
                raise
        except OSError as error:
            raise StoreError(
                f"{folder}: can't be written ({error.strerror}); choose another folder, or mend "
                "its rights or space"
            ) from error
        return cls(folder=folder, log=log, records=records)

    def add_checksums(self) -> int:
        """Give each line of an older version its checksum; see `AppendLog.add_checksums`."""
        return self._log.add_checksums()

    def require(self, method: Method, settings: tuple[object, ...]) -> None:
        """Refuse to mix records of one method that were made in different ways.

        Raises:
            StoreError: the store holds some of other samples, temperature or comparison.
        """
        for record in self.held.values():
            if record.method == method and record.settings != settings:
                samples, temperature, mode = record.settings
                raise StoreError(
                    f"{self.folder}: holds {method} of {samples} samples at temperature "
                    f"{temperature}, compared by {mode}: go on with these, or use another folder"
                )

    def append(self, record: Confidence) -> None:
        """Add a record; returns once it is on the disk.

        Raises:
            StoreError: the disk is full or broken.
        """
        self._log.append(record.model_dump_json().encode())
        self.held[record.run, record.method] = record

    def close(self) -> None:
        """Let other processes have the store."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _settle(folder: Path, asked: ConfidencesManifest) -> None:
    there = _manifest(folder)
    if there is None:
        if (folder / RECORDS).exists():
            raise StoreError(
                f"{folder}: {RECORDS} without {MANIFEST}, so nobody can tell whose answers these "
                "are about; restore the manifest, or use another folder"
            )
        write_manifest(folder / MANIFEST, asked)
        return
    if there.agent.fingerprint != asked.agent.fingerprint:
        raise StoreError(
            f"{folder}: is about answers of the agent [{there.agent.fingerprint}], and these are "
            f"of [{asked.agent.fingerprint}]; "
            f"{difference(there.agent.fingerprint, asked.agent.fingerprint)}; use another folder, "
            "one an agent"
        )
    for name in ("database", "clock"):
        ours, theirs = getattr(there, name), getattr(asked, name)
        if None not in (ours, theirs) and ours != theirs:
            raise StoreError(
                f"{folder}: is about answers whose {name} is {ours}, and these have {theirs}; "
                "use another folder"
            )


def _manifest(folder: Path) -> ConfidencesManifest | None:
    return manifest_in(folder / MANIFEST, ConfidencesManifest, stated="sentinel-confidences/1")


def _records(file: Path) -> list[Confidence]:
    records: list[Confidence] = []
    seen: set[tuple[str, Method]] = set()
    try:
        expected = read_count(file)
        if expected is None and not file.exists():
            return []
        with file.open("rb") as lines:
            for number, content, ended in read_lines(lines, file=file, expected=expected):
                try:
                    record = Confidence.model_validate_json(content)
                except ValidationError as error:
                    if not ended:
                        continue
                    raise StoreError(
                        f"{file}, line {number}: no record of a confidence; take the line out, or "
                        "restore the file from a copy"
                    ) from error
                if (record.run, record.method) in seen:
                    raise StoreError(
                        f"{file}, line {number}: run {record.run} has {record.method} twice; take "
                        "one of the two lines out"
                    )
                seen.add((record.run, record.method))
                records.append(record)
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}; check its rights") from error
    return records


def _is_whole(line: bytes) -> bool:
    try:
        Confidence.model_validate_json(line)
    except ValidationError:
        return False
    return True
