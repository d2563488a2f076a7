"""A run on the terminal, state by state: the step, and the confidences as gauges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.decision.policy import Kind, Policy
from sentinel_sql.decision.verdict import GuardReason, Verdict
from sentinel_sql.trajectory.record import Step

STYLES: Mapping[Kind, str] = {
    "continue": "",
    "refuse": "bold red",
    "exit": "bold red",
    "withhold": "bold red",
    "deliver": "bold green",
}
_COLUMNS = (("t", 2), ("step", 34), ("answerable", 10), ("correct", 10), ("decision", 17))
"""Names and widths; with one blank between them they fill 77 of 80 columns."""
_WIDTHS = tuple(width for _, width in _COLUMNS)
_CELLS = 10
_WIDE = 40
_SQL_KEPT, _RESULT_KEPT = 100, 66
_FIELDS = (
    *("p_answerable", "p_correct", "delivery", "theta", "early", "bar"),
    *("decision", "reason", "status", "after_stop", "unaccounted"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """One state of a run: the newest step, the monitor's confidences, and the thresholds.

    Attributes:
        t: steps taken.
        step: step t; None at t = 0.
        p_answerable, p_correct: confidences in [0, 1]; None if the monitor can't judge.
        delivery: calibrated probability that the committed answer is right; None before one.
        theta, early, bar: thresholds in force; None without one.
        decision, reason: the decision and its reason.
        status: `judged` or `unavailable`.
        after_stop: the guard stopped the run before this state; only a recorded run continues.
        unaccounted: the question's phrases that nothing in the committed query accounts for.
    """

    t: int
    step: Step | None
    p_answerable: float | None
    p_correct: float | None
    delivery: float | None
    theta: float | None
    early: float | None
    bar: float | None
    decision: Kind
    reason: GuardReason
    status: Literal["judged", "unavailable"] = "judged"
    after_stop: bool = False
    unaccounted: tuple[str, ...] = ()

    @classmethod
    def of_verdict(cls, verdict: Verdict, step: Step | None) -> State:
        """Return the state of a guard's verdict after a step, or on the question alone."""
        return cls(
            t=verdict.t,
            step=step,
            p_answerable=verdict.p_answerable,
            p_correct=verdict.p_correct,
            delivery=verdict.confidence,
            theta=verdict.theta,
            early=verdict.early,
            bar=verdict.bar,
            decision=verdict.decision,
            reason=verdict.reason,
            status=verdict.status,
            unaccounted=verdict.unaccounted,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON-ready data, with the texts of its step."""
        return {
            "t": self.t,
            **step_json(self.step),
            **{name: getattr(self, name) for name in _FIELDS},
        }

    @property
    def correct(self) -> tuple[float | None, float | None]:
        """The confidence in the run or in its answer, and its threshold."""
        if self.delivery is None:
            return self.p_correct, self.early
        return self.delivery, self.bar


def step_json(step: Step | None) -> dict[str, Any]:
    """Return what is shown of a step as JSON-ready data; of no step, nulls."""
    return {
        "action": step.action if step else None,
        "thought": step.thought if step else None,
        "sql": step.sql if step else None,
        "result": _result(step) if step else None,
    }


def rules(policy: Policy, *, early_stop: bool) -> str:
    """Return the rules of a guard in one line.

    Args:
        policy: the policy in force, with Chow's bar.
        early_stop: whether early stop is on; without a threshold it never stops a run.
    """
    if not policy.served:
        return f"λ = {policy.stakes:g} is above what this monitor can serve: nothing is delivered"
    stop = "off" if not early_stop else "on, but none pays at this λ"
    if policy.early is not None:
        stop = f"below s = {policy.early:.3g}"
    bar = policy.delivery_bar(None)
    given = "every answer" if bar is None else f"answers from τ = {bar:.3g} on"
    return f"λ = {policy.stakes:g} delivers {given}; early stop {stop}"


def header() -> RenderableType:
    """Return the headings of the columns of `row`."""
    return _line(*(Text(name, style="dim") for name, _ in _COLUMNS))


def row(state: State) -> RenderableType:
    """Return one state in at most 80 columns."""
    decision = Text(
        f"{state.decision}\n{state.reason}",
        style="dim" if state.after_stop else STYLES[state.decision],
    )
    line = _line(
        Text(str(state.t)),
        _step_text(state.step, none="the question alone" if state.t == 0 else "no further step"),
        gauge(state.p_answerable, state.theta),
        gauge(*state.correct),
        decision,
    )
    if not state.unaccounted:
        return line
    return Group(line, Text(f"   {unaccounted_sentence(state.unaccounted)}", style="red"))


def unaccounted_sentence(phrases: Sequence[str]) -> str:
    """Say which of the question's phrases nothing in the query accounts for; at least one."""
    quoted = ", ".join(f'"{phrase}"' for phrase in phrases)
    return f"Nothing in the query accounts for {quoted}."


def bare_header() -> RenderableType:
    """Name the columns of `bare_row`."""
    return _bare_line(Text("t", style="dim"), Text("step", style="dim"))


def bare_row(t: int, step: Step) -> RenderableType:
    """Show step t alone, as wide as the columns of `row` are together."""
    return _bare_line(Text(str(t)), _step_text(step, none=""))


def gauge(value: float | None, threshold: float | None) -> Text:
    """Return a value in [0, 1] as a bar with a mark at the threshold, and the number below it."""
    if value is None:
        return Text(f"{'·' * _CELLS}\nunknown", style="dim")
    style = "red" if threshold is not None and value < threshold else "green"
    return Text(f"{_bar(value, threshold, _CELLS)}\n{value:.3f}", style=style)


def dials(p_answerable: float, correct: float, state: State) -> RenderableType:
    """Return both confidences as large bars with the thresholds of a state, for an animation."""
    threshold = state.correct[1]
    name = "s" if state.delivery is None else "τ"
    return Group(
        Text(),
        _dial("answerable", p_answerable, "θ", state.theta),
        _dial("correct", correct, name, threshold),
    )


def _dial(name: str, value: float, symbol: str, threshold: float | None) -> Text:
    below = threshold is not None and value < threshold
    against = "" if threshold is None else f"{'<' if below else '≥'} {symbol} {threshold:.3f}"
    return Text.assemble(
        (f"{name:<11}", "bold"),
        (_bar(value, threshold, _WIDE), "red" if below else "green"),
        f" {value:.3f} {against}",
    )


def _bar(value: float, threshold: float | None, cells: int) -> str:
    filled = round(value * cells)
    bar = ["█" if cell < filled else "·" for cell in range(cells)]
    if threshold is not None and 0 <= threshold <= 1:
        bar[min(cells - 1, int(threshold * cells))] = "│"
    return "".join(bar)


def _step_text(step: Step | None, *, none: str) -> Text:
    if step is None:
        return Text(none, style="dim")
    text = step.sql or step.action.replace("_", " ")
    return Text.assemble(
        _cut(text, _SQL_KEPT),
        "\n",
        (_cut(_result(step) or "", _RESULT_KEPT), "dim"),
        overflow="fold",
    )


def _result(step: Step) -> str | None:
    return step.observation.text or step.observation.error


def _cut(text: str, length: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def _bare_line(*cells: Text) -> Table:
    number, *others = _WIDTHS
    return _line(*cells, widths=(number, sum(others) + len(others) - 1))


def _line(*cells: Text, widths: Sequence[int] = _WIDTHS) -> Table:
    """Return cells in fixed columns, so that lines printed one by one look like one table."""
    table = Table.grid(padding=(0, 1))
    for width in widths:
        table.add_column(width=width, no_wrap=False)
    table.add_row(*cells)
    return table
