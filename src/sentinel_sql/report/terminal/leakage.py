"""The leakage battery on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.report.terminal.table import NOT_SAID, empty_table, point, span

Json = Mapping[str, Any]


def leakage_tables(exhibits: Mapping[str, Json]) -> Iterator[RenderableType]:
    """Yield the battery's tables, those of `evaluation.leakage.leakage_exhibits` as JSON."""
    yield _readers(exhibits["leakage"])
    yield Text()
    yield _controls(exhibits["leakage_controls"])
    yield Text()
    yield _copies(exhibits["leakage_copies"])


def _readers(exhibit: Json) -> Table:
    table = empty_table(
        exhibit["title"], ("reader", "n", "AUROC", "95 % interval"), fold=("reader",)
    )
    task = None
    for row in exhibit["rows"]:
        if row["task"] != task:
            task = row["task"]
            table.add_section()
            table.add_row(Text(f"{task}, {row['over']}", style="bold cyan"))
        table.add_row(row["reader"], str(row["n"]), *_interval(row["auroc"]))
    table.caption = "A head is worth what it adds to these."
    return table


def _controls(exhibit: Json) -> Table:
    table = empty_table(
        exhibit["title"],
        ("task, reader", "AUROC", "of the shuffles", "at chance"),
        fold=("task, reader",),
    )
    for row in exhibit["rows"]:
        table.add_row(f"{row['task']}, {row['reader']}", *_interval(row["auroc"]), _said(row))
    return table


def _copies(exhibit: Json) -> Table:
    table = empty_table(
        exhibit["title"],
        ("texts", "different", "repeated", "on two sides", "as it must"),
        fold=("texts",),
    )
    for row in exhibit["rows"]:
        counts = (str(row[name]) for name in ("texts", "repeated", "across"))
        table.add_row(f"{row['what']}, between {row['split']}", *counts, _said(row))
    return table


def _said(row: Json) -> Text:
    if row["holds"] is None:
        return Text(NOT_SAID)
    return Text("yes", style="green") if row["holds"] else Text("NO", style="bold red")


def _interval(interval: Json | None) -> tuple[str, str]:
    return point(interval, ".3f"), span(interval, ".2f")
