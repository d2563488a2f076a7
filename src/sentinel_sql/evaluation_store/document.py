"""What `evaluation.json` and `views.jsonl` must hold, so that no reader meets half of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from sentinel_sql.monitor.thresholds import Gate, ServedStakes
from sentinel_sql.trajectory.record import Record

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


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


class Document(Record):
    """An evaluation's document, as far as it is read; what else it holds is left alone."""

    pool: str
    counts: _Counts
    gaps: dict[str, list[str]]
    stakes: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)]
    options: _Options
    thresholds: _Thresholds
    monitor: _Monitor
    hashes: _Hashes
    bootstrap: _Bootstrap
    spent: Count | None = None


class _Near(Record):
    words: str


class _Weight(Record):
    name: str
    value: float


class State(Record):
    """One state of a run, as the page's script draws it."""

    t: Count
    action: str | None
    thought: str | None
    sql: str | None
    result: str | None
    p_answerable: Share
    p_correct: Share
    delivery: Share | None
    p_unanswerable: Share | None
    neighbours: list[_Near]
    contributions: dict[str, list[_Weight]] | None = None
    features: dict[str, float] | None = None


class View(Record):
    """A run as a report shows it."""

    format: str
    id: str
    question: str
    ending: Literal["answer", "abstention", "cap"]
    answerable: bool | None
    correct: bool | None
    judged: str | None
    states: Annotated[list[State], Field(min_length=1)]


def require(kind: type[Record], data: Mapping[str, Any]) -> None:
    """Make sure that data read from JSON hold what a record of this kind does.

    Raises:
        ValueError: they don't; the text names the first place that is wrong, and quotes nothing.
    """
    try:
        kind.model_validate(data, strict=True)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise ValueError(place) from error


def loaded(text: str | bytes) -> Any:
    """Read JSON of a file that may be anything.

    Raises:
        ValueError: it isn't JSON, nests too deep, or can't be written as JSON in UTF-8 again.
    """
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError as error:
        raise ValueError("nests too deep") from error
    return found
