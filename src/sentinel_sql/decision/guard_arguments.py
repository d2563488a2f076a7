"""Checks the arguments of a guard, so that a mistake is reported at the call that made it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from inspect import iscoroutinefunction
from typing import Any, get_args

from sentinel_sql.decision.verdict import OnUnavailable
from sentinel_sql.errors import InputError
from sentinel_sql.result_line import whole_characters
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.agent_identity import agent_of
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion


def require_agent(agent: Any, expected: str) -> None:
    """Refuse an argument that can't be an agent; None passes.

    Args:
        agent: its record, or its fingerprint.
        expected: fingerprint of the agent that the monitor was fitted on.

    Raises:
        InputError: the argument is of another type, or a text that is no fingerprint. Such a
            text would make the guard refuse every question.
    """
    if not isinstance(agent, AgentInfo | str | None):
        raise _type_error("agent", agent, "its fingerprint as text, or `Trajectory.agent` itself")
    if isinstance(agent, str) and agent != expected and agent_of(agent) is None:
        raise InputError(
            f"agent={agent!r} is no agent's fingerprint, which is one line of name, model, prompt, "
            "step cap and temperature: give `Trajectory.agent` of a run to guard, or the line that "
            f"`sentinel fit` printed, here [{expected}]"
        )


def turns(history: Any) -> tuple[str, ...]:
    """Return the earlier turns of a chat as texts.

    Raises:
        InputError: the argument is one text, or holds something else than texts.
    """
    if isinstance(history, str) or not isinstance(history, Sequence):
        raise _type_error("history", history, "the earlier turns as a list of texts, oldest first")
    for turn in history:
        if not isinstance(turn, str):
            raise _type_error("history", turn, "the earlier turns as texts, oldest first")
    return tuple(whole_characters(turn) for turn in history)


def require_ask(ask: Any) -> None:
    """Refuse what can't be called for the model's own chance; None passes.

    Raises:
        InputError: the argument is no function, or an asynchronous one, which nobody would await.
    """
    if ask is not None and not callable(ask):
        raise _type_error("ask", ask, "a function of the question and the step")
    if iscoroutinefunction(ask):
        raise InputError("ask= is asynchronous, and nobody awaits it: give a plain function")


def require_schema(schema: Any) -> None:
    """Refuse an argument that can't be the schema of a database; None passes.

    Raises:
        InputError: the argument is of another type, or a schema without tables.
    """
    if not isinstance(schema, Schema | None):
        raise _type_error("schema", schema, "a Schema, such as `SqliteDatabase.open(path).schema`")
    if schema is not None and not schema.tables:
        raise InputError(
            "schema= holds no table, so no run over it can be judged: open the database that the "
            "agent queries, and give its `schema`"
        )


def known_clock(clock: Any) -> str | None:
    """Return a database's time in the form that monitors use, such as "2100-12-31 23:59:00".

    Raises:
        InputError: the argument is no text, or a text that is no time. Such a text would make
            the guard refuse every question.
    """
    if clock is None:
        return None
    if not isinstance(clock, str):
        raise _type_error("clock", clock, 'the time as text, such as "2100-12-31 23:59:00"')
    try:
        return datetime.fromisoformat(clock.strip()).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError as error:
        raise InputError(
            f'clock={clock!r} is no time: write it as "2100-12-31 23:59:00", the clock of the '
            "database in use"
        ) from error


def require_text(name: str, given: Any, example: str) -> None:
    """Refuse an argument that is no text; None passes.

    Raises:
        InputError: the argument is of another type.
    """
    if not isinstance(given, str | None):
        raise _type_error(name, given, f"a text, {example}")


def require_on_unavailable(choice: Any) -> None:
    """Refuse anything but the two choices, so that a misspelt one never delivers unjudged answers.

    Raises:
        InputError: the argument is neither of them.
    """
    choices = get_args(OnUnavailable)
    if choice not in choices:
        raise InputError(f"on_unavailable={choice!r} is no choice: give one of {choices}")


def require_flag(name: str, flag: Any) -> None:
    """Refuse an argument that isn't True or False.

    Raises:
        InputError: the argument is of another type.
    """
    if not isinstance(flag, bool):
        raise _type_error(name, flag, "True or False")


def require_question(question: Any) -> None:
    """Refuse an argument that is neither a question's text nor its record.

    Raises:
        InputError: the argument is of another type.
    """
    if not isinstance(question, str | AskedQuestion):
        raise _type_error(
            "question", question, "its text, or an AskedQuestion (`Trajectory.question`)"
        )


def _type_error(name: str, given: Any, wanted: str) -> InputError:
    return InputError(f"{name}= can't be of type {type(given).__name__}: give {wanted}")
