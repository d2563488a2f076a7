"""`sentinel show`: shows one recorded run step by step, with the monitor's confidences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.options import Store
from sentinel_sql.cli.output import (
    AsJson,
    emit,
    write_text,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from sentinel_sql.decision.policy import Policy
    from sentinel_sql.monitor.session import Monitor
    from sentinel_sql.report.terminal.gauges import State
    from sentinel_sql.trajectory.record import Trajectory

EXAMPLE = "Example: sentinel show runs/qwen b9bf51c5e3af21242ac2e487 --monitor monitor/"


@dataclass(frozen=True, kw_only=True)
class _Request:
    """The options for showing a run."""

    stakes: float
    early_stop: bool
    why: bool
    html: Path | None
    labels: Path | None
    as_json: bool


def show(
    store: Store,
    question_id: Annotated[
        str | None, typer.Argument(metavar="QUESTION_ID", help="Without it, the runs are listed.")
    ] = None,
    monitor: Annotated[
        Path | None,
        typer.Option(
            "--monitor",
            metavar="DIR",
            help="A bundle made by `sentinel fit`. Without one the steps are shown alone.",
        ),
    ] = None,
    stakes: Annotated[float, typer.Option(min=0.0, help="λ, what a wrong answer costs.")] = 1.0,
    early_stop: Annotated[
        bool, typer.Option(help="Also stop runs early that are unlikely to succeed.")
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Also show the nearest calibration cases.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the run as a page.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="Labels to show on the page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show one recorded run step by step, and where a monitor would stop it."""
    if (why or html) and (question_id is None or monitor is None):
        from sentinel_sql.errors import InputError

        raise InputError(
            f"--why and --html show one run with a monitor: name the id of its question, which "
            f"`sentinel show {store}` lists, and a monitor with --monitor"
        )
    if question_id is None:
        _list(store, as_json=as_json)
    elif monitor is None:
        _show_alone(store, question_id, as_json=as_json)
    else:
        request = _Request(
            stakes=stakes, early_stop=early_stop, why=why, html=html, labels=labels, as_json=as_json
        )
        _show(store, question_id, monitor, request)


def _list(store: Path, *, as_json: bool) -> None:
    from sentinel_sql.trajectory.store import read_trajectories

    runs = [
        {
            "id": run.question.id,
            "outcome": run.outcome.kind,
            "steps": len(run.steps),
            "question": run.question.text,
        }
        for run in read_trajectories(store)
    ]
    emit({"runs": runs}, as_json=as_json, tables=lambda: [_runs_table(runs)])


def _runs_table(runs: Sequence[Mapping[str, Any]]) -> RenderableType:
    from sentinel_sql.report.terminal.table import Layout, column, value

    # Users copy the ids, so they are never cut: the question gives way, and ids beyond 50
    # characters fold.
    longest = max((len(run["id"]) for run in runs), default=0)
    layout = Layout(
        columns=(
            column("id", value("id"), fold=longest > 50, least=min(longest, 50)),
            column("outcome", value("outcome"), words=True),
            column("steps", value("steps"), words=True),
            column("question", _question_text, words=True, fold=True),
        )
    )
    return layout.show({"rows": runs})


def _question_text(row: Mapping[str, Any]) -> Text:
    """Return a question that is cut at the edge of the terminal."""
    from rich.text import Text

    return Text(row["question"], no_wrap=True, overflow="ellipsis")


def _show_alone(store: Path, question_id: str, *, as_json: bool) -> None:
    """Show a run without confidences: to read it, no monitor needs to be fitted."""
    from rich.text import Text

    from sentinel_sql.report.terminal.gauges import bare_header, bare_row, step_json
    from sentinel_sql.trajectory.store import read_trajectories

    run = _find(read_trajectories(store), question_id, store)
    document = {
        "question": {"id": run.question.id, "text": run.question.text},
        "agent": run.agent.fingerprint,
        "outcome": run.outcome.kind,
        "steps": [{"t": t, **step_json(step)} for t, step in enumerate(run.steps, start=1)],
    }
    emit(
        document,
        as_json=as_json,
        tables=lambda: [
            Text(run.question.text, style="bold"),
            bare_header(),
            *(bare_row(t, step) for t, step in enumerate(run.steps, start=1)),
            Text(f"outcome: {run.outcome.kind}", style="dim"),
        ],
    )


def _show(store: Path, question_id: str, monitor: Path, request: _Request) -> None:
    from sentinel_sql.decision.policy import policy
    from sentinel_sql.monitor.bundle import load
    from sentinel_sql.trajectory.store import read_trajectories

    bundle = load(monitor)
    rules = policy(
        "early-stop" if request.early_stop else "full",
        thresholds=bundle.thresholds,
        stakes=request.stakes,
        calibration=bundle.calibration,
    )
    trajectory = _find(read_trajectories(store), question_id, store)
    states = list(_states(trajectory, bundle, rules))
    document = {
        "question": {"id": trajectory.question.id, "text": trajectory.question.text},
        "agent": trajectory.agent.fingerprint,
        "monitor_agent": bundle.agent,
        "monitor_is_for_this_agent": bundle.agent == trajectory.agent.fingerprint,
        "outcome": trajectory.outcome.kind,
        "stakes": request.stakes,
        "theta": rules.theta,
        "early_stop": rules.early,
        "bar": rules.delivery_bar(None),
        "states": [state.to_json() for state in states],
    }
    if request.why or request.html:
        from sentinel_sql.report.terminal.reasons import reasons

        seen = _view(trajectory, bundle, request.labels)
        if request.why:
            stop = next(state.t for state in states if state.decision != "continue")
            document["why"] = {"t": stop} | reasons(seen["states"][stop])
        if request.html:
            _write_page(request.html, seen, bundle, request, agent=trajectory.agent.fingerprint)
            document["page"] = str(request.html)
    emit(
        document, as_json=request.as_json, tables=lambda: _screen(document, states, rules, request)
    )


def _view(trajectory: Trajectory, bundle: Monitor, labels: Path | None) -> dict[str, Any]:
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.pipeline.run_views import view

    known = None if labels is None else read_labels(labels)[1].get(trajectory.question.id)
    return view(trajectory, bundle, label=known)


def _write_page(
    file: Path, seen: Mapping[str, Any], bundle: Monitor, request: _Request, *, agent: str
) -> None:
    from sentinel_sql.report.page.run_page import run_page

    page = run_page(seen, bundle, stakes=request.stakes, early_stop=request.early_stop, agent=agent)
    write_text(file, page)


def _find(trajectories: Iterable[Trajectory], question_id: str, store: Path) -> Trajectory:
    from sentinel_sql.errors import StoreError

    for trajectory in trajectories:
        if trajectory.question.id == question_id:
            return trajectory
    raise StoreError(
        f"{store} holds no run of question {question_id!r}: `sentinel show {store}` lists its runs"
    )


def _states(trajectory: Trajectory, bundle: Monitor, rules: Policy) -> Iterator[State]:
    """Yield every prefix with its confidences and the policy's decision.

    The states after the first stop are included, marked `after_stop`.
    """
    from sentinel_sql.report.terminal.gauges import State

    stopped = False
    for t, assessed in enumerate(bundle.replay(trajectory)):
        at_cap = assessed.committed is None and t == len(trajectory.steps)
        decision = rules.decide(assessed, "cap" if at_cap else assessed.committed)
        answered = assessed.delivery is not None
        yield State(
            t=t,
            step=trajectory.steps[t - 1] if t else None,
            p_answerable=assessed.p_answerable,
            p_correct=assessed.p_correct,
            delivery=assessed.delivery,
            theta=rules.theta,
            early=rules.early,
            bar=rules.delivery_bar(assessed.p_unanswerable) if answered else None,
            decision=decision.kind,
            reason=decision.reason,
            after_stop=stopped,
            unaccounted=assessed.unaccounted,
        )
        stopped = stopped or decision.stops


def _screen(
    document: Mapping[str, Any], states: Iterable[State], policy: Policy, request: _Request
) -> Iterator[RenderableType]:
    from rich.text import Text

    from sentinel_sql.report.terminal.gauges import header, row, rules
    from sentinel_sql.report.terminal.reasons import why_screen
    from sentinel_sql.trajectory.agent_identity import difference

    yield Text(document["question"]["text"], style="bold")
    if not document["monitor_is_for_this_agent"]:
        yield Text("this monitor was fitted on another agent's runs:", style="yellow")
        yield Text(difference(document["monitor_agent"], document["agent"]), style="yellow")
    yield Text(rules(policy, early_stop=request.early_stop), style="dim")
    yield header()
    for state in states:
        yield row(state)
    yield Text(
        "│ marks the threshold; dim decisions come after the first stop",
        style="dim",
    )
    if "why" in document:
        yield from why_screen(document["why"])
    if "page" in document:
        yield Text(f"written to {document['page']}")
