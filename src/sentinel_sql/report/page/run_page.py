"""The page of one run, at any stakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentinel_sql.decision.payoff import chow_bar
from sentinel_sql.decision.policy import policy
from sentinel_sql.evaluation.exhibits.stakes_sweep import GRID
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.report.page.data import HEADS, nearest_level, script_json
from sentinel_sql.report.page.templating import render
from sentinel_sql.report.verdict import STANDINGS
from sentinel_sql.trajectory.agent_identity import difference


def run_page(
    view: Mapping[str, Any],
    monitor: Monitor,
    *,
    stakes: float,
    early_stop: bool,
    agent: str | None = None,
) -> str:
    """Return the page of one run.

    Args:
        view: the run's view by this monitor, from `pipeline.run_views`.
        monitor: the monitor, with its thresholds.
        stakes: λ at which the page opens.
        early_stop: whether the page opens with the early stop on.
        agent: fingerprint of the run's agent; the page says where it isn't the monitor's.

    Raises:
        InputError: the stakes are out of range.
        MissingExtraError: Jinja2 isn't installed.
    """
    chow_bar(stakes)
    levels = sorted({*GRID, stakes})
    thresholds = monitor.thresholds
    calibration = monitor.calibration
    rules = [
        policy("early-stop", thresholds=thresholds, stakes=level, calibration=calibration)
        for level in levels
    ]
    foreign = agent is not None and agent != monitor.agent
    rules_of_agent: dict[str, Any] = {
        "name": monitor.agent,
        "theta": thresholds.gate.theta,
        "served": None if thresholds.served is None else thresholds.served.limit,
        "exact": False,
        "bar": [chow_bar(level) for level in levels],
        "early": [rule.early for rule in rules],
        "columns": {},
        "standing": [],
    }
    return render(
        "run.html.j2",
        title=f"One run: {view['question']}",
        levels=len(levels),
        start=nearest_level(levels, stakes),
        early=early_stop,
        foreign=difference(monitor.agent, agent) if foreign and agent else None,
        data=script_json(
            {
                "levels": levels,
                "standings": STANDINGS,
                "heads": HEADS,
                "agents": [rules_of_agent],
                "views": [{**view, "agent": 0}],
            }
        ),
    )
