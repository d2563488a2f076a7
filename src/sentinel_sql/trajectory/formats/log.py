"""What a reader of others' logs takes and gives, and how a log file is cut into records."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.record import Trajectory

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedRun:
    """A run read from a log.

    `notes` says in a few words each what the log left open and how that was settled.
    """

    trajectory: Trajectory
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFormat:
    """A format of logs.

    Attributes:
        read_run: takes a record, the name of the model and an id for a record without one;
            returns the run, or raises InputError where the record holds none.
        question_of: returns id, question and gold_sql of a record that carries gold, or None.
    """

    read_run: Callable[[Any, str, str], LoggedRun]
    question_of: Callable[[Any], Mapping[str, Any] | None]


def read_records(file: Path) -> list[Any]:
    """Return the records of a log file: a JSON array, one JSON value, or one a line; gzip or not.

    An array of messages (objects with a `role`) is one record; so is any other single value.

    Raises:
        InputError: the file is missing, damaged or no JSON. Names the file and the line.
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
        return _lines(file, data)
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
    return isinstance(item, dict) and "role" in item
