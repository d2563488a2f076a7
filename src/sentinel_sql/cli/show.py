"""`sentinel show`: one recorded run, step by step, with the monitor's confidences beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.options import MonitorFolder, Store
from sentinel_sql.cli.output import AsJson, emit

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from sentinel_sql.decision.policy import Policy
    from sentinel_sql.monitor.session import Monitor
    from sentinel_sql.trajectory.record import Trajectory

EXAMPLE = "Example: sentinel show runs/qwen b9bf51c5e3af21242ac2e487 --monitor monitor/"


def show(
    store: Store,
    question_id: Annotated[str, typer.Argument(metavar="QUESTION_ID")],
    monitor: MonitorFolder,
    stakes: Annotated[float, typer.Option(min=0.0, help="λ, what a wrong answer costs.")] = 1.0,
    early_stop: Annotated[bool, typer.Option(help="Also stop doomed runs mid-run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one recorded run with its confidences by step, and where the monitor would stop it."""
    from sentinel_sql.decision.policy import policy
    from sentinel_sql.decision.prefix_scores import PrefixScores
    from sentinel_sql.decision.thresholds import Thresholds
    from sentinel_sql.monitor.bundle import load
    from sentinel_sql.trajectory.store import read_trajectories

    bundle = load(monitor)
    rules = policy(
        "early-stop" if early_stop else "full",
        thresholds=Thresholds.from_json(bundle.thresholds),
        stakes=stakes,
        calibration=PrefixScores.from_columns(bundle.calibration),
    )
    trajectory = _find(read_trajectories(store), question_id, store)
    states = list(_states(trajectory, bundle, rules))
    document = {
        "question": {"id": trajectory.question.id, "text": trajectory.question.text},
        "agent": trajectory.agent.fingerprint,
        "monitor_is_for_this_agent": bundle.agent == trajectory.agent.fingerprint,
        "outcome": trajectory.outcome.kind,
        "stakes": stakes,
        "theta": rules.theta,
        "early_stop": rules.early,
        "bar": rules.delivery_bar(None),
        "states": states,
    }
    emit(document, as_json=as_json, tables=lambda: _screen(document, states))


def _find(trajectories: Iterable[Trajectory], question_id: str, store: Path) -> Trajectory:
    from sentinel_sql.errors import StoreError

    for trajectory in trajectories:
        if trajectory.question.id == question_id:
            return trajectory
    raise StoreError(f"{store} holds no run of question {question_id!r}: check the id")


def _states(trajectory: Trajectory, bundle: Monitor, rules: Policy) -> Iterator[dict[str, Any]]:
    """Yield every prefix with its confidences and what the policy says of it.

    The record goes on after a decision that stops, so the states do too, marked `after_stop`.
    """
    stopped = False
    for t, assessed in enumerate(bundle.replay(trajectory)):
        step = trajectory.steps[t - 1] if t else None
        at_cap = assessed.committed is None and t == len(trajectory.steps)
        decision = rules.decide(assessed, "cap" if at_cap else assessed.committed)
        yield {
            "t": t,
            "action": step.action if step else None,
            "thought": step.thought if step else None,
            "sql": step.sql if step else None,
            "result": (step.observation.text or step.observation.error) if step else None,
            "p_answerable": assessed.p_answerable,
            "p_correct": assessed.p_correct,
            "delivery": assessed.delivery,
            "decision": decision.kind,
            "reason": decision.reason,
            "after_stop": stopped,
        }
        stopped = stopped or decision.stops


def _screen(
    document: Mapping[str, Any], states: Sequence[Mapping[str, Any]]
) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    yield Text(document["question"]["text"], style="bold")
    if not document["monitor_is_for_this_agent"]:
        yield Text("this monitor was fitted on another agent's runs", style="yellow")
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_lines=False)
    for name in ("t", "step", "answerable", "correct", "decision"):
        table.add_column(name, no_wrap=name != "step", ratio=1 if name == "step" else None)
    for state in states:
        confidence = state["p_correct"] if state["delivery"] is None else state["delivery"]
        bar = document["early_stop"] if state["delivery"] is None else document["bar"]
        table.add_row(
            str(state["t"]),
            _told(state),
            _gauge(state["p_answerable"], document["theta"]),
            _gauge(confidence, bar),
            Text(
                f"{state['decision']}\n{state['reason']}",
                style="dim" if state["after_stop"] else _STYLES[state["decision"]],
            ),
        )
    yield table
    yield Text(
        f"λ = {document['stakes']:g}; │ marks the threshold; dim decisions come after the first "
        "stop",
        style="dim",
    )


_STYLES = {
    "continue": "",
    "refuse": "bold red",
    "exit": "bold red",
    "withhold": "bold red",
    "deliver": "bold green",
}
_CELLS = 10


def _gauge(value: float, threshold: float | None) -> Text:
    """Draw a value in [0, 1] as a bar with the threshold marked on it, and the number."""
    from rich.text import Text

    filled = round(value * _CELLS)
    cells = ["█" if cell < filled else "·" for cell in range(_CELLS)]
    if threshold is not None and 0 <= threshold <= 1:
        cells[min(_CELLS - 1, int(threshold * _CELLS))] = "│"
    below = threshold is not None and value < threshold
    return Text(f"{''.join(cells)}\n{value:.3f}", style="red" if below else "green")


def _told(state: Mapping[str, Any]) -> Text:
    from rich.text import Text

    if state["t"] == 0:
        return Text("the question alone", style="dim")
    said = state["sql"] or state["action"]
    return Text.assemble(
        _cut(said, 90), "\n", (_cut(state["result"] or "", 90), "dim"), overflow="fold"
    )


def _cut(text: str, length: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"
