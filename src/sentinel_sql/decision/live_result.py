"""A result as an agent's loop holds it, and the `Observation` that a monitor reads of it."""

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

_ERROR_KEPT = 400
"""Characters of an error that are kept, ours."""

_SHOWN = re.compile(r"(\d{1,12})(\+?) rows x (\d{1,6}) cols; sample ")


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveResult:
    """What is known of one result.

    Attributes:
        observation: what a monitor sees of it.
        rows: its cells, for whoever compares them; None where nobody has them.
        names: of its columns, None where nobody knows them.
        value: what is handed on if the answer is delivered.
        notes: what wasn't read, in words.
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
        """Read a result in whichever form a program has it.

        Args:
            result: rows (a list of tuples, of mappings or of single cells; a tuple of cells is
                one row), a data frame, an Arrow table, an array, columns by name, a cursor or
                another iterator (which is read up, at most 100,000 rows), one cell of any type,
                an exception, an `Observation`, anything with `kind`, `rows` and `columns` as this
                project's databases return, or None where nothing was executed. A text is one
                cell: it is never searched for an error or for rows.
            result_text: the result as a tool printed it, instead of `result`: searched for rows,
                for nothing and for an error.
            columns: names of the columns, where the rows don't tell how many there are.
            truncated: more rows were there.

        Raises:
            InputError: an object that holds no result, both forms at once, or an argument of
                another type.
        """
        names = _names(columns)
        if not isinstance(truncated, int) and type(truncated).__name__ != "bool":
            raise _wrong("truncated", truncated, "True or False")
        if result_text is not None:
            if result is not None:
                raise InputError("give the result once: as result= or, printed, as result_text=")
            if not isinstance(result_text, str):
                raise _wrong("result_text", result_text, "the text that a tool printed")
            text = whole_characters(result_text)
            return cls(observation=_of_text(text), value=result_text)
        try:
            return _of(result, names, bool(truncated))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"a result of type {type(result).__name__} can't be read "
                f"({type(error).__name__}): give its rows as a list"
            ) from error


def _of(result: Any, names: Sequence[str] | None, truncated: bool) -> LiveResult:
    if result is None:
        return LiveResult(observation=Observation(kind="none"))
    if isinstance(result, Observation):
        return LiveResult(observation=result, value=result)
    if isinstance(result, BaseException):
        return _failed(result)
    kind = getattr(result, "kind", None)
    if isinstance(kind, str) and hasattr(result, "columns"):
        if kind in ("error", "refused"):
            words = _words(result.error)
            seen = Observation(kind=kind, error=words, text=error_line(words))
            return LiveResult(observation=seen, value=result)
        if kind in ("rows", "empty"):
            cells = [tuple(row) for row in result.rows]
            shown = Rows(cells=cells, names=list(result.columns), value=result)
            return _table(shown, None, truncated=bool(result.truncated))
    try:
        rows = rows_of(result)
    except InputError:
        raise
    except Exception as error:
        if hasattr(result, "fetchmany") or hasattr(result, "__next__"):
            return _failed(error)  # the database's failure, met while its rows were fetched
        raise
    if rows is None:
        return LiveResult(observation=Observation(kind="none"))
    return _table(rows, names, truncated=truncated)


def _table(rows: Rows, names: Sequence[str] | None, *, truncated: bool) -> LiveResult:
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


def _failed(error: BaseException) -> LiveResult:
    words = _words(error) or type(error).__name__
    seen = Observation(kind="error", error=words, text=error_line(words))
    return LiveResult(observation=seen, value=error)


def _words(error: Any) -> str:
    return one_line(cell_text(error), _ERROR_KEPT)


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


def _names(columns: Any) -> Sequence[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str | bytes) or not hasattr(columns, "__iter__"):
        raise _wrong("columns", columns, "the names of the columns as a list")
    try:
        return [cell_text(name) for name in columns]
    except Exception as error:
        raise InputError("columns= can't be read: give the names of the columns as a list") from (
            error
        )


def _wrong(name: str, given: Any, wanted: str) -> InputError:
    return InputError(f"{name}= can't be of type {type(given).__name__}: give {wanted}")
