"""Reads and writes tables as CSV; numbers keep every bit, and an unknown value is an empty cell."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.column_meaning import FlatColumn, Kind

Cell = str | int | float | bool | None


def csv_text(columns: Sequence[FlatColumn], rows: Iterable[Mapping[str, Cell]]) -> str:
    """Return rows as CSV (RFC 4180 with plain line ends): a header, then one line for each row."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for row in rows:
        writer.writerow([_cell_text(row[column.name]) for column in columns])
    return sink.getvalue()


def _cell_text(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a cell holds no finite number: use None for an unknown value")
        return repr(float(value))
    return str(value)


def read_csv(path: Path, kinds: Mapping[str, Kind]) -> list[dict[str, Any]]:
    """Read the rows of a table, each as column → value.

    Args:
        path: the file.
        kinds: column → kind of its cells, in the order of the columns.

    Raises:
        InputError: the file can't be read, or holds other columns or cells.
    """
    try:
        with path.open(encoding="utf-8", newline="") as source:
            header, *lines = csv.reader(source)
        if header != list(kinds):
            raise damaged(path)
        return [
            {
                name: _value(cell, kind)
                for cell, (name, kind) in zip(line, kinds.items(), strict=True)
            }
            for line in lines
        ]
    except OSError as error:
        raise InputError(
            f"{path} can't be read ({error.strerror}): make the tables with "
            "`sentinel evaluate … --out FOLDER`"
        ) from error
    except (ValueError, KeyError, csv.Error) as error:
        raise damaged(path) from error


def _value(cell: str, kind: Kind) -> Cell:
    if cell == "":
        return None
    if kind == "truth":
        return {"true": True, "false": False}[cell]
    if kind == "integer":
        return int(cell)
    if kind == "text":
        return cell
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError("tables hold only finite numbers")
    return number


def damaged(path: Path) -> InputError:
    """Return the error for a file of an evaluation that isn't what was saved."""
    return InputError(f"{path} is damaged: make it again with `sentinel evaluate … --out FOLDER`")
