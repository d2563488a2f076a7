"""The monitor beside its rivals on the terminal: one table of figures, one of their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.report.terminal.table import NOT_SAID, empty_table, lead, point, span

Json = Mapping[str, Any]

READ = (
    "quiet: AUROC among answers that executed and aren't empty. RS: under Chow's\n"
    "rule, no gate. cost: its own time (if sampled, the model's) a step of the agent."
)


def rival_tables(exhibits: Json) -> Iterator[RenderableType]:
    """Yield the rivals' tables of an evaluation that has them.

    Args:
        exhibits: by name, as `Exhibit.to_json` gave them.
    """
    for suffix, over in (("", "all answers"), ("_covered", "answers that all have a score for")):
        if f"rivals{suffix}" in exhibits:
            rows, payoffs = (
                exhibits[f"{name}{suffix}"]["rows"] for name in ("rivals", "rival_payoffs")
            )
            yield Text()
            yield figures(rows, payoffs, over=over)
            yield Text(READ, style="dim")
            for row in rows:
                if row["missing"]:
                    yield Text(f"{row['rival']}: {row['missing']}", style="yellow")
            yield Text()
            yield leads(rows)


def figures(rows: Sequence[Json], payoffs: Sequence[Json], *, over: str) -> Table:
    """Show every figure of every rival, its RS beside it."""
    stakes = list(dict.fromkeys(row["stakes"] for row in payoffs))[:4]
    earned = {(row["rival"], row["stakes"]): row["rs"] for row in payoffs}
    table = empty_table(
        f"Rivals over {over}",
        ("", "n", "AUROC", "quiet", "AURC", "ECE", *(f"RS({level:g})" for level in stakes), "cost"),
        gap=1,
    )
    for name in dict.fromkeys(row["rival"] for row in payoffs if row["kind"] == "reference"):
        table.add_row(
            name, *[""] * 5, *(point(earned[name, level], "+.2f") for level in stakes), ""
        )
    table.add_section()
    for row in rows:
        table.add_row(
            Text(row["rival"], style="bold" if row["kind"] == "monitor" else ""),
            str(row["n"]),
            point(row["auroc"], ".3f"),
            point(row["quiet"], ".3f"),
            point(row["aurc"], ".3f"),
            point(row["ece"], ".3f"),
            *(point(earned[row["rival"], level], "+.2f") for level in stakes),
            seconds(row["seconds_a_step"]),
        )
    return table


def leads(rows: Sequence[Json]) -> Table:
    """Show intervals, and the delivery estimator's lead over each rival on the same answers."""
    table = empty_table(
        "Leads of the delivery estimator, green where the interval is above zero",
        ("", "AUROC, 95 %", "lead, 95 %", "quiet, 95 %", "quiet lead, 95 %"),
        gap=1,
    )
    for row in rows:
        table.add_row(
            row["rival"],
            span(row["auroc"], ".2f"),
            lead(row["lead"]),
            span(row["quiet"], ".2f"),
            lead(row["quiet_lead"]),
        )
    return table


def seconds(seconds: float | None) -> str:
    """Return a time in the unit that shows it best."""
    if seconds is None:
        return NOT_SAID
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.0f} µs"
