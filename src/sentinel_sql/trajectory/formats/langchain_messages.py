"""LangChain messages (`langchain`): the objects, and each of their JSON forms.

The JSON forms are `{"type": "ai", "data": {…}}`, `{"lc": 1, "type": "constructor", "id": […],
"kwargs": {…}}`, and the flat fields. LangChain itself is never imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sentinel_sql.trajectory.formats import openai_messages
from sentinel_sql.trajectory.formats.events import (
    AgentText,
    Event,
    ToolResult,
    UserTurn,
    name_of,
    unread,
)
from sentinel_sql.trajectory.formats.message_content import (
    other_fields,
    other_parts,
    result_of,
    text_of,
)

_KINDS: Mapping[str, str] = {
    "human": "human",
    "humanmessage": "human",
    "humanmessagechunk": "human",
    "ai": "ai",
    "aimessage": "ai",
    "aimessagechunk": "ai",
    "tool": "tool",
    "toolmessage": "tool",
    "function": "tool",
    "functionmessage": "tool",
    "system": "system",
    "systemmessage": "system",
}
_FIELDS = (
    "content", "tool_calls", "invalid_tool_calls", "additional_kwargs", "tool_call_id", "name",
    "status",
)  # fmt: skip
_REPEATING = ("additional_kwargs", "invalid_tool_calls", "tool_call_chunks", "response_metadata")
"""Fields that are read, or repeat a message's tool calls as they came."""
_LISTED_ELSEWHERE = ("tool_use", "tool_call", "function_call", "input_json_delta")
"""Parts of a content that repeat a message's tool calls."""


def events(item: Any) -> Iterator[Event]:
    """Yield the events of one message."""
    if isinstance(item, Mapping) and "role" in item and "type" not in item:
        # LangChain also accepts such records as messages.
        yield from openai_messages.events(item)
        return
    kind, fields = _kind_and_fields(item)
    content = fields.get("content")
    if kind == "tool":
        yield ToolResult(
            content=result_of(content),
            id=name_of(fields.get("tool_call_id")),
            name=name_of(fields.get("name")),
            failed=fields.get("status") == "error",
        )
    elif kind in ("human", "ai"):
        yield from other_parts(content, known=_LISTED_ELSEWHERE if kind == "ai" else ())
        text = text_of(content)
        if text:
            yield UserTurn(text=text) if kind == "human" else AgentText(text=text)
        if kind == "ai":
            yield from other_fields(fields, known=_REPEATING)
            yield from _calls(fields)
    elif kind != "system":
        yield unread(_type_name(item), item)


def _calls(fields: Mapping[str, Any]) -> Iterator[Event]:
    raw = fields.get("additional_kwargs")
    listed = [
        call
        for key in ("tool_calls", "invalid_tool_calls")
        if isinstance(calls := fields.get(key), list | tuple)
        for call in calls
    ]
    if listed:
        yield from openai_messages.calls({"tool_calls": listed})
    elif isinstance(raw, Mapping):
        yield from openai_messages.calls(raw)
    content = fields.get("content")
    if not listed and isinstance(content, list | tuple):
        for part in content:
            if isinstance(part, Mapping) and part.get("type") in _LISTED_ELSEWHERE:
                yield openai_messages.call_of(part, part)


def _kind_and_fields(item: Any) -> tuple[str | None, Mapping[str, Any]]:
    """Return the kind of a message and its fields; None if it is no message."""
    if not isinstance(item, Mapping):
        kind = _KINDS.get(str(getattr(item, "type", "")).lower())
        return kind, {field: getattr(item, field, None) for field in _FIELDS} if kind else {}
    path = item.get("id")
    if item.get("lc") is not None and isinstance(path, list) and path:
        fields = item.get("kwargs")
        return _KINDS.get(str(path[-1]).lower()), fields if isinstance(fields, Mapping) else {}
    data = item.get("data")
    kind = _KINDS.get(str(item.get("type")).lower())
    return kind, data if isinstance(data, Mapping) else item


def _type_name(item: Any) -> str:
    kind = item.get("type") if isinstance(item, Mapping) else getattr(item, "type", None)
    return name_of(kind) or type(item).__name__


def marks(item: Any) -> bool:
    """Return whether an item can only be of this form."""
    if isinstance(item, Mapping) and "role" in item:
        return False
    return _kind_and_fields(item)[0] is not None
