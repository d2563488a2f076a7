"""Reads the rows of a query result from any object, recognised by its methods.

A data frame, an Arrow table, a cursor or a row is read without importing its library.
`_READERS` lists the forms in the order in which they are tried.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from sentinel_sql.errors import InputError

MOST_ROWS = 100_000
"""Most rows read from a cursor or an iterator (our choice): an endless one must not hang a run."""
_MOST_CELLS = 10_000
"""Most cells read from a row that is an iterator (our choice)."""
_ROW_KEYS = ("rows", "data", "results", "result", "records")
_TEXTS = (str, bytes, bytearray, memoryview)
_WITHOUT_ROWS = (
    ("collect", "columns"),
    ("cursor", "commit"),
    ("status_code",),
    ("compile", "self_group"),
)
"""What tells an object that holds no rows yet: a plan, a connection, a reply, a statement."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """The rows of a result.

    Attributes:
        cells: one tuple for each row.
        names: names of the columns, or None if the source has none.
        more: True if the source has more rows than were read.
        value: the result to hand on: the source itself, or the rows read if reading used the
            source up.
    """

    cells: Sequence[tuple[Any, ...]]
    names: Sequence[Any] | None = None
    more: bool = False
    value: Any


def rows_of(source: Any) -> Rows | None:
    """Return the rows of a result, or None if the source says that its query returned no table.

    Raises:
        InputError: the object holds no result, or only `await` can read it.
    """
    for fits, read in _READERS:
        if fits(source):
            return read(source)
    return Rows(cells=[(source,)], value=source)


def _refuse(source: Any) -> Rows:
    kind = type(source).__name__
    if _is_async(source):
        raise InputError(
            f"a result of type {kind} can't be read without waiting for it: await its rows, and "
            "give those"
        )
    raise InputError(
        f"a result of type {kind} holds no rows: give the rows, a data frame, a cursor that was "
        "executed, or the exception; printed text as result_text="
    )


def _is_async(source: Any) -> bool:
    fetch = getattr(source, "fetchmany", None)
    return isinstance(source, Awaitable | AsyncIterable) or inspect.iscoroutinefunction(fetch)


def _is_no_result(source: Any) -> bool:
    if _is_async(source) or inspect.isroutine(source) or inspect.ismodule(source):
        return True
    if isinstance(source, type):
        return True
    if any(all(hasattr(source, name) for name in names) for names in _WITHOUT_ROWS):
        return True
    kind: Any = type(source)
    plain = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    return plain and not any(
        hasattr(source, name) for name in ("__iter__", "fetchmany", "__dataclass_fields__")
    )


def _of_text(source: Any) -> Rows:
    return Rows(cells=[(source,)], value=source)


def _of_mapping(source: Mapping[Any, Any]) -> Rows:
    """Read a mapping: columns by name, a table with named parts, or one row."""
    values = list(source.values())
    if not values:
        return Rows(cells=[], value=source)
    listed = [_listed(column) for column in values]
    names = source.get("columns") if "columns" in source else None
    for key in _ROW_KEYS:
        rows = source.get(key) if key in source else None
        if not isinstance(rows, list | tuple) or not all(map(_is_container, rows)):
            continue
        named = names if isinstance(names, list | tuple) else None
        cells = [_cells(row) for row in rows]
        # Beside its columns a reply may hold more: a count, a time, a flag.
        fits = named is not None and all(len(row) == len(named) for row in cells)
        if fits or len(source) == 1 or (names is not None and len(source) <= 3):
            return Rows(cells=cells, names=named, value=source)
    if all(map(_is_record, source.items())):  # pandas: {0: {"drug": "heparin", "n": 3}}
        return _of_list(values, value=source)
    columns = [column for column in listed if column is not None]
    if values and len(columns) == len(values) and len({len(column) for column in columns}) == 1:
        return Rows(cells=list(zip(*columns, strict=True)), names=list(source), value=source)
    return Rows(cells=[tuple(_without_nan(values))], names=list(source), value=source)


def _is_record(item: tuple[Any, Any]) -> bool:
    """Tell a row that is held by its number, and names its cells."""
    key, row = item
    named = isinstance(row, Mapping) and bool(row) and all(isinstance(name, str) for name in row)
    return named and not isinstance(key, str)


def _listed(column: Any) -> list[Any] | None:
    """Return a column of a mapping as a list, or None if it is a single cell."""
    if isinstance(column, list | tuple | range):
        return _without_nan(column)
    if isinstance(column, Mapping):  # pandas: {"drug": {0: "heparin", 1: "aspirin"}}
        return _without_nan(column.values())
    if hasattr(column, "tolist") and getattr(column, "ndim", 0) == 1:
        return _without_nan(column.tolist())
    return None


def _of_arrow(source: Any) -> Rows:
    if hasattr(source, "column_names"):
        columns = [source.column(i).to_pylist() for i in range(source.num_columns)]
        cells = list(zip(*columns, strict=True)) if columns else []
        return Rows(cells=cells, names=list(source.column_names), value=source)
    return Rows(cells=[(cell,) for cell in source.to_pylist()], value=source)


def _of_frame(source: Any) -> Rows:
    if hasattr(source, "itertuples"):
        rows: Iterable[Any] = source.itertuples(index=False, name=None)
    else:
        rows = source.iter_rows()
    cells = [tuple(_without_nan(row)) for row in rows]
    return Rows(cells=cells, names=list(source.columns), value=source)


def _of_array(source: Any) -> Rows:
    values = source.tolist() if hasattr(source, "tolist") else source.to_list()
    if not isinstance(values, list):
        return Rows(cells=[tuple(_without_nan([values]))], value=source)
    return Rows(cells=[_cells(row) for row in values], value=source)


def _of_cursor(source: Any) -> Rows | None:
    described = getattr(source, "description", None)
    keys = getattr(source, "keys", None)
    if getattr(source, "returns_rows", True) is False:
        return None
    if described is None and hasattr(source, "description"):
        return None
    names = None
    if described is not None:
        names = [column[0] for column in described]
    elif callable(keys):
        names = list(keys())
    elif isinstance(getattr(source, "columns", None), list | tuple):
        names = list(source.columns)
    read = list(source.fetchmany(MOST_ROWS + 1))
    return _read_once(read, names)


def _of_row(source: Any) -> Rows:
    keys = getattr(source, "keys", None)
    names = list(keys()) if callable(keys) else getattr(source, "_fields", None)
    return Rows(cells=[tuple(source)], names=names, value=source)


def _of_tuple(source: tuple[Any, ...]) -> Rows:
    if source and not any(map(_is_container, source)):
        return _of_row(source)  # one row, as `fetchone` returns it
    return _of_list(source)


def _of_list(source: Sequence[Any], *, value: Any = None) -> Rows:
    first = source[0] if source else None
    names = list(first) if isinstance(first, Mapping) else None
    cells = [_cells(row) for row in source]
    return Rows(cells=cells, names=names, value=source if value is None else value)


def _of_fields(source: Any) -> Rows:
    names = _field_names(source)
    return Rows(cells=[tuple(getattr(source, name) for name in names)], names=names, value=source)


def _of_iterable(source: Iterable[Any]) -> Rows:
    return _read_once(list(islice(source, MOST_ROWS + 1)), None, source=source)


def _read_once(read: list[Any], names: Sequence[Any] | None, *, source: Any = None) -> Rows:
    """Make rows of what was read; `value` is the source only if it can be read again."""
    again = source is not None and not hasattr(source, "__next__")
    more = len(read) > MOST_ROWS
    del read[MOST_ROWS:]
    return Rows(
        cells=[_cells(row) for row in read], names=names, more=more, value=source if again else read
    )


def _is_container(item: Any) -> bool:
    return not isinstance(item, _TEXTS) and (
        isinstance(item, list | tuple | Mapping) or hasattr(item, "keys") or _is_row(item)
    )


def _is_row(item: Any) -> bool:
    """Return whether an object is a database row: a sequence that names its cells."""
    named = hasattr(item, "_fields") or callable(getattr(item, "keys", None))
    return named and hasattr(item, "__iter__") and hasattr(item, "__getitem__")


def _field_names(item: Any) -> list[str]:
    known = getattr(type(item), "__dataclass_fields__", None)
    return list(known if known is not None else getattr(type(item), "model_fields", ()))


def _cells(row: Any) -> tuple[Any, ...]:
    return tuple(_without_nan(_as_held(row)))


def _as_held(row: Any) -> tuple[Any, ...]:
    if isinstance(row, tuple | list):
        return tuple(row)
    if isinstance(row, Mapping):
        return tuple(row.values())
    if isinstance(row, _TEXTS):
        return (row,)
    if names := _field_names(row):
        return tuple(getattr(row, name) for name in names)
    if hasattr(row, "tolist"):
        values = row.tolist()
        return tuple(values) if isinstance(values, list | tuple) else (values,)
    if hasattr(row, "__iter__"):
        return tuple(islice(row, _MOST_CELLS))
    return (row,)


def _without_nan(cells: Iterable[Any]) -> list[Any]:
    """Return cells with NULL as None: frames, arrays and what is made of them write NaN or NA."""
    return [None if _is_nan(cell) else cell for cell in cells]


def _is_nan(cell: Any) -> bool:
    if isinstance(cell, str | int | list | tuple | dict):
        return False
    try:
        return bool(cell != cell)  # only NaN and NaT differ from themselves
    except Exception:  # a cell of a user's class, or pandas' NA
        return type(cell).__name__ == "NAType"


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda source: all(hasattr(source, name) for name in names)


_READERS: Sequence[tuple[Callable[[Any], bool], Callable[[Any], Rows | None]]] = (
    (lambda source: isinstance(source, _TEXTS), _of_text),
    (lambda source: isinstance(source, Mapping), _of_mapping),
    (lambda source: isinstance(source, tuple), _of_tuple),
    (lambda source: isinstance(source, list), _of_list),
    (_is_no_result, _refuse),
    (_has("to_pylist"), _of_arrow),
    (_has("columns", "itertuples"), _of_frame),
    (_has("columns", "iter_rows"), _of_frame),
    (_has("tolist", "ndim"), _of_array),
    (_has("to_list", "dtype"), _of_array),
    (_has("fetchmany"), _of_cursor),
    (_is_row, _of_row),
    (lambda source: bool(_field_names(source)), _of_fields),
    (_has("__iter__"), _of_iterable),
)
"""Pairs of a test and its reader, tried in order. An object that fits none is a single cell."""
