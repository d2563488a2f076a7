"""Runs logged as OpenAI-style message lists with tool calls (`openai-messages`).

Each tool call is a step; one that runs no SQL is an exploratory step without SQL, its call told
in the thought. What user and assistant say between two calls goes to the thought of the next
step, so that nothing is seen before it was said; the question is the first user message. The
assistant's words after its last call deliver the newest query that ran: a final step of its own.
Where no query ever ran, those words are an abstention. A log that ends without them hit its cap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.formats.log import LoggedRun
from sentinel_sql.trajectory.formats.results import one_line, read_result
from sentinel_sql.trajectory.record import (
    AgentInfo,
    AskedQuestion,
    Observation,
    Step,
    Trajectory,
    outcome_of,
)

_SAID = 600
"""Characters kept of what was said between two calls, ours."""
_SQL_KEYS = ("query", "sql", "sql_query", "statement", "sql_statement", "command", "code", "input")
_SQL = re.compile(
    r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*|\(\s*)*(?:SELECT|WITH|VALUES|PRAGMA|EXPLAIN|INSERT|UPDATE"
    r"|DELETE|CREATE|DROP|ALTER)\s",
    re.IGNORECASE | re.DOTALL,
)


def read_run(record: Any, model: str, fallback_id: str) -> LoggedRun:
    """Read one run; see the module for how.

    Args:
        record: `{"messages": […], …}` or a bare list of messages. An id is taken from `id`,
            `question_id`, `info.task.task_id`, `task_id` or `task_idx`; with a `trial`, run k of
            question X is `X#k`.
        model: who ran, unless the record says it in `model`.
        fallback_id: the id of a record that has none.

    Raises:
        InputError: no messages, or no question in them.
    """
    fields: Mapping[str, Any] = record if isinstance(record, dict) else {}
    messages = record if isinstance(record, list) else fields.get("messages")
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        raise InputError("no list of messages")
    said_first = next((_content(item) for item in messages if item.get("role") == "user"), "")
    text = _text(fields.get("question")) or said_first.strip()
    if not text:
        raise InputError("no user message, so no question")
    reading = _Reading(messages)
    steps = reading.steps()
    agent = AgentInfo(name="openai-messages", model=_text(fields.get("model")) or model)
    outcome = outcome_of(steps, commit_on_error=agent.commit_on_error)
    trajectory = Trajectory(
        question=AskedQuestion(id=_id(fields, fallback_id), text=text),
        agent=agent,
        steps=steps,
        outcome=outcome,
    )
    return LoggedRun(trajectory=trajectory, notes=tuple(reading.notes))


def question_of(record: Any) -> Mapping[str, Any] | None:
    """Return `id`, `question` and `gold_sql` of a record that carries gold SQL, else None."""
    if not isinstance(record, dict):
        return None
    task = _task(record)
    gold = _text(task.get("gold_sql")) or _text(record.get("gold_sql"))
    identity = _own_id(record)
    asked = _text(task.get("instruction")) or _text(record.get("question"))
    if not asked and isinstance(record.get("messages"), list):
        users = (m for m in record["messages"] if isinstance(m, dict) and m.get("role") == "user")
        asked = _content(next(users, {})).strip()
    if gold is None or identity is None or not asked:
        return None
    return {"id": identity, "question": asked, "gold_sql": gold}


def _task(record: Mapping[str, Any]) -> Mapping[str, Any]:
    info = record.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    return task if isinstance(task, dict) else {}


def _own_id(record: Mapping[str, Any]) -> str | None:
    candidates = (
        record.get("id"),
        record.get("question_id"),
        _task(record).get("task_id"),
        record.get("task_id"),
        record.get("task_idx"),
    )
    return next((found for found in map(_name, candidates) if found), None)


def _id(record: Mapping[str, Any], fallback: str) -> str:
    identity = _own_id(record) or fallback
    trial = _name(record.get("trial"))
    return f"{identity}#{trial}" if trial else identity


def _name(value: Any) -> str | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else _text(value)


def _text(value: Any) -> str | None:
    return _clean(value) if isinstance(value, str) and value.strip() else None


def _clean(text: str) -> str:
    """Replace half surrogate pairs, which have no UTF-8 form."""
    return text.encode("utf-8", "replace").decode()


def _content(message: Mapping[str, Any]) -> str:
    """Return a message's text; of content in parts, the text parts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return _clean("\n".join(part for part in parts if isinstance(part, str)))
    return _clean(content) if isinstance(content, str) else ""


class _Reading:
    """One pass over the messages of one run."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.notes: list[str] = []
        self._messages = messages
        self._by_id: dict[str, str] = {}
        self._in_order: dict[int, list[str]] = {}
        self._gather_results()

    def steps(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        said: list[str] = []
        newest: Step | None = None  # that ran without an error
        asked = False
        delivery: str | None = None
        for position, message in enumerate(self._messages):
            role, content = message.get("role"), _content(message).strip()
            if role == "user":
                if asked and content:
                    said.append(f"USER: {one_line(content, _SAID)}")
                asked = True
            elif role == "assistant":
                calls = list(self._calls(message, position))
                if calls:
                    delivery = None
                elif content and delivery is None:
                    delivery = content
                if content:
                    said.append(f"ASSISTANT: {one_line(content, _SAID)}")
                for name, arguments, result in calls:
                    step = self._step(len(steps) + 1, said, name, arguments, result)
                    said = []
                    steps.append(step)
                    if step.sql is not None and step.observation.kind in ("rows", "empty"):
                        newest = step
        if delivery is not None:
            steps.append(self._delivered(len(steps) + 1, delivery, newest, steps))
        return tuple(steps)

    def _delivered(self, index: int, words: str, newest: Step | None, steps: list[Step]) -> Step:
        thought = one_line(words, _SAID)
        if newest is None:
            if any(step.sql is not None for step in steps):
                self.notes.append("no query ran without an error: an abstention")
            return Step(
                index=index,
                thought=thought,
                action="final_null",
                observation=Observation(kind="none"),
            )
        return Step(
            index=index,
            thought=thought,
            action="final_sql",
            sql=newest.sql,
            observation=newest.observation,
        )

    def _step(
        self, index: int, said: list[str], name: str, arguments: Any, result: str | None
    ) -> Step:
        sql = _sql_in(arguments)
        thought = list(said)
        if sql is None:
            thought.append(f"CALL: {name} {one_line(_shown(arguments), _SAID)}")
        if result is None:
            self.notes.append("a tool call without a result")
            observation = Observation(kind="none")
        elif sql is None:
            observation = Observation(kind="none", text=one_line(result, _SAID))
        else:
            observation = read_result(result)
            if observation.kind == "rows" and observation.rows is None:
                self.notes.append("a result that is no list of rows: kept as text")
        return Step(
            index=index,
            thought="\n".join(thought) or None,
            action="sql",
            sql=sql,
            observation=observation,
        )

    def _gather_results(self) -> None:
        """Keep tool results by the id of their call, and by position for those without one."""
        caller = -1
        for position, message in enumerate(self._messages):
            role = message.get("role")
            if role == "assistant":
                caller = position
            elif role in ("tool", "function"):
                identity = message.get("tool_call_id")
                if isinstance(identity, str) and identity:
                    self._by_id.setdefault(identity, _content(message))
                else:
                    self._in_order.setdefault(caller, []).append(_content(message))

    def _calls(
        self, message: Mapping[str, Any], position: int
    ) -> Iterator[tuple[str, Any, str | None]]:
        """Yield name, arguments and result of each call of one message."""
        listed = message.get("tool_calls")
        calls = (
            [call for call in listed if isinstance(call, dict)]
            if isinstance(listed, list | tuple)
            else []
        )
        legacy = message.get("function_call")
        if isinstance(legacy, dict):
            calls.append({"function": legacy})
        if len(calls) > 1:
            self.notes.append("calls side by side: taken as steps one after the other")
        unnamed = self._in_order.get(position, [])
        for call in calls:
            function = call.get("function")
            function = function if isinstance(function, dict) else call
            identity = call.get("id")
            result = self._by_id.pop(identity, None) if isinstance(identity, str) else None
            if result is None and unnamed:
                result = unnamed.pop(0)
            name = _text(function.get("name")) or "tool"
            yield name, self._arguments(function.get("arguments")), result

    def _arguments(self, arguments: Any) -> Any:
        if not isinstance(arguments, str):
            return arguments
        try:
            return json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            self.notes.append("arguments that are no JSON: kept as text")
            return arguments


def _sql_in(arguments: Any) -> str | None:
    """Return the SQL among a call's arguments, or None where it runs none."""
    if isinstance(arguments, str):
        return _sql(arguments)
    if not isinstance(arguments, dict):
        return None
    named = [arguments[key] for key in _SQL_KEYS if key in arguments]
    return next((sql for sql in map(_sql, [*named, *arguments.values()]) if sql), None)


def _sql(value: Any) -> str | None:
    return _clean(value).strip() if isinstance(value, str) and _SQL.match(value) else None


def _shown(arguments: Any) -> str:
    if isinstance(arguments, str):
        return _clean(arguments)
    return _clean(json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str))
