"""The required content of `evaluation.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from sentinel_sql.monitor.thresholds import Gate, ServedStakes
from sentinel_sql.plain_record import Record

FORMAT = "sentinel-evaluation/1"

Count = Annotated[int, Field(ge=0)]


class _Counts(Record):
    runs: Count
    templates: Count
    answerable: Count
    unanswerable: Count
    answered: Count
    correct: Count


class _Thresholds(Record):
    gate: Gate
    served: ServedStakes | None = None


class _Facts(Record):
    versions: dict[str, str] = Field(default_factory=dict)


class _Monitor(Record):
    agent: str
    facts: _Facts = _Facts()


class _Options(Record):
    exact_bar: bool


class _Bootstrap(Record):
    seed: Count
    resamples: Annotated[int, Field(ge=1)]


class _Hashes(Record):
    pools: str


class _Files(Record):
    model_config = ConfigDict(extra="forbid")

    scores: Annotated[str, Field(alias="scores.npz")]
    views: Annotated[str | None, Field(alias="views.jsonl")] = None


class Document(Record):
    """The parts of an evaluation's document that are read; other parts are ignored."""

    pool: str
    counts: _Counts
    gaps: dict[str, list[str]]
    stakes: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)]
    options: _Options
    thresholds: _Thresholds
    monitor: _Monitor
    hashes: _Hashes
    bootstrap: _Bootstrap
    files: _Files
    spent: Count | None = None


def require(kind: type[Record], data: Mapping[str, Any]) -> None:
    """Check that data from JSON fit a record of this kind.

    Raises:
        ValueError: the data don't fit; the message names the first wrong place and quotes nothing.
    """
    try:
        kind.model_validate(data, strict=True)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise ValueError(place) from error


def parse_json(text: str | bytes) -> Any:
    """Parse the JSON of a file with unknown content.

    Raises:
        ValueError: the text isn't JSON, is nested too deeply, or can't be written as UTF-8 again.
    """
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError as error:
        raise ValueError("nests too deep") from error
    return found
