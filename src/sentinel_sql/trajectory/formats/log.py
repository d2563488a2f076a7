"""Splits a log file into records, one for each run or conversation."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError

MESSAGE_LISTS = ("messages", "items", "input_list", "history", "conversation")
"""Keys of a record that hold its messages or items."""

_GZIP_MAGIC = b"\x1f\x8b"


def read_records(file: Path, *, plain_text: bool = False) -> list[Any]:
    """Return the records of a log file: a JSON array, one JSON value, or JSON Lines; plain or gzip.

    An array of messages or items (objects with a `role`, or with the `type` of an item) is one
    record. So is any other single value and, if `plain_text`, a text that is no JSON.

    Raises:
        InputError: the file is missing, damaged or no JSON. The message names file and line.
    """
    try:
        data = file.read_bytes()
        if data.startswith(_GZIP_MAGIC):
            data = gzip.decompress(data)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or 'damaged gzip'}; check the path") from error
    except (EOFError, zlib.error) as error:
        raise InputError(f"{file}: damaged gzip; get the file again") from error
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        try:
            return _lines(file, data)
        except InputError:
            if not plain_text:
                raise
            return [data.decode("utf-8", "replace")]
    if isinstance(whole, list) and not all(_is_message(item) for item in whole):
        return whole
    return [] if whole == [] else [whole]


def _lines(file: Path, data: bytes) -> list[Any]:
    records = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{file}, line {number}: not JSON; expected a JSON array of runs, or one run a line"
            ) from error
    return records


def _is_message(item: object) -> bool:
    if not isinstance(item, dict) or any(key in item for key in MESSAGE_LISTS):
        return False
    return "role" in item or isinstance(item.get("type"), str)
