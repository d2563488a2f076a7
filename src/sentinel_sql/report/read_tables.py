"""Which tables a report reads itself, and that they hold what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.column_meaning import columns_of
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
"""Tables that a sentence, a figure or the slider is made of; others are shown as they are."""

LATER: Final = ("early_stop", "kept", "steps_saved", "accuracy_counted", "tokens")
"""Columns that older evaluations lack, with their ends; what is made of them says so."""


def required(tables: Mapping[str, Table], folder: Path) -> Mapping[str, Table]:
    """Return the tables if those that a report reads hold all that it reads of them.

    Raises:
        InputError: a column is missing or of another type, or a cell is empty that never is.
    """
    for name, row in ROWS.items():
        if name not in tables:
            continue
        types = {column.column: column.type for column in tables[name].columns}
        for column in columns_of(row):
            wanted = column.name
            estimate = wanted.removesuffix("_low").removesuffix("_high")
            if wanted not in types and estimate in LATER:
                continue
            # An interval's ends are empty where its estimate is, and nowhere else.
            beside = estimate if {estimate, f"{estimate}_low"} <= set(types) else wanted
            if types.get(wanted) != column.kind:
                wrong = "misses" if wanted not in types else "has another type in"
            elif any(_torn(it, wanted, beside, column.optional) for it in tables[name].rows):
                wrong = "has an empty cell in"
            else:
                continue
            raise InputError(
                f"{folder / FOLDER / name}.csv {wrong} its column {wanted}: make it again with "
                "`sentinel evaluate … --out FOLDER`"
            )
    return tables


def _torn(row: Mapping[str, object], column: str, beside: str, optional: bool) -> bool:
    empty = row[column] is None
    return empty != (row.get(beside) is None) or (empty and not optional)
