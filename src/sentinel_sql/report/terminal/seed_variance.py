"""Seed variance on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.terminal.table import empty_table, number

Json = Mapping[str, Any]


def seed_tables(exhibits: Mapping[str, Json]) -> Iterator[RenderableType]:
    """Yield the table of the exhibit `seeds` as JSON, where there is one."""
    if "seeds" not in exhibits:
        return
    rows = exhibits["seeds"]["rows"]
    table = empty_table(
        f"Seed variance, {rows[0]['seeds']} seeds",
        ("figure", "λ", "of record", "mean", "sd", "lowest", "highest"),
    )
    table.caption = "Differences below this spread are luck."
    for row in rows:
        table.add_row(
            row["figure"],
            "" if row["stakes"] is None else f"{row['stakes']:g}",
            *(
                number(row[name], ".3f")
                for name in ("of_record", "mean", "sd", "lowest", "highest")
            ),
        )
    yield Text()
    yield table
