"""The tables of the leakage checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.terminal.table import (
    UNKNOWN,
    Json,
    Layout,
    column,
    ends,
    estimate,
    value,
)


def leakage_tables(exhibits: Mapping[str, Json]) -> Iterator[RenderableType]:
    """Yield the tables of `leakage_exhibits`, given as JSON."""
    for number, (name, layout) in enumerate(TABLES.items()):
        if number:
            yield Text()
        yield layout.show(exhibits[name])


def _holds(row: Json) -> Text:
    if row["holds"] is None:
        return Text(UNKNOWN)
    return Text("yes", style="green") if row["holds"] else Text("NO", style="bold red")


TABLES: Final[Mapping[str, Layout]] = {
    "leakage": Layout(
        title=None,
        section=lambda row: f"{row['task']}, {row['over']}",
        columns=(
            column("reader", value("reader"), fold=True),
            column("n", value("n")),
            column("AUROC", estimate("auroc", ".3f")),
            column("95 % interval", ends("auroc", ".2f")),
        ),
        caption="A head must beat these readers.",
    ),
    "leakage_controls": Layout(
        title=None,
        columns=(
            column("task, reader", lambda row: f"{row['task']}, {row['reader']}", fold=True),
            column("AUROC", estimate("auroc", ".3f")),
            column("of the shuffles", ends("auroc", ".2f")),
            column("at chance", _holds),
        ),
    ),
    "leakage_copies": Layout(
        title=None,
        columns=(
            column("texts", lambda row: f"{row['what']}, between {row['split']}", fold=True),
            column("different", value("texts")),
            column("repeated", value("repeated")),
            column("on two sides", value("across")),
            column("as required", _holds),
        ),
    ),
}
