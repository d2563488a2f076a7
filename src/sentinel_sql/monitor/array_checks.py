"""Checks of stored arrays: type, shape and range. Errors name the array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.monitor.head import Arrays


def numbers(
    arrays: Arrays,
    name: str,
    *,
    length: int | None = None,
    low: float = -np.inf,
    high: float = np.inf,
    infinite: bool = False,
) -> NDArray[np.float64]:
    """Return a stored column of double-precision numbers.

    Args:
        arrays: the stored arrays.
        name: the name of the column.
        length: the required length; any if None.
        low: the lowest valid value.
        high: the highest valid value.
        infinite: infinities are valid; NaN never is.

    Raises:
        KeyError: the column is missing.
        ValueError: the column has a wrong type, length or range; names the column.
    """
    column = _column(arrays, name, np.float64, length)
    fine = ~np.isnan(column) if infinite else np.isfinite(column)
    if not (fine & (column >= low) & (column <= high)).all():
        raise ValueError(f"{name} holds a value that is no number in its range")
    return np.asarray(column, np.float64)


def number(arrays: Arrays, name: str) -> float:
    """Return a finite number that is stored as a column of one; errors as for `numbers`."""
    return float(numbers(arrays, name, length=1)[0])


def indices(
    arrays: Arrays, name: str, *, below: int, low: int = 0, length: int | None = None
) -> NDArray[Any]:
    """Return a stored column of integers from `low` to `below` − 1; errors as for `numbers`."""
    column = _column(arrays, name, np.integer, length)
    if ((column < low) | (column >= below)).any():
        raise ValueError(f"{name} holds an index out of its range")
    return column


def _column(arrays: Arrays, name: str, kind: type, length: int | None) -> NDArray[Any]:
    column = arrays[name]
    if not np.issubdtype(column.dtype, kind):
        raise ValueError(f"{name} is of another kind")
    if column.ndim != 1 or (length is not None and len(column) != length):
        raise ValueError(f"{name} is of another shape")
    return column
