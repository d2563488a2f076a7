"""Checks what a guard is told by hand, so that a mistake shows where it was made."""

from __future__ import annotations

from typing import Any, get_args

from sentinel_sql.decision.verdict import OnUnavailable
from sentinel_sql.errors import InputError
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion


def require_known_world(*, agent: Any = None, schema: Any = None, clock: Any = None) -> None:
    """Refuse what can't be an agent, a schema or a clock; None is none of them, and passes.

    Raises:
        InputError: one is of another type.
    """
    if not isinstance(agent, AgentInfo | str | None):
        raise _wrong("agent", agent, "its fingerprint as text, or `Trajectory.agent` itself")
    if not isinstance(schema, Schema | None):
        raise _wrong("schema", schema, "a Schema, such as `SqliteDatabase.open(path).schema`")
    if not isinstance(clock, str | None):
        raise _wrong("clock", clock, 'the time as text, such as "2100-12-31 23:59:00"')


def require_on_unavailable(choice: Any) -> None:
    """Refuse anything but the two choices: a misspelt one must not let answers pass unjudged.

    Raises:
        InputError: it is none of them.
    """
    choices = get_args(OnUnavailable)
    if choice not in choices:
        raise InputError(f"on_unavailable={choice!r} is no choice: give one of {choices}")


def require_question(question: Any) -> None:
    """Refuse what is neither a question's text nor its record.

    Raises:
        InputError: it is of another type.
    """
    if not isinstance(question, str | AskedQuestion):
        raise _wrong("question", question, "its text, or an AskedQuestion (`Trajectory.question`)")


def _wrong(name: str, given: Any, wanted: str) -> InputError:
    return InputError(f"{name}= can't be of type {type(given).__name__}: give {wanted}")
