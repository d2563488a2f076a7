"""Items of OpenAI's Responses API and Agents SDK (`openai-responses`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sentinel_sql.trajectory.formats import openai_messages
from sentinel_sql.trajectory.formats.events import (
    Event,
    ToolResult,
    Unread,
    as_mapping,
    name_of,
    unread,
)
from sentinel_sql.trajectory.formats.message_content import part_type, result_of

_CALLS = ("function_call", "custom_tool_call", "mcp_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def events(item: Any) -> Iterator[Event]:
    """Yield the events of one item."""
    fields = as_mapping(item)
    if fields is None:
        yield unread(type(item).__name__, item)
        return
    kind = fields.get("type")
    identity = {"id": name_of(fields.get("call_id")) or name_of(fields.get("id"))}
    if kind in _CALLS:
        yield openai_messages.call_of(fields, identity)
        if kind == "mcp_call":
            failed = fields.get("error")
            output = failed or fields.get("output")
            yield ToolResult(content=result_of(output), id=identity["id"], failed=bool(failed))
    elif kind in _OUTPUTS:
        yield ToolResult(content=result_of(fields.get("output")), id=name_of(fields.get("call_id")))
    elif kind == "reasoning":
        yield Unread(kind="reasoning")
    elif kind in (None, "message") and "role" in fields:
        yield from openai_messages.events(fields)
    else:
        yield unread(name_of(kind) or "item without a type", item)


def marks(item: Any) -> bool:
    """Return whether an item can only be of this form."""
    if not isinstance(item, Mapping):
        return False
    parts = item.get("content")
    return item.get("type") in (*_CALLS, *_OUTPUTS, "reasoning") or (
        item.get("type") == "message"
        and isinstance(parts, list | tuple)
        and any(part_type(part) in ("input_text", "output_text") for part in parts)
    )
