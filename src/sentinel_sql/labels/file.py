"""Reads and writes labels files: a header line, then one label a line."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Iterable, Mapping
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from sentinel_sql.arguments import checked
from sentinel_sql.errors import InputError, LabelsError
from sentinel_sql.labels.record import FORMAT, JudgeName, Label, Labels, LabelsHeader
from sentinel_sql.schema import Schema
from sentinel_sql.storage.checksums import Line, read_lines, with_checksum
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.whole_file import check_writable, write_whole

_REMEDY = "make it again with `sentinel label`"


@checked
def write_labels(path: str | PathLike[str], header: LabelsHeader, labels: Iterable[Label]) -> None:
    """Write a labels file, readable by its owner only; on an error, no part of it appears.

    Raises:
        LabelsError: two labels have one question id, or the file can't be written.
    """
    path = path_of(path)
    records: list[dict[str, Any]] = []
    seen: set[str] = set()
    for label in labels:
        if label.question_id in seen:
            raise LabelsError(
                f"two runs have the question id {_shown(label.question_id)}: label stores whose "
                "runs have distinct ids"
            )
        seen.add(label.question_id)
        records.append(_label_json(label))
    records.insert(0, _header_json(header, labels=len(records)))
    lines = (
        with_checksum(json.dumps(record).encode(), line=number)
        for number, record in enumerate(records, 1)
    )
    try:
        write_whole(path, b"".join(lines))
    except OSError as error:
        raise LabelsError(
            f"{path} can't be written ({error.strerror}): name another place for the labels"
        ) from error


def check_place(path: Path) -> None:
    """Check that labels may be written to a path, before the work that makes them.

    Labels may replace only labels, so a store, questions or verdicts given by mistake stay
    unchanged.

    Raises:
        LabelsError: the path holds another kind of file, or can't be written.
    """
    try:
        if os.path.lexists(path) and not path.is_dir() and not path.is_file():
            return  # a pipe or a device holds nothing to lose
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        check_writable(Path(os.path.realpath(path)).parent, make=False)
        if not path.exists():
            return
        with path.open("rb") as there:
            start = there.read(1 << 12)
    except OSError as error:
        raise LabelsError(
            f"{path} can't be written ({error.strerror}): name another place for the labels"
        ) from error
    if start.strip() and b'"sentinel-labels/' not in start.split(b"\n", 1)[0]:
        raise LabelsError(
            f"{path} holds something other than labels, which would be lost: name another place "
            "for the labels"
        )


def read_labels(path: str | PathLike[str]) -> Labels:
    """Read a labels file: the header, and the labels by question id.

    Raises:
        LabelsError: the file is missing, isn't a labels file, has another version, is cut
            short, or labels a question twice.
    """
    path = path_of(path)
    try:
        data = path.read_bytes()
        data.decode()
    except OSError as error:
        raise LabelsError(f"{path} can't be read ({error.strerror}): {_REMEDY}") from error
    except UnicodeDecodeError as error:
        raise LabelsError(f"{path} isn't a labels file: {_REMEDY}") from error
    lines = read_lines(io.BytesIO(data), file=path, remedy=_REMEDY, refusal=LabelsError, warn_by="")
    first = next(lines, Line(1, b"", True))
    header, stated = _header(path, first.content)
    labels: dict[str, Label] = {}
    for number, content, ended in chain([first], lines):
        if not ended:
            raise LabelsError(f"{path} is cut short in line {number}: {_REMEDY}")
        if number == first.number:
            continue
        try:
            label = Label.model_validate_json(content)
        except ValidationError as error:
            raise LabelsError(f"{path}, line {number} is no label: {_REMEDY}") from error
        if label.question_id in labels:
            raise LabelsError(
                f"{path}, line {number} labels question {_shown(label.question_id)} again: "
                f"{_REMEDY}"
            )
        labels[label.question_id] = label
    if stated is not None and len(labels) != stated:
        raise LabelsError(
            f"{path} is cut short, it had {stated:,} labels and has {len(labels):,}: {_REMEDY}"
        )
    return Labels(header=header, by_run=labels)


def _header_json(header: LabelsHeader, *, labels: int) -> dict[str, Any]:
    optional = {"model": header.model, "prompt_sha256": header.prompt_sha256}
    return {
        "format": FORMAT,
        "judge": header.judge,
        "mode": header.mode,
        "database": header.database,
        "clock": header.clock,
        **{name: value for name, value in optional.items() if value is not None},
        "schema": header.schema.to_json(),
        "labels": labels,
    }


def _label_json(label: Label) -> dict[str, Any]:
    # Only verdicts of a language model have these fields.
    unset = {name for name in ("model", "prompt_sha256") if getattr(label, name) is None}
    return label.model_dump(exclude=unset)


def _header(path: Path, line: bytes) -> tuple[LabelsHeader, int | None]:
    """Return the header and the stated number of labels; None in a file of an older version."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    version = data.get("format") if isinstance(data, Mapping) else None
    if version != FORMAT:
        if isinstance(version, str) and version.startswith("sentinel-labels/"):
            raise LabelsError(
                f"{path} has the format {_shown(version)}, and this version reads {FORMAT}: "
                f"{_REMEDY}"
            )
        raise LabelsError(f"{path} isn't a labels file: {_REMEDY}")
    try:
        judge, mode, database, clock = (
            data[field] for field in ("judge", "mode", "database", "clock")
        )
        schema = Schema.from_json(data["schema"])
    except (KeyError, InputError) as error:
        raise LabelsError(f"{path} has a damaged header: {_REMEDY}") from error
    model, prompt = data.get("model"), data.get("prompt_sha256")
    texts = all(isinstance(text, str) for text in (mode, database, clock)) and all(
        text is None or isinstance(text, str) for text in (model, prompt)
    )
    stated = data.get("labels")
    if judge not in get_args(JudgeName) or not texts or type(stated) not in (int, type(None)):
        raise LabelsError(f"{path} has a damaged header: {_REMEDY}")
    made = LabelsHeader(
        judge=judge,
        mode=mode,
        database=database,
        clock=clock,
        schema=schema,
        model=model,
        prompt_sha256=prompt,
    )
    return made, stated


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
