"""Tool calls of a run: assigns results to calls, and looks for SQL in arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sentinel_sql.trajectory.formats.events import ToolCall, ToolResult, as_text, holds_sql
from sentinel_sql.trajectory.formats.tools import CHECKERS, arguments_of, bare_name, query_in
from sentinel_sql.trajectory.record import Step


@dataclass(kw_only=True, slots=True)
class OpenCall:
    """A tool call and its result. `batch` counts the agent's turns with calls."""

    call: ToolCall
    sql: str | None
    final: bool
    thought: str | None
    batch: int
    result: ToolResult | None = None
    settled: bool = False
    step: Step | None = None


def owner(result: ToolResult, waiting: list[OpenCall]) -> OpenCall | None:
    """Return the open call of a result: the first of the newest turn with this id or name."""
    if result.id is not None:
        named = [one for one in waiting if one.call.id == result.id]
        waiting = named or [one for one in waiting if one.call.id is None]
    elif result.name is not None:
        waiting = [one for one in waiting if one.call.name == result.name] or waiting
    newest = max((one.batch for one in waiting), default=0)
    return next((one for one in waiting if one.batch == newest), None)


def ran_well(step: Step) -> bool:
    """Return whether a step's query ran without an error."""
    return step.observation.kind in ("rows", "empty")


def same_form(sql: str) -> str:
    """Return a query without differences in blanks and final semicolons."""
    return " ".join(sql.split()).rstrip("; ")


def hides_sql(call: OpenCall) -> bool:
    """Return whether a call without a read query has SQL in its arguments."""
    if call.sql or call.final or bare_name(call.call.name) in CHECKERS:
        return False
    arguments = arguments_of(call.call)
    values: list[Any] = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
    return query_in(arguments) is not None or any(holds_sql(as_text(value)) for value in values)


def unmatched(calls: list[OpenCall], *, orphaned: bool) -> str | None:
    """Say why nobody knows whose result is whose, or return None.

    Args:
        calls: of one run, all settled.
        orphaned: whether a result came that belongs to none of them.
    """
    bare = [one for one in calls if one.sql and one.result is None]
    if bare and orphaned:
        return "a result names a call that isn't there, and a query has no result"
    known = {(one.batch, one.call.id) for one in calls if one.result and one.call.id is not None}
    if any((one.batch, one.call.id) in known for one in bare):
        return "calls side by side share an id, and one of them has no result"
    return None
