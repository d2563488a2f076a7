"""Checks what a guard is told by hand, so that a mistake shows where it was made."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from sentinel_sql.decision.verdict import OnUnavailable
from sentinel_sql.errors import InputError
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.agent_identity import agent_of
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion


def require_agent(agent: Any, expected: str) -> None:
    """Refuse what can't be an agent; None is none, and passes.

    Args:
        agent: a record, or a fingerprint.
        expected: fingerprint of the agent that the monitor was fitted on.

    Raises:
        InputError: it is of another type, or a text that is no fingerprint: with that, every
            question would be refused as another agent's.
    """
    if not isinstance(agent, AgentInfo | str | None):
        raise _wrong("agent", agent, "its fingerprint as text, or `Trajectory.agent` itself")
    if isinstance(agent, str) and agent != expected and agent_of(agent) is None:
        raise InputError(
            f"agent={agent!r} is no agent's fingerprint, which is one line of name, model, prompt, "
            "step cap and temperature: give `Trajectory.agent` of a run to guard, or the line that "
            f"`sentinel fit` printed, here [{expected}]"
        )


def require_schema(schema: Any) -> None:
    """Refuse what can't be the schema of a database in use; None is none, and passes.

    Raises:
        InputError: it is of another type, or holds no table.
    """
    if not isinstance(schema, Schema | None):
        raise _wrong("schema", schema, "a Schema, such as `SqliteDatabase.open(path).schema`")
    if schema is not None and not schema.tables:
        raise InputError(
            "schema= holds no table, so no run over it can be judged: open the database that the "
            "agent queries, and give its `schema`"
        )


def known_clock(clock: Any) -> str | None:
    """Return a database's time as monitors write it, such as "2100-12-31 23:59:00".

    Raises:
        InputError: it is no text, or a text that is no time: with that, every question would be
            refused as one of another time.
    """
    if clock is None:
        return None
    if not isinstance(clock, str):
        raise _wrong("clock", clock, 'the time as text, such as "2100-12-31 23:59:00"')
    try:
        return datetime.fromisoformat(clock.strip()).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError as error:
        raise InputError(
            f'clock={clock!r} is no time: write it as "2100-12-31 23:59:00", the clock of the '
            "database in use"
        ) from error


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
