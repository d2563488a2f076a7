"""The tables of candidates for the head: figures, and the rule's verdict on each."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from sentinel_sql.report.terminal.rivals import seconds
from sentinel_sql.report.terminal.table import (
    UNKNOWN,
    Json,
    Layout,
    bold_if,
    column,
    ends,
    estimate,
    lead_of,
    value,
)


def candidate_tables(exhibit: Json) -> Iterator[RenderableType]:
    """Yield the figures of an exhibit of candidates, then the verdicts.

    Args:
        exhibit: the result of `Exhibit.to_json`.
    """
    yield FIGURES.show(exhibit)
    yield Text()
    yield VERDICTS.show(exhibit)
    yield Text(exhibit["note"], style="dim")


def _seeds(row: Json) -> str:
    low, high = row["lowest"], row["highest"]
    return UNKNOWN if low is None else f"{low:.3f}–{high:.3f}"


FIGURES = Layout(
    title="Candidates for the head: correctness, out of fold",
    columns=(
        column("", bold_if("candidate", lambda row: row["kind"] == "head")),
        column("AUROC", estimate("auroc", ".3f")),
        column("95 %", ends("auroc", ".2f")),
        column("lead, 95 %", lead_of("lead")),
        column("quiet", estimate("quiet", ".3f")),
        column("95 %", ends("quiet", ".2f")),
    ),
    gap=1,
)
VERDICTS = Layout(
    title="Heads",
    arrange=lambda rows: [row for row in rows if row["kind"] == "head"],
    columns=(
        column("", bold_if("candidate")),
        column("seeds", _seeds),
        column("answerable", estimate("answerable", ".3f")),
        column("at t = 0", estimate("answerable_at_start", ".3f")),
        column("a step", lambda row: seconds(row["seconds_a_step"])),
        column("verdict", value("verdict"), words=True, fold=True),
    ),
    gap=1,
)
