"""Asks the agent's own model what it thinks of its answer, through a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from sentinel_sql.trajectory.record import AskedQuestion, Step

Ask = Callable[[AskedQuestion, Step], float | None]
"""Called once with the question and the step that commits to an answer. Returns the chance in
[0, 1] that the answer is right, or None if it doesn't know."""


def asked_about(ask: Ask, question: AskedQuestion, step: Step) -> Step:
    """Return the step with what the model says of it; unchanged if the function fails."""
    with suppress(Exception):  # a model that fails is no exception in the user's loop
        chance = ask(question, step)
        if chance is not None and 0.0 <= float(chance) <= 1.0:
            return step.model_copy(update={"p_true": float(chance)})
    return step
