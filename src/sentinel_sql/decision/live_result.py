"""Reads a query result as an agent's loop holds it, and makes the monitor's `Observation` of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sentinel_sql.decision.row_sources import MOST_ROWS, Rows, rows_of
from sentinel_sql.errors import InputError
from sentinel_sql.result_line import cell_text, error_line, result_line, whole_characters
from sentinel_sql.trajectory.formats.results import one_line, read_result
from sentinel_sql.trajectory.record import Observation

_LONGEST_ERROR = 400
"""Longest error that is kept, in characters (our choice)."""

_RESULT_LINE = re.compile(r"(\d{1,12})(\+?) rows x (\d{1,6}) cols; sample ")


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveResult:
    """One query result.

    Attributes:
        observation: what the monitor sees.
        rows: its cells, which the agent's sentence is compared with; None if unknown.
        names: names of its columns; None if unknown.
        value: `Answer.value` if the answer is delivered.
        notes: sentences about parts that weren't read.
    """

    observation: Observation
    rows: Sequence[tuple[Any, ...]] | None = None
    names: Sequence[str] | None = None
    value: Any = None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        result: Any = None,
        *,
        result_text: str | None = None,
        columns: Iterable[str] | None = None,
        truncated: bool = False,
    ) -> LiveResult:
        """Read a result in any of the forms below.

        Args:
            result: rows (a list of tuples, of mappings or of single cells; a tuple of cells is
                one row), a data frame, an Arrow table, an array, columns by name, a cursor or
                another iterator (at most 100,000 rows are read, and it is used up), one cell of any
                type, an exception, an `Observation`, an object with `kind`, `rows` and `columns`
                as this project's databases return, or None if nothing was executed. A text is one
                cell; it is never searched for an error or for rows.
            result_text: the result as a tool printed it, instead of `result`. It is searched
                for rows, an empty result or an error.
            columns: names of the columns, if they can't be seen from the rows.
            truncated: True if the full result has more rows.

        Raises:
            InputError: the object holds no result, both `result` and `result_text` are given,
                or an argument is of another type.
        """
        names = _column_names(columns)
        if not isinstance(truncated, int) and type(truncated).__name__ != "bool":
            raise _type_error("truncated", truncated, "True or False")
        if result_text is not None:
            if result is not None:
                raise InputError("give the result once: as result= or, printed, as result_text=")
            if not isinstance(result_text, str):
                raise _type_error("result_text", result_text, "the text that the tool printed")
            text = whole_characters(result_text)
            return cls(observation=_read_text(text), value=result_text)
        try:
            return _read(result, names, bool(truncated))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"a result of type {type(result).__name__} can't be read "
                f"({type(error).__name__}): give its rows as a list"
            ) from error


def _read(result: Any, names: Sequence[str] | None, truncated: bool) -> LiveResult:
    if result is None:
        return LiveResult(observation=Observation(kind="none"))
    if isinstance(result, Observation):
        return LiveResult(observation=result, value=result)
    if isinstance(result, BaseException):
        return _read_error(result)
    kind = getattr(result, "kind", None)
    if isinstance(kind, str) and hasattr(result, "columns"):
        if kind in ("error", "refused"):
            words = _error_words(result.error)
            seen = Observation(kind=kind, error=words, text=error_line(words))
            return LiveResult(observation=seen, value=result)
        if kind in ("rows", "empty"):
            cells = [tuple(row) for row in result.rows]
            shown = Rows(cells=cells, names=list(result.columns), value=result)
            return _read_table(shown, None, truncated=bool(result.truncated))
    try:
        rows = rows_of(result)
    except InputError:
        raise
    except Exception as error:
        if hasattr(result, "fetchmany") or hasattr(result, "__next__"):
            return _read_error(error)  # the database failed while its rows were fetched
        raise
    if rows is None:
        return LiveResult(observation=Observation(kind="none"))
    return _read_table(rows, names, truncated=truncated)


def _read_table(rows: Rows, names: Sequence[str] | None, *, truncated: bool) -> LiveResult:
    if names is None and rows.names is not None:
        names = [cell_text(name) for name in rows.names]
    width = len(names) if names is not None else max(map(len, rows.cells), default=0)
    cut = truncated or rows.more
    observation = Observation(
        kind="rows" if rows.cells else "empty",
        rows=len(rows.cells),
        columns=width,
        truncated=cut,
        text=result_line(rows.cells, columns=width, truncated=cut),
    )
    notes = (f"only the first {MOST_ROWS:,} rows of a result were read",) if rows.more else ()
    return LiveResult(
        observation=observation, rows=rows.cells, names=names, value=rows.value, notes=notes
    )


def _read_error(error: BaseException) -> LiveResult:
    words = _error_words(error) or type(error).__name__
    seen = Observation(kind="error", error=words, text=error_line(words))
    return LiveResult(observation=seen, value=error)


def _error_words(error: Any) -> str:
    return one_line(cell_text(error), _LONGEST_ERROR)


def _read_text(text: str) -> Observation:
    shown = _RESULT_LINE.match(text)
    if shown is None:
        return read_result(text)
    return Observation(
        kind="rows",
        rows=int(shown[1]),
        columns=int(shown[3]),
        truncated=bool(shown[2]),
        text=text,
    )


def _column_names(columns: Any) -> Sequence[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str | bytes) or not hasattr(columns, "__iter__"):
        raise _type_error("columns", columns, "the names of the columns as a list")
    try:
        return [cell_text(name) for name in columns]
    except Exception as error:
        raise InputError("columns= can't be read: give the names of the columns as a list") from (
            error
        )


def _type_error(name: str, given: Any, wanted: str) -> InputError:
    return InputError(f"{name}= can't be of type {type(given).__name__}: give {wanted}")
