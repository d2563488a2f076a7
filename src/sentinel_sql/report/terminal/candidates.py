"""Candidates for the head on the terminal: figures, and what the rule says of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.report.terminal.rivals import seconds
from sentinel_sql.report.terminal.table import NOT_SAID, empty_table, lead, point, span

Json = Mapping[str, Any]


def candidate_tables(exhibit: Json) -> Iterator[RenderableType]:
    """Yield the figures of an exhibit of candidates, then the verdicts.

    Args:
        exhibit: what `Exhibit.to_json` gave.
    """
    yield figures(exhibit)
    yield Text()
    yield verdicts(exhibit)
    yield Text(exhibit["note"], style="dim")


def figures(exhibit: Json) -> Table:
    """Show how every candidate ranks answers, with intervals."""
    table = empty_table(
        "Candidates for the head: correctness, out of fold",
        ("", "AUROC", "95 %", "lead, 95 %", "quiet", "95 %"),
        gap=1,
    )
    for row in exhibit["rows"]:
        table.add_row(
            Text(row["candidate"], style="bold" if row["kind"] == "head" else ""),
            point(row["auroc"], ".3f"),
            span(row["auroc"], ".2f"),
            lead(row["lead"]),
            point(row["quiet"], ".3f"),
            span(row["quiet"], ".2f"),
        )
    return table


def verdicts(exhibit: Json) -> Table:
    """Show what the heads alone have, and what the rule says of each."""
    table = empty_table(
        "Heads",
        ("", "seeds", "answerable", "at t = 0", "a step", "verdict"),
        words=("", "verdict"),
        fold=("verdict",),
        gap=1,
    )
    for row in exhibit["rows"]:
        if row["kind"] == "head":
            low, high = row["lowest"], row["highest"]
            table.add_row(
                Text(row["candidate"], style="bold"),
                NOT_SAID if low is None else f"{low:.3f}–{high:.3f}",
                point(row["answerable"], ".3f"),
                point(row["answerable_at_start"], ".3f"),
                seconds(row["seconds_a_step"]),
                row["verdict"],
            )
    return table
