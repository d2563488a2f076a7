"""Reads question files: EHRSQL v1, EHRSQL-2024, JSON Lines or CSV, recognised by content."""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from sentinel_sql.arguments import checked
from sentinel_sql.errors import QuestionsError
from sentinel_sql.questions.csv_table import csv_records
from sentinel_sql.questions.ehrsql import question_2024, v1_question
from sentinel_sql.questions.own import column_name, own_question
from sentinel_sql.questions.record import Question
from sentinel_sql.storage.paths import path_of

_GZIP = b"\x1f\x8b"
_OTHER_KINDS: Mapping[bytes, str] = {
    b"PK\x03\x04": "an Excel workbook (.xlsx) or another packed file",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls)",
    b"%PDF": "a PDF",
    b"SQLite format 3\x00": "a SQLite database",
    b"PAR1": "a Parquet file",
}
_SQL = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)


@checked
def read_questions(paths: Sequence[str | PathLike[str]] | str | PathLike[str]) -> list[Question]:
    """Read question files, in the order given.

    The format is recognised by the content, not by the name, and gzip is unpacked. For
    EHRSQL-2024's `data.json`, `label.json` and, if there is one, `answer.json` are taken from the
    same call or from its folder. A folder may be given instead of its `data.json`.

    Args:
        paths: files or folders, at least one; or a single path.

    Returns:
        The questions, with distinct ids.

    Raises:
        QuestionsError: a file can't be read or understood, a question is incomplete, or two
            questions have one id.
    """
    if isinstance(paths, str | PathLike) or not isinstance(paths, Iterable):
        paths = [paths]
    files_given = [path_of(path) for path in paths]
    if not files_given:
        raise QuestionsError("no question file given: name at least one")
    files = [_load(_data_file(path) if os.path.isdir(path) else path) for path in files_given]
    labels = _merge(file for file in files if file.kind == "labels")
    answers = _merge(file for file in files if file.kind == "answers")
    found: list[Question] = []
    seen: dict[str, Path] = {}
    used: set[str] = set()
    for file in files:
        for question in _questions(file, labels, answers):
            _refuse_half_characters(question, file.path)
            if question.id in seen:
                places = " and ".join(dict.fromkeys([str(seen[question.id]), str(file.path)]))
                raise QuestionsError(
                    f"question id {_shown(question.id)} is there twice, in {places}: keep one"
                )
            seen[question.id] = file.path
            found.append(question)
            used.add(question.id)
    for file in files:
        if file.kind in ("labels", "answers") and not used & set(file.content):
            raise QuestionsError(
                f"{file.path} holds {file.kind} of EHRSQL-2024 but no questions: name its "
                "data.json too"
            )
    return found


@dataclass(frozen=True, kw_only=True)
class _File:
    path: Path
    kind: str
    content: Any


def _questions(
    file: _File, labels: Mapping[str, str], answers: Mapping[str, str]
) -> Iterator[Question]:
    if file.kind == "2024":
        records = file.content["data"]
        labels = {**_read_sibling(file.path, "label.json", "labels"), **labels}
        if not labels:
            raise QuestionsError(
                f"{file.path} has no label.json beside it, so its gold SQL is unknown: put it "
                "there or name it too"
            )
        answers = {**_read_sibling(file.path, "answer.json", "answers"), **answers}
        version = str(file.content.get("version", ""))
        split = re.match(r"(train|valid|test)\b|(train|valid|test)_", version)
        for number, record in enumerate(records, 1):
            where = f"{file.path}, question {number}"
            yield question_2024(
                _mapping(record, where), labels, answers, _first_group(split), where
            )
    elif file.kind == "v1":
        for number, record in enumerate(file.content, 1):
            where = f"{file.path}, question {number}"
            yield v1_question(_mapping(record, where), where)
    elif file.kind == "own":
        for where, record in file.content:
            yield own_question(record, where)


def _load(path: Path) -> _File:
    text = _text(path)
    start = text.lstrip()[:1]
    if not start:
        raise QuestionsError(f"{path} is empty: name a file that holds questions")
    if start not in "[{":
        return _File(path=path, kind="own", content=csv_records(path, text))
    try:
        data = json.loads(text, object_pairs_hook=partial(_object, str(path)))
    except RecursionError as error:
        raise QuestionsError(f"{path} is nested too deeply to hold questions") from error
    except ValueError as error:
        if start == "{":
            return _File(path=path, kind="own", content=_json_lines(path, text))
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise QuestionsError(
            f"{path}{line} is no valid JSON: correct it, or fetch the file again"
        ) from error
    if isinstance(data, list):
        if not data:
            raise QuestionsError(f"{path} holds no questions: name another file")
        if any(map(_is_own, data)):
            records = [(f"{path}, question {number}", one) for number, one in enumerate(data, 1)]
            return _File(
                path=path, kind="own", content=[(at, _mapping(one, at)) for at, one in records]
            )
        return _File(path=path, kind="v1", content=data)
    if isinstance(data.get("data"), list):
        if not data["data"]:
            raise QuestionsError(f"{path} holds no questions: name another file")
        return _File(path=path, kind="2024", content=data)
    if {"question", "id"} & set(map(column_name, data)):
        return _File(path=path, kind="own", content=[(f"{path}, line 1", data)])
    if data and all(isinstance(value, str) for value in data.values()):
        kind = "labels" if any(_SQL.match(value) for value in data.values()) else "answers"
        return _File(path=path, kind=kind, content=data)
    raise QuestionsError(
        f"{path} is JSON but no question file: expected EHRSQL v1, EHRSQL-2024's data.json, or "
        "JSON Lines with 'id' and 'question'"
    )


def _is_own(record: object) -> bool:
    """Tell a user's own question from one of EHRSQL v1, which says if it is impossible."""
    if not isinstance(record, dict) or "is_impossible" in record:
        return False
    names = set(map(column_name, record))
    return "question" in names and bool({"gold_sql", "answerable"} & names)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise QuestionsError(
            f"question file {path} can't be read ({error.strerror}): check the path"
        ) from error
    if raw.startswith(_GZIP):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise QuestionsError(
                f"{path} is gzip but damaged or cut short: fetch or pack it again"
            ) from error
    for mark, kind in _OTHER_KINDS.items():
        if raw.startswith(mark):
            raise QuestionsError(
                f"{path} is {kind}, but questions are read from text: open it in its program and "
                "save it as CSV UTF-8"
            )
    encoding = "utf-16" if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise QuestionsError(
            f"{path}, line {line} isn't {encoding.removesuffix('-sig').upper()}: save the file as "
            "UTF-8"
        ) from error


def _json_lines(path: Path, text: str) -> list[tuple[str, Mapping[str, Any]]]:
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            record = json.loads(line, object_pairs_hook=partial(_object, where))
        except (ValueError, RecursionError) as error:
            raise QuestionsError(
                f"{where} is no valid JSON: correct it, one object a line"
            ) from error
        records.append((where, _mapping(record, where)))
    return records


def _object(where: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; refuse a repeated name, of which JSON readers silently keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise QuestionsError(f"{where} has {_shown(name)} twice in one object: keep one")
    return found


def _data_file(folder: Path) -> Path:
    for name in ("data.json", "data.json.gz"):
        if (folder / name).is_file():
            return folder / name
    raise QuestionsError(f"{folder} is a folder without a data.json: name the question files in it")


def _read_sibling(data: Path, name: str, kind: str) -> Mapping[str, str]:
    for sibling in (data.with_name(name), data.with_name(f"{name}.gz")):
        if sibling.is_file():
            file = _load(sibling)
            # In a split with only unanswerable questions, labels look like answers.
            if file.kind not in (kind, "answers"):
                raise QuestionsError(f"{sibling} holds no {kind} of EHRSQL-2024: fetch it again")
            content: Mapping[str, str] = file.content
            return content
    return {}


def _merge(files: Iterable[_File]) -> Mapping[str, str]:
    content_by_id: dict[str, str] = {}
    for file in files:
        for key, value in file.content.items():
            if content_by_id.setdefault(key, value) != value:
                raise QuestionsError(
                    f"{file.path} contradicts another {file.kind} file on question "
                    f"{_shown(key)}: name one of them"
                )
    return content_by_id


def _refuse_half_characters(question: Question, path: Path) -> None:
    try:
        for text in astuple(question):
            if isinstance(text, str):
                text.encode()
    except UnicodeEncodeError as error:
        raise QuestionsError(
            f"question {ascii(question.id)[:80]} in {path} holds half a surrogate pair, which is "
            "no character: correct its text"
        ) from error


def _mapping(record: object, where: str) -> Mapping[str, Any]:
    if not isinstance(record, dict):
        raise QuestionsError(f"{where} is no JSON object: expected the fields of one question")
    return record


def _first_group(match: re.Match[str] | None) -> str | None:
    return (match[1] or match[2]) if match else None


def _shown(question_id: str) -> str:
    return repr(question_id if len(question_id) <= 80 else question_id[:79] + "…")
