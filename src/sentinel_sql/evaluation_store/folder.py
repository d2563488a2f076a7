"""Saves and reads an evaluation: its results, the columns behind them, and every table.

    evaluation.json   the result of `Evaluation.to_json`, with hashes of the two files below
    scores.npz        the columns of the pool and of the calibration pool, templates hashed
    views.jsonl       a sample of single runs, if requested
    tables/           one CSV for each exhibit, with a data dictionary (`tables`)

Every exhibit can be computed again from such a folder, without runs, labels or monitor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from sentinel_sql.errors import BundleError, InputError
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.options import Options
from sentinel_sql.evaluation.run_facts import RunFacts
from sentinel_sql.evaluation_store import tables
from sentinel_sql.evaluation_store.document import FORMAT, Document, parse_json, require
from sentinel_sql.evaluation_store.kept_tables import carry_over
from sentinel_sql.evaluation_store.sources import SOURCES, Source
from sentinel_sql.evaluation_store.tables import Table
from sentinel_sql.evaluation_store.typed_rows import typed_rows
from sentinel_sql.evaluation_store.views import VIEWS, views_text
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.thresholds import Thresholds
from sentinel_sql.storage.checksums import sealed
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.saved_parts import DAMAGES, packed, read_document, under, unpacked
from sentinel_sql.storage.whole_file import (
    OccupiedError,
    check_replaceable,
    read_whole_folder,
    whole_folder,
    write_whole,
)

DOCUMENT, SCORES = "evaluation.json", "scores.npz"
PARTS = (
    *(SCORES, VIEWS, f"{tables.FOLDER}/{SOURCES}", f"{tables.FOLDER}/{tables.CHECKSUMS}"),
    *(f"{tables.FOLDER}/*{ending}" for ending in tables.ENDINGS),
)
"""All files of an evaluation's folder; a folder with other files is never replaced."""
_CALIBRATION, _FACTS = "calibration/", "facts/"
_AGAIN = "make it again with `sentinel evaluate … --out FOLDER`"


class Savable(Protocol):
    """The parts of an evaluation that `save` writes."""

    @property
    def evidence(self) -> Evidence:
        """The columns behind the exhibits."""
        ...

    @property
    def exhibits(self) -> Mapping[str, Exhibit[Any]]:
        """The exhibits by name, which are written as tables."""
        ...

    @property
    def views(self) -> Sequence[Mapping[str, Any]]:
        """Single runs, JSON-ready."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return everything except the columns."""
        ...


@dataclass(frozen=True, kw_only=True)
class StoredEvaluation:
    """An evaluation read from a folder.

    Attributes:
        folder: its folder.
        document: the result of `Evaluation.to_json`.
        evidence: the columns, from which exhibits are computed.
        tables: tables by name, including those that other commands added.
        rows: rows of the tables in `typed_rows.ROWS`, as records.
        has_views: True if it holds a sample of single runs.
    """

    folder: Path
    document: Mapping[str, Any]
    evidence: Evidence
    tables: Mapping[str, Table]
    rows: Mapping[str, tuple[Any, ...]]
    has_views: bool


def save(
    evaluation: Savable,
    folder: str | PathLike[str],
    *,
    source: Source | None = None,
    further: Mapping[str, Exhibit[Any]] | None = None,
) -> dict[str, str]:
    """Write an evaluation as a whole or not at all; an older one is replaced.

    Tables that other commands added to the older one stay if they were made from the same files.

    Args:
        evaluation: the evaluation.
        folder: its folder.
        source: the files that it was made from, or None if unknown.
        further: exhibits that are only written as tables, because they are too long.

    Returns:
        Removed table → the command that made it, or an empty text.

    Raises:
        InputError: the folder holds something other than an evaluation, or can't be written.
    """
    folder = path_of(folder)
    contents = {SCORES: packed(columns_of(evaluation.evidence))}
    if evaluation.views:
        contents[VIEWS] = views_text(evaluation.views).encode()
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    document = sealed(evaluation.to_json() | {"files": hashes})
    with (
        _refusing(folder),
        whole_folder(folder, known_by=DOCUMENT, parts=PARTS, kind="evaluation") as draft,
    ):
        for name, data in contents.items():
            write_whole(draft / name, data)
        tables.write(draft, {**evaluation.exhibits, **(further or {})}, source=source)
        gone = carry_over(folder, draft, source=source)
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(draft / DOCUMENT, text + "\n")
    return gone


def check_place(folder: str | Path) -> None:
    """Check that an evaluation may be saved to a folder, before a pool is spent for it.

    Raises:
        InputError: the folder holds something other than an evaluation, or is no folder.
    """
    with _refusing(path_of(folder)):
        check_replaceable(folder, known_by=DOCUMENT, parts=PARTS, kind="evaluation")


def read(folder: str | Path) -> StoredEvaluation:
    """Read an evaluation, and replay every system over its columns.

    Raises:
        InputError: the folder is missing, damaged, or written by another version.
    """
    folder = path_of(folder)
    return read_whole_folder(folder, partial(_read, folder))


def _read(folder: Path) -> StoredEvaluation:
    document = read_document(
        folder / DOCUMENT, kind="evaluation", stated=FORMAT, again=_AGAIN, refusal=InputError
    )
    try:
        require(Document, document)
        parse_json(json.dumps(document))
    except ValueError as error:
        raise InputError(f"{folder / DOCUMENT} is damaged at {error}: {_AGAIN}") from error
    if "sha256" in document and not (folder / tables.FOLDER / tables.CHECKSUMS).exists():
        raise InputError(f"{folder / tables.FOLDER / tables.CHECKSUMS} is missing: {_AGAIN}")
    for name, sha256 in document["files"].items():
        try:
            with (folder / name).open("rb") as data:
                intact = hashlib.file_digest(data, "sha256").hexdigest() == sha256
        except OSError as error:
            raise InputError(
                f"{folder / name} can't be read ({error.strerror}): {_AGAIN}"
            ) from error
        if not intact:
            raise InputError(f"{folder / name} is damaged: {_AGAIN}")
    found = tables.read(folder)
    return StoredEvaluation(
        folder=folder,
        document=document,
        evidence=_evidence(folder, document),
        tables=found,
        rows=typed_rows(found, folder),
        has_views=(folder / VIEWS).exists(),
    )


def _evidence(folder: Path, document: Mapping[str, Any]) -> Evidence:
    try:
        arrays = unpacked((folder / SCORES).read_bytes())
        calibration = under(arrays, _CALIBRATION)
        facts = under(arrays, _FACTS)
        return Evidence.gather(
            PrefixScores.from_columns(arrays),
            Thresholds.from_json(document["thresholds"]),
            stakes=tuple(document["stakes"]),
            options=Options.from_json(document["options"]),
            facts=RunFacts(
                strict=facts.get("strict"),
                prompt_tokens=facts["prompt_tokens"],
            ),
            calibration=PrefixScores.from_columns(calibration) if calibration else None,
            seed=document["bootstrap"]["seed"],
            resamples=document["bootstrap"]["resamples"],
        )
    except (BundleError, *DAMAGES) as error:
        raise InputError(f"the evaluation in {folder} is damaged: {_AGAIN}") from error


def columns_of(evidence: Evidence) -> dict[str, NDArray[Any]]:
    """Return the columns by name; templates may hold queries, so they are hashed."""
    columns = evidence.recorded.with_hashed_templates().to_columns()
    columns[f"{_FACTS}prompt_tokens"] = evidence.facts.prompt_tokens
    if evidence.facts.strict is not None:
        columns[f"{_FACTS}strict"] = evidence.facts.strict
    if evidence.calibration is not None:
        for name, column in evidence.calibration.to_columns().items():  # hashed by the fit
            columns[f"{_CALIBRATION}{name}"] = column
    return columns


@contextmanager
def _refusing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OccupiedError as error:
        raise InputError(f"{error}: choose another folder for the evaluation") from error
    except OSError as error:
        raise InputError(
            f"{folder} can't be written ({error.strerror}): choose another folder"
        ) from error
