"""Records and store of the collected confidences: how sure the agent's own model is.

A store is a folder with `confidences.json` (the agent and database) and `confidences.jsonl` (one
record a line, keyed by run and method). A record is on the disk before the model is asked again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from sentinel_sql.errors import StoreError
from sentinel_sql.plain_record import Count, Record
from sentinel_sql.storage.append_log import AppendLog
from sentinel_sql.storage.checksums import read_lines
from sentinel_sql.storage.line_count import count_file, read_count
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.run_id import ids_of_run
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.manifest import manifest_in, write_manifest
from sentinel_sql.trajectory.record import AgentInfo, Trajectory

MANIFEST = "confidences.json"
RECORDS = "confidences.jsonl"
TORN = "confidences.torn"
LOCK = "confidences.lock"

Method = Literal["p-true", "verbalized", "single-turn", "self-consistency"]
METHODS: tuple[Method, ...] = get_args(Method)
"""`single-turn` samples the last turn again, `self-consistency` the whole run."""

SAMPLED: frozenset[Method] = frozenset({"single-turn", "self-consistency"})

Verdict = Literal["same", "other", "none", "cut"]
"""A sample's answer compared with the recorded one. `none`: the sample has no answer. `cut`: a
result was too large to compare."""


class ConfidencesManifest(Record):
    """The agent, database and clock of a store of confidences."""

    format: Literal["sentinel-confidences/1"] = "sentinel-confidences/1"
    agent: AgentInfo
    database: str | None = None
    clock: str | None = None


class Confidence(Record):
    """The confidence of one method in the answer of one run.

    Attributes:
        run: id of the run.
        answer: `answer_hash` of the run, which identifies its answer.
        method: the way of asking.
        score: in [0, 1], higher is surer; None if the reply held no score.
        by: for `p-true`: whether the score comes from log-probabilities or from the word.
        verdicts: for the sampled methods, one for each sample; the score is the share of `same`.
        temperature, mode: for the sampled methods: sampling temperature and equivalence mode.
        calls, prompt_tokens, completion_tokens, seconds: the cost. Tokens are None if the endpoint
            didn't report them; seconds are the model's.
    """

    run: str
    answer: str
    method: Method
    score: Annotated[float, Field(ge=0.0, le=1.0, strict=True)] | None
    by: Literal["logprobs", "word"] | None = None
    verdicts: tuple[Verdict, ...] = ()
    temperature: Annotated[float, Field(ge=0.0)] | None = None
    mode: str | None = None
    calls: Count
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Annotated[float, Field(ge=0.0)]

    @model_validator(mode="after")
    def _check_score(self) -> Self:
        if self.method in SAMPLED:
            same = self.verdicts.count("same")
            if not self.verdicts or self.score != same / len(self.verdicts):
                raise ValueError("the score is the share of samples with the same answer")
        elif self.verdicts:
            raise ValueError("only a sampled method has verdicts")
        return self

    @property
    def settings(self) -> tuple[object, ...]:
        """Settings that must be equal in all records of one method."""
        return (len(self.verdicts), self.temperature, self.mode)


def answer_hash(run: Trajectory) -> str:
    """Return a hash of a run's question and final query, which identifies its answer."""
    text = json.dumps([run.question.text, run.outcome.final_sql])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_confidences(folder: str | Path) -> tuple[ConfidencesManifest, list[Confidence]]:
    """Read a store. An incomplete last line was never acknowledged and is ignored.

    Raises:
        StoreError: there is no store, or it is damaged. The message never quotes a record.
    """
    folder = path_of(folder)
    manifest = _manifest(folder)
    if manifest is None:
        raise StoreError(
            f"{folder}: no confidences here ({MANIFEST} is missing); give the folder that "
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
    """Return (run, method) of all records of a store; nothing if there is no store yet.

    Raises:
        StoreError: the store is damaged.
    """
    records = _records(path_of(folder) / RECORDS)
    return frozenset((record.run, record.method) for record in records)


def still_due(
    runs: Sequence[Trajectory],
    methods: Sequence[Method],
    held: Container[tuple[str, Method]],
    limit: int | None,
) -> list[tuple[Trajectory, list[Method]]]:
    """Return the first `limit` runs without a record of some method, with these methods."""
    missing = (
        (run, [method for method in methods if (run.question.id, method) not in held])
        for run in runs
    )
    return list(islice(((run, methods) for run, methods in missing if methods), limit))


class ConfidenceStore:
    """A store opened for appending, by one process at a time. Use as a context manager.

    `held` maps (run, method) to the records of the store.
    """

    def __init__(self, *, folder: Path, log: AppendLog, records: list[Confidence]) -> None:
        self.folder = folder
        self.held = {(record.run, record.method): record for record in records}
        self._log = log

    @classmethod
    def open(cls, folder: str | Path, *, manifest: ConfidencesManifest) -> Self:
        """Open a store, or make one (folder 0700, files 0600); move an incomplete last line aside.

        Raises:
            StoreError: another process writes to the store, it is of another agent, it is
                damaged, or it can't be written.
        """
        folder = path_of(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            log = AppendLog.open(
                folder / RECORDS,
                lock=folder / LOCK,
                torn=folder / TORN,
                is_whole=_is_whole,
                check=partial(_check_manifest, folder, manifest),
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

    def forget(self, erased_id: str) -> int:
        """Erase the confidences in a run, or in all runs of a question; return their number.

        Raises:
            OSError: the store can't be written; it stays unchanged then.
        """
        self.held = {
            key: record for key, record in self.held.items() if erased_id not in ids_of_run(key[0])
        }
        return self._log.drop(
            lambda line: erased_id in ids_of_run(Confidence.model_validate_json(line).run)
        )

    def add_checksums(self) -> int:
        """Give each line of an older version its checksum; see `AppendLog.add_checksums`."""
        return self._log.add_checksums()

    def require(self, method: Method, settings: tuple[object, ...]) -> None:
        """Refuse to mix records of one method with different settings.

        Raises:
            StoreError: the store holds records with other samples, temperature or mode.
        """
        for record in self.held.values():
            if record.method == method and record.settings != settings:
                samples, temperature, mode = record.settings
                raise StoreError(
                    f"{self.folder}: holds {method} of {samples} samples at temperature "
                    f"{temperature}, compared by {mode}: use these settings, or another folder"
                )

    def append(self, record: Confidence) -> None:
        """Add a record; returns once it is on the disk.

        Raises:
            StoreError: the disk is full or broken.
        """
        self._log.append(record.model_dump_json().encode())
        self.held[record.run, record.method] = record

    def close(self) -> None:
        """Close the store, so that other processes may open it."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_manifest(folder: Path, expected: ConfidencesManifest) -> None:
    found = _manifest(folder)
    if found is None:
        if (folder / RECORDS).exists():
            raise StoreError(
                f"{folder}: {RECORDS} without {MANIFEST}, so the agent of these answers is "
                "unknown; restore the manifest, or use another folder"
            )
        write_manifest(folder / MANIFEST, expected)
        return
    if found.agent.fingerprint != expected.agent.fingerprint:
        raise StoreError(
            f"{folder}: holds answers of the agent [{found.agent.fingerprint}], but these are "
            f"of [{expected.agent.fingerprint}]; "
            f"{difference(found.agent.fingerprint, expected.agent.fingerprint)}; use another "
            "folder for each agent"
        )
    for name in ("database", "clock"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        if None not in (ours, theirs) and ours != theirs:
            raise StoreError(
                f"{folder}: holds answers whose {name} is {ours}, but these have {theirs}; "
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
            for number, content, ended in read_lines(
                lines, file=file, expected=expected, warn_by=count_file(file).name
            ):
                try:
                    record = Confidence.model_validate_json(content)
                except ValidationError as error:
                    if not ended:
                        continue
                    raise StoreError(
                        f"{file}, line {number}: no record of a confidence; remove the line, or "
                        "restore the file from a copy"
                    ) from error
                if (record.run, record.method) in seen:
                    raise StoreError(
                        f"{file}, line {number}: run {record.run} has {record.method} twice; "
                        "remove one of the two lines"
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
