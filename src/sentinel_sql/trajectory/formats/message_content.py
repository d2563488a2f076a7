"""Reads the content of a message: a text, or a list of parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sentinel_sql.trajectory.formats.events import Unread, clean, unread

TEXT_PARTS = ("text", "input_text", "output_text", "refusal")
_FIELDS = frozenset(
    {"role", "type", "id", "name", "content", "tool_calls", "function_call", "refusal"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking", "thinking_blocks"}
)
"""Fields of an agent's message that are read, or hold thoughts."""
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")


def text_of(content: Any) -> str:
    """Return the text of a message; of a list of parts, its text parts, one in each line."""
    if isinstance(content, str):
        return clean(content).strip()
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list | tuple):
        return ""
    return "\n".join(part for part in map(_part, content) if part).strip()


def other_parts(content: Any, *, known: Collection[str] = ()) -> Iterator[Unread]:
    """Yield the parts of a message's content that are no text and not of `known` types."""
    if isinstance(content, list | tuple):
        for part in content:
            kind = part_type(part)
            if kind in _THOUGHTS:
                yield Unread(kind=kind)
            elif not _part(part) and kind not in known and not _blank(part):
                yield unread(kind or type(part).__name__, part)
    elif content is not None and not isinstance(content, str | Mapping):
        yield unread(type(content).__name__, content)


def other_fields(message: Mapping[str, Any], *, known: Collection[str] = ()) -> Iterator[Unread]:
    """Yield the fields of an agent's message that hold SQL and aren't read.

    Any record may carry a good deal beside its words and calls; only SQL makes it matter.
    """
    for name, value in message.items():
        if name in _FIELDS or name in known or isinstance(value, bool | int | float):
            continue
        field = unread(f"field {name}", value)
        if field.sql:
            yield field


def result_of(content: Any) -> Any:
    """Return the result of a tool: the text of a list of parts, else the value itself."""
    if isinstance(content, list | tuple) and content and all(map(_is_text_part, content)):
        return text_of(content)
    if _is_text_part(content):
        return text_of(content)
    return "" if content is None else content


def part_type(part: Any) -> str:
    """Return the type of a part of a content, or ""."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return clean(kind) if isinstance(kind, str) else ""


def _is_text_part(part: Any) -> bool:
    return part_type(part) in TEXT_PARTS and isinstance(part.get("text"), str)


def _blank(part: Any) -> bool:
    return part in (None, "") or (part_type(part) in TEXT_PARTS)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return clean(part)
    if isinstance(part, Mapping) and part_type(part) in ("", *TEXT_PARTS):
        words = part.get("text") or part.get("refusal")
        return clean(words) if isinstance(words, str) else ""
    return ""
