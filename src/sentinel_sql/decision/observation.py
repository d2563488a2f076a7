"""From whatever an agent's loop holds of a result to the `Observation` that a monitor reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.result_line import error_line, result_line
from sentinel_sql.trajectory.formats.results import one_line, read_result
from sentinel_sql.trajectory.record import Observation

_ERROR_KEPT = 400
"""Characters of an error that are kept, ours."""

_SHOWN = re.compile(r"(\d+)(\+?) rows x (\d+) cols; sample ")


def observed(
    result: Any, *, columns: Sequence[str] | None = None, truncated: bool = False
) -> Observation:
    """Return what a monitor sees of a result.

    Args:
        result: rows as a list or tuple (of tuples, mappings or single cells), one mapping for
            one row, a single cell, printed text, an exception, an `Observation`, anything with
            `kind`, `rows` and `columns` as this project's databases return, or None where
            nothing was executed.
        columns: names of the columns, where the rows don't tell how many there are.
        truncated: more rows were there.

    Raises:
        InputError: something else, such as a cursor, which reading would use up.
    """
    if result is None:
        return Observation(kind="none")
    if isinstance(result, Observation):
        return result
    if isinstance(result, BaseException):
        words = one_line(str(result) or type(result).__name__, _ERROR_KEPT)
        return Observation(kind="error", error=words, text=error_line(words))
    if isinstance(result, str):
        return _of_text(result)
    if isinstance(result, Mapping):
        return _of_rows([result], columns, truncated)
    if isinstance(result, int | float | bytes):
        return _of_rows([(result,)], columns, truncated)
    if isinstance(result, list | tuple):
        return _of_rows(result, columns, truncated)
    kind = getattr(result, "kind", None)
    if kind in ("error", "refused"):
        words = str(result.error)
        return Observation(kind=kind, error=words, text=error_line(words))
    if kind in ("rows", "empty"):
        return _of_rows(result.rows, result.columns, result.truncated)
    raise InputError(
        f"a result of type {type(result).__name__} can't be read: give rows as a list, text, or "
        "the exception"
    )


def _of_rows(rows: Sequence[Any], columns: Sequence[str] | None, truncated: bool) -> Observation:
    cells = [_cells(row) for row in rows]
    width = len(columns) if columns is not None else len(cells[0]) if cells else 0
    return Observation(
        kind="rows" if cells else "empty",
        rows=len(cells),
        columns=width,
        truncated=truncated,
        text=result_line(cells, columns=width, truncated=truncated),
    )


def _cells(row: Any) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        return tuple(row.values())
    if isinstance(row, str | bytes) or not hasattr(row, "__iter__"):
        return (row,)
    return tuple(row)


def _of_text(text: str) -> Observation:
    shown = _SHOWN.match(text)
    if shown is None:
        return read_result(text)
    return Observation(
        kind="rows",
        rows=int(shown[1]),
        columns=int(shown[3]),
        truncated=bool(shown[2]),
        text=text,
    )
