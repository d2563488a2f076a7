"""The tables of the monitor and its rivals: one of figures, one of intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.report.terminal.table import (
    UNKNOWN,
    Cell,
    Json,
    Layout,
    bold_if,
    column,
    ends,
    estimate,
    lead_of,
    value,
)

READ = (
    "quiet: AUROC among answers that executed and aren't empty. RS: under Chow's\n"
    "rule, no gate. cost: its own time (if sampled, the model's) a step of the agent."
)


def rival_tables(exhibits: Json) -> Iterator[RenderableType]:
    """Yield the rivals' tables of an evaluation that has them.

    Args:
        exhibits: by name, the results of `Exhibit.to_json`.
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
            yield LEADS.show({"rows": rows})


def figures(rows: Sequence[Json], payoffs: Sequence[Json], *, over: str) -> Table:
    """Return the table of the figures and the RS of every rival."""
    stakes = list(dict.fromkeys(row["stakes"] for row in payoffs))[:4]
    earned = {(row["rival"], row["stakes"]): row["rs"] for row in payoffs}
    references = dict.fromkeys(row["rival"] for row in payoffs if row["kind"] == "reference")
    layout = Layout(
        title=f"Rivals over {over}",
        columns=(
            column("", bold_if("rival", lambda row: row.get("kind") == "monitor")),
            *(column(heading, _of_rival(cell)) for heading, cell in _MEASURES.items()),
            *(column(f"RS({level:g})", estimate(f"rs {level:g}", "+.2f")) for level in stakes),
            column("cost", _of_rival(lambda row: seconds(row["seconds_a_step"]))),
        ),
        gap=1,
    )
    shown = [*({"rival": name} for name in references), *rows]
    return layout.show(
        {
            "rows": [
                {**row, **{f"rs {level:g}": earned[row["rival"], level] for level in stakes}}
                for row in shown
            ]
        }
    )


def _of_rival(cell: Cell) -> Cell:
    """Return a cell that is empty for references, which have an RS only."""
    return lambda row: cell(row) if "kind" in row else ""


_MEASURES: Mapping[str, Cell] = {
    "n": value("n"),
    "AUROC": estimate("auroc", ".3f"),
    "quiet": estimate("quiet", ".3f"),
    "AURC": estimate("aurc", ".3f"),
    "ECE": estimate("ece", ".3f"),
}

LEADS = Layout(
    title="Leads of the delivery estimator, green where the interval is above zero",
    columns=(
        column("", value("rival")),
        column("AUROC, 95 %", ends("auroc", ".2f")),
        column("lead, 95 %", lead_of("lead")),
        column("quiet, 95 %", ends("quiet", ".2f")),
        column("quiet lead, 95 %", lead_of("quiet_lead")),
    ),
    gap=1,
)
"""Intervals, and the delivery estimator's lead over each rival on the same answers."""


def seconds(seconds: float | None) -> str:
    """Return a time in the unit that shows it best."""
    if seconds is None:
        return UNKNOWN
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.0f} µs"
