"""The content of the report page, for the templates in this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sentinel_sql.evaluation_store.tables import Table
from sentinel_sql.report.agent_comparison import FOLDER, append_paper
from sentinel_sql.report.drawing import Drawing
from sentinel_sql.report.evaluated_agents import ReportedAgent
from sentinel_sql.report.page.cells import PageTable, page_table
from sentinel_sql.report.page.data import (
    COSTS,
    EXACT,
    LIVE,
    START,
    Runs,
    first_level,
    nearest_level,
    report_data,
    rows_at,
    shared_levels,
    standings_at,
)
from sentinel_sql.report.page.first_screen import first_screen, show
from sentinel_sql.report.page.sections import SECTIONS, Section
from sentinel_sql.report.page.templating import render
from sentinel_sql.report.verdict import SHORT, STANDINGS, TONES

TITLE: Final = "Can this agent be believed?"
SIDE_BY_SIDE: Final = "Comparison of the agents"
BESIDE_PAPER: Final = "This agent, and the paper's agents for orientation"


@dataclass(frozen=True, kw_only=True)
class _Part:
    agent: str
    figure: Drawing | None
    no_figure: str | None
    tables: Sequence[PageTable]
    absent: str | None


def report_page(
    agents: Sequence[ReportedAgent],
    figures: Mapping[tuple[int, str], Drawing],
    runs: Runs,
    *,
    across: Mapping[str, Table],
    incomparable: str | None,
    across_figures: Sequence[Drawing],
) -> str:
    """Return the page.

    Args:
        agents: at least one.
        figures: by the agent's index and the figure's name.
        runs: the single runs.
        across: tables over all agents.
        incomparable: why there are none, or None.
        across_figures: figures over all agents.

    Raises:
        MissingExtraError: Jinja2 isn't installed.
    """
    levels = shared_levels(agents)
    known = bool(levels)
    rows = [rows_at(agent, levels) for agent in agents]
    start = first_level(agents, levels, START)
    costs, exact = (known and _are_known(names, rows) for names in (COSTS, EXACT))
    live = LIVE + (COSTS if costs else ()) + (EXACT if exact else ())
    data = report_data(agents, runs, levels, live)
    dictionary: dict[str, Any] = {}
    for tables in (*(agent.tables for agent in agents), across):
        for name, table in tables.items():
            dictionary.setdefault(name, table.columns)
    sections = [_section(section, agents, figures) for section in (*SECTIONS, *_rest(agents))]
    return render(
        "report.html.j2",
        title=TITLE if len(agents) == 1 else "Can these agents be believed?",
        agents=[first_screen(agent) for agent in agents],
        standings=STANDINGS,
        standing=lambda agent: STANDINGS[standings_at(agents[agent], levels)[start]],
        short=SHORT,
        tones=TONES,
        stakes_known=known,
        levels=len(levels),
        lowest=f"{levels[0]:g}" if known else "",
        highest=f"{levels[-1]:g}" if known else "",
        start=start,
        show=lambda agent, column, form: show(rows[agent][start][column], form),
        ticks=_ticks(levels),
        costs=costs,
        exact=exact,
        runs_known=bool(runs.views) and known,
        runs_words=runs.words,
        runs_absent=None if runs.views else runs.words,
        across=[_side_by_side(name, table, across.get("paper")) for name, table in across.items()],
        incomparable=incomparable,
        across_title=SIDE_BY_SIDE if len(agents) > 1 else BESIDE_PAPER,
        across_figures=across_figures,
        measured=[it for it in sections if any(part.tables for part in it["parts"])],
        not_measured=[it for it in sections if not any(part.tables for part in it["parts"])],
        dictionary=list(dictionary.items()),
        footer=_footer(agents),
        data=data,
    )


def _are_known(names: Sequence[str], rows: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    """Return whether each of these columns has a value for every agent."""
    return all(any(row[name] is not None for row in each) for each in rows for name in names)


def _ticks(levels: Sequence[float]) -> list[dict[str, Any]]:
    if len(levels) < 2:
        return []
    wanted = [levels[0], 1.0, 4.0, 9.0, 20.0, levels[-1]]
    shown = sorted({tick for tick in wanted if levels[0] <= tick <= levels[-1]})
    return [
        {
            "left": round(100 * (nearest_level(levels, tick) + 0.5) / len(levels), 2),
            "text": f"{'λ = ' if tick == shown[0] else ''}{tick:g}",
        }
        for tick in shown
    ]


def _side_by_side(name: str, table: Table, paper: Table | None) -> PageTable:
    merged, theirs = append_paper(name, table, paper)
    if name == "paper":
        theirs = (True,) * len(merged.rows)
    return page_table(name, merged, f"{FOLDER}/tables/{name}.csv", paper=theirs)


def _section(
    section: Section, agents: Sequence[ReportedAgent], figures: Mapping[tuple[int, str], Drawing]
) -> dict[str, Any]:
    parts = []
    for index, agent in enumerate(agents):
        there = [name for name in section.tables if name in agent.tables]
        figure = figures.get((index, section.figure)) if section.figure else None
        no_figure = section.figure and there and figure is None
        parts.append(
            _Part(
                agent=agent.name,
                figure=figure,
                no_figure="No figure: there is no data to draw." if no_figure else None,
                tables=[
                    page_table(name, agent.tables[name], f"{agent.slug}/tables/{name}.csv")
                    for name in there
                ],
                absent=None
                if there
                else f"Not measured for this agent. To measure it: {section.command}",
            )
        )
    return {
        "name": section.name,
        "title": section.title,
        "lead": section.lead,
        "command": section.command,
        "parts": parts,
    }


def _rest(agents: Sequence[ReportedAgent]) -> Sequence[Section]:
    """Return a section with the tables that no other section shows; none if there are none."""
    claimed = {name for section in SECTIONS for name in section.tables}
    left = dict.fromkeys(name for agent in agents for name in agent.tables if name not in claimed)
    if not left:
        return ()
    return (Section(name="more", title="More tables", lead="Further tables.", tables=tuple(left)),)


def _footer(agents: Sequence[ReportedAgent]) -> str:
    first = agents[0].document
    facts = first["monitor"].get("facts", {})
    versions = facts.get("versions", {})
    judge = facts.get("judge", "unknown")
    by_whom = (
        "rated by people" if judge == "ratings" else f"judged by {judge} ({facts.get('mode', '?')})"
    )
    return (
        f"Made by sentinel-sql {versions.get('sentinel-sql', '')}. Answers {by_whom}; bootstrap "
        f"seed {first['bootstrap']['seed']}. Method: Song, Ward, Jung, Cheng, arXiv:2610.04156."
    )
