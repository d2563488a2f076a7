"""A guarded run as it happens: each state printed when it is reached, gauges moving below it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.live import Live

from sentinel_sql.decision.guard import guarded
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Answer
from sentinel_sql.report.gauges import State, dials, header, row
from sentinel_sql.trajectory.record import Step

Show = Callable[[State], None]
PACE = 0.4
"""Seconds that a recorded step takes on a terminal, so that an eye can follow."""
_FRAMES = 8


def follow(session: GuardSession, steps: Iterable[Step], show: Show) -> tuple[Answer, list[State]]:
    """Guard a run, and show every state as it is reached."""
    states: list[State] = []

    def tell(step: Step | None) -> None:
        states.append(State.of_verdict(session.verdict, step))
        show(states[-1])

    tell(None)
    for step in guarded(steps, session):
        tell(step)
    answer = session.close()
    if answer.decision != states[-1].decision:
        tell(None)  # the agent ended without a commitment, which only its end could tell
    return answer, states


def answer_json(answer: Answer) -> Mapping[str, Any]:
    """Return how a run ended as JSON-ready data, without its value."""
    told = asdict(answer)
    told.pop("value")
    return {**told, "delivered": answer.delivered}


@contextmanager
def screen(console: Console, *, pace: float) -> Iterator[Show]:
    """Print states one below the other; on a terminal with gauges that move at the bottom.

    Args:
        console: where to.
        pace: seconds that the gauges take to a new state; 0 where the agent sets the pace.
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
def unseen() -> Iterator[Show]:
    """Show nothing, for `--json`."""
    yield lambda state: None  # noqa: ARG005
