"""Seed variance on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

NOT_SAID = "–"

Json = Mapping[str, Any]


def seed_tables(exhibits: Mapping[str, Json]) -> Iterator[RenderableType]:
    """Yield the table of the exhibit `seeds` as JSON, where there is one."""
    if "seeds" not in exhibits:
        return
    rows = exhibits["seeds"]["rows"]
    table = Table(
        title=f"Seed variance, {rows[0]['seeds']} seeds",
        title_justify="left",
        title_style="bold",
        caption="Differences below this spread are luck.",
        caption_justify="left",
        caption_style="dim",
        box=None,
        header_style="dim",
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column("figure", no_wrap=True)
    for column in ("λ", "of record", "mean", "sd", "lowest", "highest"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["figure"],
            "" if row["stakes"] is None else f"{row['stakes']:g}",
            *(_number(row[name]) for name in ("of_record", "mean", "sd", "lowest", "highest")),
        )
    yield Text()
    yield table


def _number(value: float | None) -> str:
    return NOT_SAID if value is None else f"{value:.3f}"
