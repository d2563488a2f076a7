"""A run on the terminal: gauges, and a display that moves."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sentinel_sql.cli.watch import screen
from sentinel_sql.decision.verdict import Verdict
from sentinel_sql.report.terminal.gauges import State, gauge, header, row
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import Observation

unit = st.floats(0, 1)


@given(value=unit, threshold=st.none() | unit)
def test_gauge_is_red_exactly_below_its_threshold(value: float, threshold: float | None) -> None:
    drawn = gauge(value, threshold)
    bar, number = drawn.plain.split("\n")
    assert (drawn.style == "red") == (threshold is not None and value < threshold)
    assert len(bar) == 10
    assert bar.count("│") == (threshold is not None)
    assert abs(bar.count("█") - value * 10) <= 1.5
    assert number == f"{value:.3f}"


@given(low=unit, high=unit)
def test_gauge_never_shrinks_as_its_value_grows(low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert gauge(low, None).plain.count("█") <= gauge(high, None).plain.count("█")


def state(t: int = 1, **changed: object) -> State:
    values: dict[str, object] = {
        "t": t,
        "p_answerable": 0.9,
        "p_correct": 0.4,
        "confidence": None,
        "theta": 0.2,
        "early": 0.3,
        "bar": None,
        "decision": "continue",
        "reason": "undecided",
        "status": "judged",
        "monitor_seconds": 0.0,
    }
    verdict = Verdict(**{**values, **changed})  # type: ignore[arg-type]
    long = Observation(kind="rows", rows=3, columns=9, text="[bold]" + "x" * 500)
    sql = "SELECT '[red]' FROM " + "t" * 300
    return State.of_verdict(verdict, make_step(t, sql=sql, observation=long) if t else None)


@pytest.mark.parametrize(
    "shown",
    [
        state(0),
        state(1),
        state(3, confidence=0.7, bar=0.5, decision="deliver", reason="above-bar"),
        state(
            2,
            p_answerable=None,
            p_correct=None,
            decision="exit",
            reason="missing-telemetry",
            status="unavailable",
        ),
    ],
)
def test_every_state_fits_eighty_columns_and_keeps_its_text(shown: State) -> None:
    sink = io.StringIO()
    console = Console(file=sink, width=80)
    console.print(header())
    console.print(row(shown))
    assert max(map(len, sink.getvalue().splitlines())) <= 80
    assert shown.decision in sink.getvalue()
    assert shown.reason in sink.getvalue()
    assert ("[red]" in sink.getvalue()) == (shown.step is not None)


def test_answer_is_compared_with_the_bar_and_run_with_the_early_stop() -> None:
    assert state(1).correct == (0.4, 0.3)
    assert state(2, confidence=0.7, bar=0.8).correct == (0.7, 0.8)


def test_gauges_move_between_states_and_rows_stay() -> None:
    sink = io.StringIO()
    console = Console(file=sink, width=80, force_terminal=True, legacy_windows=False)
    with screen(console, pace=0.0) as show:
        show(state(0, p_correct=0.2))
        show(state(1, p_correct=0.6))
    told = sink.getvalue()
    # Moved: values between the two states were drawn on the way.
    assert "0.400" in told
    assert told.count("undecided") == 2
    plain = io.StringIO()
    with screen(Console(file=plain, width=80), pace=9.0) as show:
        show(state(0, p_correct=0.2))
        show(state(1, p_correct=0.6))
    assert "\x1b" not in plain.getvalue()
    assert plain.getvalue().count("undecided") == 2
