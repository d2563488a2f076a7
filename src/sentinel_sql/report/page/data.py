"""The data for the page's script: the stakes tables in columns, and the single runs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sentinel_sql.evaluation.column_meaning import cells_of
from sentinel_sql.report.evaluated_agents import ReportedAgent
from sentinel_sql.report.verdict import STANDINGS, Standing, standings

START: Final = 1.0
"""The λ at which the page opens: a wrong answer costs what a right one earns."""

HEADS: Final[Mapping[str, str]] = {
    "answerability": "Terms for (+) and against (−) an answerable question",
    "correctness": "Terms for (+) and against (−) a right answer",
}
"""Headings of the contributions, by head."""

LIVE: Final = (
    *(
        f"{name}{end}"
        for name in ("coverage", "accuracy", "rs_full")
        for end in ("", "_low", "_high")
    ),
    *("rs_vanilla", "rs_abstain", "bar", "right", "wrong"),
    *(HUNDRED := ("right_of_100", "wrong_of_100", "none_of_100")),
)
"""Columns of the stakes table that the page shows at the stakes of the slider."""

COSTS: Final = ("kept", "steps_saved")
EXACT: Final = ("accuracy_counted_low", "accuracy_counted_high")
"""`COSTS` and these columns may be missing in evaluations of older versions."""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The single runs on a page.

    Attributes:
        views: (index of the agent, view) of each run, the most instructive first.
        words: how they were chosen, or why there are none.
    """

    views: Sequence[tuple[int, Mapping[str, Any]]]
    words: str


def report_data(
    agents: Sequence[ReportedAgent], runs: Runs, levels: Sequence[float], columns: Sequence[str]
) -> str:
    """Return the data of a report for its script, as JSON."""
    columns_of_agents = []
    for agent in agents:
        rows = rows_at(agent, levels)
        columns_of_agents.append(
            {
                "name": agent.name,
                "theta": agent.theta,
                "served": agent.served,
                "exact": bool(agent.document["options"]["exact_bar"]),
                "bar": [row["bar"] for row in rows],
                "early": [row["early_stop"] for row in rows],
                "columns": {name: [row[name] for row in rows] for name in columns},
                "standing": standings_at(agent, levels),
            }
        )
    return script_json(
        {
            "levels": list(levels),
            "standings": STANDINGS,
            "heads": HEADS,
            "agents": columns_of_agents,
            "views": [{**view, "agent": index} for index, view in runs.views],
        }
    )


def script_json(data: Mapping[str, Any]) -> str:
    """Return JSON that is safe within a script element, with any texts."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def shared_levels(agents: Sequence[ReportedAgent]) -> list[float]:
    """Return the λ at which all agents were evaluated, ascending."""
    shared = [{row.stakes for row in agent.stakes} for agent in agents]
    return sorted(set.intersection(*shared))


def rows_at(agent: ReportedAgent, levels: Sequence[float]) -> list[Mapping[str, Any]]:
    """Return the cells of an agent's stakes table at these λ, by column."""
    by_level = {
        row.stakes: {
            **dict(cells_of(row)),
            **dict(zip(HUNDRED, of_100(row.right, row.wrong, agent.runs), strict=True)),
        }
        for row in agent.stakes
    }
    return [by_level[level] for level in levels]


def of_100(right: int, wrong: int, runs: int) -> tuple[int, int, int]:
    """Return right, wrong and no answers of 100 questions, rounded, with the sum 100."""
    shares = [round(100 * count / runs) if runs else 0 for count in (right, wrong)]
    return shares[0], shares[1], 100 - sum(shares)


def standings_at(agent: ReportedAgent, levels: Sequence[float]) -> list[Standing]:
    """Return an agent's standings at these λ, computed over its whole table."""
    found = standings(agent.stakes)
    by_level = {row.stakes: each for row, each in zip(agent.stakes, found, strict=True)}
    return [by_level[level] for level in levels]


def first_level(agents: Sequence[ReportedAgent], levels: Sequence[float], wanted: float) -> int:
    """Return the index of the λ that a page opens at: the wanted one, or a lower one.

    Where no agent answers anything at the wanted λ it is the highest below at which one does, so
    that a page shows something. Where none ever does it is the wanted one.
    """
    start = nearest_level(levels, wanted)
    found = [standings_at(agent, levels) for agent in agents]
    speaking = (at for at in range(start, -1, -1) if any(each[at] != "silent" for each in found))
    return next(speaking, start) if levels else start


def nearest_level(levels: Sequence[float], wanted: float) -> int:
    """Return the index of the λ with the smallest ratio to `wanted`; 0 without levels."""
    return min(
        range(len(levels)),
        key=lambda at: abs(math.log((levels[at] + 1e-12) / (wanted + 1e-12))),
        default=0,
    )
