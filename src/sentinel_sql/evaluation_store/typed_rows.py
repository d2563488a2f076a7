"""Converts rows of the tables that a report reads back into the records of the exhibits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import FlatColumn, columns_of, describe_fields
from sentinel_sql.evaluation.exhibits.auroc_by_step import StepRow
from sentinel_sql.evaluation.exhibits.reliability import BinRow
from sentinel_sql.evaluation.exhibits.risk_coverage import RiskCoverageRow
from sentinel_sql.evaluation.exhibits.stakes_sweep import StakesRow
from sentinel_sql.evaluation.exhibits.step_economics import EconomicsRow
from sentinel_sql.evaluation.exhibits.system_ladder import LadderRow
from sentinel_sql.evaluation_store.tables import FOLDER, Table

ROWS: Final[Mapping[str, type]] = {
    "stakes": StakesRow,
    "ladder": LadderRow,
    "risk_coverage": RiskCoverageRow,
    "confidence_bins": BinRow,
    "by_step": StepRow,
    "step_economics": EconomicsRow,
}
"""Tables behind a sentence, a figure or the slider; other tables are shown unchanged."""

LATER: Final = ("early_stop", "kept", "steps_saved", "accuracy_counted", "tokens")
"""Columns, including their interval ends, that older evaluations may lack."""

Cells = Mapping[str, Any]
Row = TypeVar("Row")


def typed_rows(tables: Mapping[str, Table], folder: Path) -> dict[str, tuple[Any, ...]]:
    """Return the rows of the tables of `ROWS` in an evaluation, by name.

    Raises:
        InputError: a column is missing or of another type, or a required cell is empty.
    """
    return {
        name: _rows(row, tables[name], folder / FOLDER / f"{name}.csv")
        for name, row in ROWS.items()
        if name in tables
    }


def _rows(row: type, table: Table, path: Path) -> tuple[Any, ...]:
    types = {column.column: column.type for column in table.columns}
    for column in columns_of(row):
        wrong = _fault(column, table, types)
        if wrong:
            raise InputError(
                f"{path} {wrong} its column {column.name}: make it again with "
                "`sentinel evaluate … --out FOLDER`"
            )
    return tuple(record_of(row, cells) for cells in table.rows)


def _fault(column: FlatColumn, table: Table, types: Mapping[str, str]) -> str | None:
    name = column.name
    estimate = name.removesuffix("_low").removesuffix("_high")
    if name not in types:
        return None if estimate in LATER else "misses"
    if types[name] != column.kind:
        return "has another type in"
    # The ends of an interval are empty exactly where its estimate is.
    beside = estimate if {estimate, f"{estimate}_low"} <= set(types) else name
    for cells in table.rows:
        empty = cells[name] is None
        if empty != (cells[beside] is None) or (empty and not column.optional):
            return "has an empty cell in"
    return None


def record_of(row: type[Row], cells: Cells) -> Row:
    """Return one row as the record of its exhibit; missing cells are None."""
    values: dict[str, Any] = {}
    for name, base, _ in describe_fields(row):
        if base is Interval:
            ends = {"estimate": name, "low": f"{name}_low", "high": f"{name}_high"}
            found: dict[str, Any] = {end: cells.get(cell) for end, cell in ends.items()}
            values[name] = None if None in found.values() else Interval(**found)
        elif is_dataclass(base) and isinstance(base, type):
            inner = {field.name: cells.get(f"{name}_{field.name}") for field in fields(base)}
            values[name] = base(**inner)
        else:
            values[name] = cells.get(name)
    return row(**values)
