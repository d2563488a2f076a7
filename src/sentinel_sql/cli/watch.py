"""Shows a guarded run as it happens: prints each state, with moving gauges below."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Answer
from sentinel_sql.errors import SentinelError
from sentinel_sql.report.terminal.gauges import State, dials, header, row
from sentinel_sql.report.terminal.table import Layout, column
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import Step

Show = Callable[[State], None]
PACE = 0.4
"""Seconds that a recorded step takes on a terminal, slow enough to follow."""
_FRAMES = 8
_ROWS_SHOWN = 20


def follow(session: GuardSession, steps: Iterable[Step], show: Show) -> tuple[Answer, list[State]]:
    """Guard a run, and show every state as it is reached."""
    states: list[State] = []

    def add_state(step: Step | None) -> None:
        states.append(State.of_verdict(session.verdict, step))
        show(states[-1])

    add_state(None)
    for step in guarded(steps, session):
        add_state(step)
    answer = session.close()
    if answer.decision != states[-1].decision:
        add_state(None)  # the agent ended without an answer, so only the end brought a decision
    return answer, states


def answer_json(answer: Answer) -> Mapping[str, Any]:
    """Return an answer as JSON-ready data, without its value; a fault by its message."""
    fields = asdict(replace(answer, value=None, fault=None))
    fields.pop("value")
    its = answer.fault
    # The text of an error that Sentinel did not raise may quote data.
    fault = str(its) if isinstance(its, SentinelError) else its and type(its).__name__
    return {**fields, "fault": fault, "delivered": answer.delivered}


def rules_json(guard: Guard) -> Mapping[str, Any]:
    """Return the rules in force, JSON-ready; `early_stop` is s_λ, or None if it never stops."""
    rules, served = guard.policy, guard.monitor.thresholds.served
    return {
        "stakes": rules.stakes,
        "stakes_served": None if served is None else served.limit,
        "theta": rules.theta,
        "early_stop": rules.early,
        "bar": rules.delivery_bar(None),
    }


@contextmanager
def screen(console: Console, *, pace: float) -> Iterator[Show]:
    """Print one state below the other; on a terminal, with moving gauges at the bottom.

    Args:
        console: the terminal or stream to print to.
        pace: seconds that the gauges take to a new state; 0 if the agent sets the pace.
    """
    console.print(header())
    if not console.is_terminal:
        yield lambda state: console.print(row(state))
        return
    with Live(console=console, transient=True, auto_refresh=False) as live:
        at: tuple[float, float] | None = None

        def show(state: State) -> None:
            nonlocal at
            console.print(row(state))
            correct = state.correct[0]
            if state.p_answerable is None or correct is None:
                return
            to = (state.p_answerable, correct)
            start = to if at is None else at
            for frame in range(1, _FRAMES + 1):
                part = frame / _FRAMES
                answerable, correct = (a + (b - a) * part for a, b in zip(start, to, strict=True))
                live.update(dials(answerable, correct, state), refresh=True)
                time.sleep(pace / _FRAMES)
            at = to

        yield show


@contextmanager
def no_screen() -> Iterator[Show]:
    """Show nothing; for `--json`."""
    yield lambda state: None  # noqa: ARG005


_DECISION_TEXTS = {
    "refuse": "Refused: the agent was not run.",
    "exit": "Stopped mid-run: no answer.",
    "withhold": "No answer.",
    "deliver": "Delivered.",
}
_REASON_TEXTS = {
    "other-agent": "The monitor was fitted on another agent's runs, so it can't judge this one.",
    "other-schema": "The monitor was fitted on a database with another schema.",
    "other-dialect": "The monitor was fitted on a database of another SQL dialect.",
    "other-time-zone": "The monitor was fitted on a database in another time zone.",
    "other-clock": "The monitor was fitted at another time of the database: leave out --clock.",
    "missing-telemetry": "The monitor needs log-probabilities, but the endpoint gave none.",
    "missing-probes": "The monitor needs probes of the database, but no query was probed.",
    "missing-coverage": "The monitor needs a record of what the database holds of the question.",
    "monitor-error": "The monitor failed.",
}


def closing(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield how the question ended, and the answer if it is delivered.

    Args:
        document: what `sentinel ask --json` prints.
    """
    answer = document["answer"]
    delivered = answer["delivered"]
    yield Text()
    if answer["status"] == "unavailable":
        yield Text(_REASON_TEXTS[answer["reason"]], style="yellow")
        if answer["reason"] == "other-agent":
            yield Text(difference(document["monitor_agent"], document["agent"]))
        if answer["reason"] == "other-clock":
            yield Text(f"  its runs: {document['monitor_clock']}", style="dim")
            yield Text(f"  this one: {document['clock']}", style="dim")
        if delivered:
            yield Text("NOT JUDGED; shown because of --on-unavailable deliver.", style="bold red")
        else:
            yield Text("To run the agent unjudged: --on-unavailable deliver", style="yellow")
    yield Text(_DECISION_TEXTS[answer["decision"]], style="bold green" if delivered else "bold red")
    result = document["result"]
    if result is None:
        return
    if answer["confidence"] is not None:
        yield Text(f"Chance that it is right, by the monitor: {answer['confidence']:.2f}")
    layout = Layout(
        columns=[
            column(name, partial(_cell, number), words=True, fold=True)
            for number, name in enumerate(result["columns"])
        ]
    )
    yield layout.show({"rows": [{"cells": it} for it in result["rows"][:_ROWS_SHOWN]]})
    if len(result["rows"]) > _ROWS_SHOWN or result["truncated"]:
        yield Text(f"… the first {_ROWS_SHOWN} rows; --json gives more", style="dim")


def _cell(number: int, row: Mapping[str, Any]) -> str:
    value = row["cells"][number]
    return "NULL" if value is None else str(value)
