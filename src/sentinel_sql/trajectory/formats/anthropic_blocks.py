"""Anthropic messages with `tool_use` and `tool_result` blocks (`anthropic`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sentinel_sql.trajectory.formats import openai_messages
from sentinel_sql.trajectory.formats.events import (
    AgentText,
    Event,
    ToolResult,
    Unread,
    UserTurn,
    as_mapping,
    name_of,
    unread,
)
from sentinel_sql.trajectory.formats.message_content import (
    other_fields,
    other_parts,
    part_type,
    result_of,
    text_of,
)

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESULTS = ("tool_result", "mcp_tool_result")


def events(item: Any) -> Iterator[Event]:
    """Yield the events of one message, block by block."""
    message = as_mapping(item)
    if message is None:
        yield unread(type(item).__name__, item)
        return
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        if role not in ("system", "developer"):
            yield unread(name_of(role) or "item without a role", item)
        return
    for field in ("tool_calls", "function_call"):
        if message.get(field):
            yield unread(field, message[field])
    if role == "assistant":
        yield from other_fields(message)
    blocks = content if isinstance(content, list | tuple) else [content]
    has_results = role == "user" and any(part_type(block) in _RESULTS for block in blocks)
    for item_block in blocks:
        block = as_mapping(item_block) or {}
        kind = part_type(block)
        if kind in _CALLS:
            yield openai_messages.call_of(block, block)
        elif kind in _RESULTS:
            yield ToolResult(
                content=result_of(block.get("content")),
                id=name_of(block.get("tool_use_id")),
                failed=block.get("is_error") is True,
            )
        else:
            yield from other_parts([block or item_block])
            text = text_of(block or item_block)
            if text and has_results:
                # Frameworks put their own reminders there; the user has no turn before the answer.
                yield Unread(kind="text beside a tool result")
            elif text:
                yield UserTurn(text=text) if role == "user" else AgentText(text=text)


def marks(item: Any) -> bool:
    """Return whether an item can only be of this form."""
    if not isinstance(item, Mapping):
        return False
    content = item.get("content")
    return (
        item.get("role") in ("user", "assistant")
        and isinstance(content, list | tuple)
        and any(part_type(block) in (*_CALLS, *_RESULTS) for block in content)
    )
