"""The sample of single runs of an evaluation, `views.jsonl`: one run a line.

It holds text of the runs, and is readable by its owner only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation_store.document import Count, parse_json, require
from sentinel_sql.plain_record import Record, Share

VIEWS: Final = "views.jsonl"
FORMAT: Final = "sentinel-view/1"


class _Near(Record):
    words: str


class _Weight(Record):
    name: str
    value: float


class State(Record):
    """One state of a run, as the report's page shows it."""

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
    unaccounted: list[str] | None = None


class View(Record):
    """A run as a report shows it."""

    format: Literal["sentinel-view/1"]
    id: str
    question: str
    ending: Literal["answer", "abstention", "cap"]
    answerable: bool | None
    correct: bool | None
    judged: str | None
    states: Annotated[list[State], Field(min_length=1)]


def views_text(views: Iterable[Mapping[str, Any]]) -> str:
    """Return views as the lines of their file."""
    return "".join(json.dumps(it, ensure_ascii=False, allow_nan=False) + "\n" for it in views)


def read_views(folder: Path, *, most: int, size: int) -> list[dict[str, Any]]:
    """Read the first runs of an evaluation's sample, the clearest examples first.

    Args:
        folder: folder of the evaluation.
        most: most runs to read.
        size: most bytes on the page; reading ends at the first run that doesn't fit.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / VIEWS
    views: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                # In a script element, each of these characters takes six bytes.
                size -= len(line.encode()) + 5 * sum(line.count(mark) for mark in "<>&")
                if len(views) == most or size < 0:
                    break
                view = parse_json(line)
                require(View, view)
                views.append(view)
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}): check its rights") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is damaged: make it again with `sentinel evaluate … --out`"
        ) from error
    return views
