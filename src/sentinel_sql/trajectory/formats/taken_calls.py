"""Tool calls while their results come in: whose result is whose, and what a call was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sentinel_sql.trajectory.formats.events import ToolCall, ToolResult, as_text, holds_sql
from sentinel_sql.trajectory.formats.tools import CHECKERS, arguments_of, bare_name, query_in
from sentinel_sql.trajectory.record import Step


@dataclass(kw_only=True, slots=True)
class TakenCall:
    """A call and what is known of its result. `batch` counts the turns that calls were made in."""

    call: ToolCall
    sql: str | None
    final: bool
    thought: str | None
    batch: int
    result: ToolResult | None = None
    settled: bool = False
    step: Step | None = None


def owner(result: ToolResult, waiting: list[TakenCall]) -> TakenCall | None:
    """Return the open call that a result belongs to: of equal ids, the newest turn's first."""
    if result.id is not None:
        named = [one for one in waiting if one.call.id == result.id]
        waiting = named or [one for one in waiting if one.call.id is None]
    elif result.name is not None:
        waiting = [one for one in waiting if one.call.name == result.name] or waiting
    newest = max((one.batch for one in waiting), default=0)
    return next((one for one in waiting if one.batch == newest), None)


def ran_well(step: Step) -> bool:
    """Tell whether a step's query ran without an error."""
    return step.observation.kind in ("rows", "empty")


def same_form(sql: str) -> str:
    """Return a query so that two that differ in blanks and closing semicolons are equal."""
    return " ".join(sql.split()).rstrip("; ")


def hides_sql(taken: TakenCall) -> bool:
    """Tell whether a call that was taken for one without SQL is given some after all."""
    if taken.sql or taken.final or bare_name(taken.call.name) in CHECKERS:
        return False
    given = arguments_of(taken.call)
    values: list[Any] = list(given.values()) if isinstance(given, dict) else [given]
    return query_in(given) is not None or any(holds_sql(as_text(value)) for value in values)


def unmatched(calls: list[TakenCall], *, orphaned: bool) -> str | None:
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
