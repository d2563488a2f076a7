"""The feature screen on the terminal: what each feature adds, and each family is missed for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.report.terminal.table import empty_table, lead, point

Json = Mapping[str, Any]


def screen_tables(document: Json) -> Iterator[RenderableType]:
    """Yield the screen and the knock-outs.

    Args:
        document: `feature_screen`, `survivor_matrix` and `family_knockouts` as JSON.
    """
    survivors = {row["feature"] for row in document["survivor_matrix"]["rows"] if row["survives"]}
    yield _screen(document["feature_screen"], survivors)
    yield Text(document["feature_screen"]["note"], style="dim")
    yield Text()
    yield _knockouts(document["family_knockouts"])
    yield Text(document["family_knockouts"]["note"], style="dim")


def _screen(exhibit: Json, survivors: set[str]) -> Table:
    table = empty_table(
        "What each adds to the n-grams", ("", "AUROC", "gain, 95 %", "quiet", "gain, 95 %"), gap=1
    )
    for row in exhibit["rows"]:
        mark = " ✓" if row["name"] in survivors else ""
        table.add_row(
            Text(row["name"] + mark, style="" if row["group"] == "paper feature" else "bold"),
            point(row["auroc"], ".3f"),
            Text("not recorded", style="dim") if row["auroc"] is None else lead(row["gain"]),
            point(row["quiet"], ".3f"),
            lead(row["quiet_gain"]),
        )
    return table


def _knockouts(exhibit: Json) -> Table:
    table = empty_table(
        "What the linear head loses without a family",
        ("", "AUROC", "loss, 95 %", "quiet loss, 95 %"),
        gap=1,
    )
    for row in exhibit["rows"]:
        table.add_row(
            Text(row["family"], style="bold"),
            point(row["auroc"], ".3f"),
            lead(row["loss"]),
            lead(row["quiet_loss"]),
        )
    return table
