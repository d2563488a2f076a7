"""OpenAI chat messages with `tool_calls` or the older `function_call` (`openai-messages`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sentinel_sql.trajectory.formats.events import (
    AgentText,
    Event,
    ToolCall,
    ToolResult,
    UserTurn,
    as_mapping,
    name_of,
    unread,
)
from sentinel_sql.trajectory.formats.message_content import (
    other_fields,
    other_parts,
    result_of,
    text_of,
)


def events(item: Any) -> Iterator[Event]:
    """Yield the events of one message."""
    message = as_mapping(item)
    if message is None:
        yield unread(type(item).__name__, item)
        return
    role, content = message.get("role"), message.get("content")
    if role in ("tool", "function"):
        yield ToolResult(
            content=result_of(content),
            id=name_of(message.get("tool_call_id")),
            name=name_of(message.get("name")),
        )
    elif role in ("user", "assistant"):
        yield from other_parts(content)
        text = text_of(content)
        if text:
            yield UserTurn(text=text) if role == "user" else AgentText(text=text)
        if role == "assistant":
            yield from other_fields(message)
            yield from calls(message)
    elif role not in ("system", "developer"):
        yield unread(name_of(message.get("type")) or name_of(role) or "item without a role", item)


def calls(message: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the tool calls of an assistant's message."""
    listed = message.get("tool_calls")
    if listed and not isinstance(listed, list | tuple):
        yield unread("tool calls that are no list", listed)
        listed = None
    for call in listed or ():
        if not isinstance(call, Mapping):
            yield unread("tool call that is no record", call)
            continue
        function = call.get("function") or call.get("custom")
        yield call_of(function if isinstance(function, Mapping) else call, call)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        yield call_of(legacy, {})
    elif legacy:
        yield unread("function call that is no record", legacy)


def call_of(function: Mapping[str, Any], call: Mapping[str, Any]) -> ToolCall:
    """Return the call in a record: its `name` with `arguments`, `args` or `input`."""
    stated = (function[key] for key in ("arguments", "args", "input") if key in function)
    return ToolCall(
        name=name_of(function.get("name")) or "tool",
        arguments=next(stated, None),
        id=name_of(call.get("id")),
    )


def marks(item: Any) -> bool:
    """Return whether an item can only be of this form."""
    if not isinstance(item, Mapping):
        return False
    called = item.get("tool_calls") or item.get("function_call")
    return item.get("role") in ("tool", "function") or (
        item.get("role") == "assistant" and bool(called)
    )
