"""The shape and sample of a result, read from the one-line summary that the agent saw."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sentinel_sql.trajectory.record import Observation

CellKind = Literal["null", "number", "time", "text"]

_SAMPLE = "; sample "
_LONGEST = 4_000
_HEAD = re.compile(r"(\d+)\+? rows? x (\d+) cols?")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_MARK = re.compile(r"\[|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_ESCAPED = re.compile(r"\\(.)")
_TIME = re.compile(r"\d{4}-\d{2}(?:-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?)?|\d{2}:\d{2}(?::\d{2})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultFacts:
    """Shape and sample of one result.

    Attributes:
        rows, columns: their numbers; 0 if the result is empty.
        truncated: the result had more rows.
        cells: the sample's cells, row by row, at most three rows; empty if the summary isn't of
            this project's form.
    """

    rows: int
    columns: int
    truncated: bool
    cells: tuple[tuple[str, ...], ...]

    @property
    def first(self) -> str | None:
        """The first cell."""
        return self.cells[0][0] if self.cells and self.cells[0] else None


def read_result(seen: Observation) -> ResultFacts | None:
    """Read an observation; None if there was no result. An empty result is a result."""
    if seen.kind == "empty":
        return ResultFacts(rows=0, columns=seen.columns or 0, truncated=False, cells=())
    if seen.kind != "rows":
        return None
    text = seen.text or ""
    head = _HEAD.match(text)
    cells = _cells(text)
    return ResultFacts(
        rows=seen.rows if seen.rows is not None else int(head[1]) if head else len(cells),
        columns=seen.columns
        if seen.columns is not None
        else int(head[2])
        if head
        else max(map(len, cells), default=0),
        truncated=seen.truncated,
        cells=cells,
    )


def kind_of_cell(cell: str) -> CellKind:
    """Return what a cell holds; the summary prints NULL as `None`."""
    if cell in ("None", "NULL", ""):
        return "null"
    if _NUMBER.fullmatch(cell):
        return "number"
    return "time" if _TIME.fullmatch(cell) else "text"


def _cells(text: str) -> tuple[tuple[str, ...], ...]:
    _, found, sample = text.partition(_SAMPLE)
    if not found or len(sample) > _LONGEST:
        return ()
    rows: list[list[str]] = []
    for mark in _MARK.finditer(sample):
        if mark[0] == "[":
            rows.append([])
        elif rows:
            rows[-1].append(_ESCAPED.sub(r"\1", mark[0][1:-1]))
    return tuple(tuple(row) for row in rows[1:4])
