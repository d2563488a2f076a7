"""The comparison of agents, followed by the paper's agents, which are marked as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation_store import tables as disk
from sentinel_sql.evaluation_store.tables import Table
from sentinel_sql.pipeline.compare_agents import compare_agents
from sentinel_sql.report.drawing import COLOURS, Drawing, draw
from sentinel_sql.report.evaluated_agents import ReportedAgent

FOLDER: Final = "across"

ALONE: Final = ("cross_agent", "agents", "paper")
"""The tables to show for a single agent; the others would repeat its own tables."""

PAPER: Final = " (paper)"
"""Follows the name of an agent of the paper."""

_FIGURES: Final[Mapping[str, Mapping[str, str]]] = {
    "cross_agent": {
        "RS vanilla": "rs_vanilla",
        "RS full": "rs_full",
        "RS always abstain": "rs_abstain",
        "gain over always abstaining": "gain",
        "coverage with Chow's rule": "coverage",
        "accuracy with Chow's rule": "accuracy",
    },
    "agents": {
        "coverage vanilla": "coverage",
        "vanilla accuracy": "accuracy",
        "AUROC correctness": "auroc_correctness",
        "AUROC answerability": "auroc_answerability",
    },
}
"""By table, the column of each of the paper's figures."""


def write_comparison(
    agents: Sequence[ReportedAgent], out: Path
) -> tuple[dict[str, Table], str | None]:
    """Write the tables over all agents, and read them back.

    Returns:
        The tables by name, and the reason if the evaluations can't be compared, else None.
    """
    try:
        exhibits = compare_agents(
            [agent.evaluation for agent in agents], names=[agent.name for agent in agents]
        )
    except InputError as error:
        return {}, str(error)
    if len(agents) == 1:
        exhibits = {name: exhibits[name] for name in ALONE if name in exhibits}
    disk.write(out / FOLDER, exhibits)
    return disk.read(out / FOLDER), None


def append_paper(name: str, table: Table, paper: Table | None) -> tuple[Table, tuple[bool, ...]]:
    """Append the paper's agents to a table.

    Args:
        name: the name of the table.
        table: the table of our agents.
        paper: the table of the paper's numbers, or None.

    Returns:
        The table, and for each row whether it is the paper's.
    """
    places = _FIGURES.get(name)
    ours = (False,) * len(table.rows)
    if places is None or paper is None:
        return table, ours
    theirs: dict[tuple[Any, Any], dict[str, Any]] = {}
    for printed in paper.rows:
        column = places.get(str(printed["figure"]))
        if column is None or printed["agent"] is None:
            continue
        row = theirs.setdefault(
            (printed["agent"], printed["stakes"]),
            {each.column: None for each in table.columns}
            | {"agent": f"{printed['agent']}{PAPER}", "stakes": printed["stakes"]},
        )
        row[column] = printed["value"]
        if f"{column}_low" in row:
            row[f"{column}_low"] = printed["value_low"]
            row[f"{column}_high"] = printed["value_high"]
    # The table of agents has the figures without λ; the other has those with λ.
    kept = [row for row in theirs.values() if (row["stakes"] is None) == (name == "agents")]
    merged = replace(table, rows=(*table.rows, *kept))
    return merged, ours + (True,) * len(kept)


def agents_figure(tables: Mapping[str, Table]) -> Drawing | None:
    """Draw every agent alone and guarded at every λ; the paper's agents have hollow marks."""
    if "cross_agent" not in tables:
        return None
    merged, theirs = append_paper("cross_agent", tables["cross_agent"], tables.get("paper"))
    rows: list[tuple[Any, bool]] = [
        (row, paper)
        for row, paper in zip(merged.rows, theirs, strict=True)
        if row["rs_full"] is not None and row["rs_vanilla"] is not None
    ]
    levels: list[Any] = list(dict.fromkeys(row["stakes"] for row, paper in rows if not paper))[:3]
    if not levels:
        return None
    names = list(dict.fromkeys(str(row["agent"]) for row, _ in rows))

    def paint(axes: Any) -> None:
        panels = [axes] if len(levels) == 1 else list(axes)
        for level, panel in zip(levels, panels, strict=True):
            for row, paper in rows:
                if row["stakes"] != level:
                    continue
                place = -names.index(str(row["agent"]))
                fill = "none" if paper else None
                if row["rs_full_low"] is not None:
                    ends = [row["rs_full_low"], row["rs_full_high"]]
                    panel.plot(ends, [place] * 2, color=COLOURS["guarded"], lw=3)
                panel.plot(
                    [row["rs_vanilla"]], [place], "X", color=COLOURS["alone"], mfc=fill, ms=8
                )
                panel.plot([row["rs_full"]], [place], "o", color=COLOURS["guarded"], mfc=fill, ms=8)
                if row["rs_abstain"] is not None:
                    panel.plot(
                        [row["rs_abstain"]], [place], "|", color=COLOURS["never"], ms=16, mew=2.5
                    )
            panel.set_yticks(
                [-index for index in range(len(names))],
                names if panel is panels[0] else [""] * len(names),
            )
            panel.set_ylim(-len(names) + 0.4, 0.6)
            panel.set_title(f"λ = {level:g}")
            panel.set_xlabel("RS(λ)")

    values = "; ".join(
        f"{row['agent']} at λ = {row['stakes']:g}: {row['rs_vanilla']:+.2f} alone, "
        f"{row['rs_full']:+.2f} guarded"
        for row, _ in rows
        if row["stakes"] in levels
    )
    return draw(
        "Every agent alone and guarded",
        "×: alone; ●: guarded, with its 95 % interval; |: never answering; hollow: the paper's.",
        f"{values}.",
        paint,
        name="across",
        panels=(1, len(levels)),
        size=(3.0 + 1.7 * len(levels), 1.4 + 0.36 * len(names)),
    )
