"""ReAct text (`react`): `Thought:`, `Action:`, `Action Input:`, `Observation:`, `Final Answer:`.

It is one whole text, or chat messages with such texts and the observations in user turns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sentinel_sql.trajectory.formats import openai_messages
from sentinel_sql.trajectory.formats.events import (
    AgentText,
    Event,
    ToolCall,
    ToolResult,
    UserTurn,
    as_mapping,
    clean,
    name_of,
)

_LABEL = re.compile(
    r"^[ \t]*\**(Thought|Action Input|Action|Observation|Final Answer|Question)"
    r"[ \t]*\d*\**[ \t]*:\**",
    re.IGNORECASE | re.MULTILINE,
)
_ACTION = re.compile(r"^[ \t]*\**Action[ \t]*\d*\**[ \t]*:", re.IGNORECASE | re.MULTILINE)
_OBSERVATION = re.compile(r"\s*\**Observation[ \t]*\d*\**[ \t]*:", re.IGNORECASE)
_WITH_INPUT = re.compile(r"([\w.\- ]++)[\[(](.*)[\])]\s*\Z", re.DOTALL)
_FENCE = re.compile(r"\A\s*```\w*\n?(.*?)\n?```\s*\Z", re.DOTALL)


def events(item: Any) -> Iterator[Event]:
    """Yield the events of one text, or of one message that holds such a text."""
    if isinstance(item, str):
        yield from _text_events(clean(item))
        return
    for event in openai_messages.events(item):
        if isinstance(event, AgentText):
            yield from _text_events(event.text)
        elif isinstance(event, UserTurn) and _OBSERVATION.match(event.text):
            yield ToolResult(content=_OBSERVATION.sub("", event.text, count=1).strip())
        elif isinstance(event, UserTurn):
            yield UserTurn(text=re.sub(r"\A\s*Question\s*:\s*", "", event.text))
        else:
            yield event


def _text_events(text: str) -> Iterator[Event]:
    labels = list(_LABEL.finditer(text))
    lead = text[: labels[0].start()] if labels else text
    if lead.strip():
        yield AgentText(text=lead.strip())
    action: str | None = None
    for at, label in enumerate(labels):
        end = labels[at + 1].start() if at + 1 < len(labels) else len(text)
        words, kind = text[label.end() : end].strip(), label[1].lower()
        if action is not None and kind != "action input":
            yield _read_action(action)
            action = None
        if kind == "question":
            # A prompt template ends in an empty "Question:".
            if words:
                yield UserTurn(text=words)
        elif kind in ("thought", "final answer"):
            if words:
                yield AgentText(text=words)
        elif kind == "action":
            action = words
        elif kind == "action input":
            yield ToolCall(name=name_of(action) or "tool", arguments=_bare(words))
            action = None
        else:
            yield ToolResult(content=words)
    if action is not None:
        yield _read_action(action)


def _read_action(action: str) -> Event:
    """Read an action that holds its input: `name[input]`, or JSON with `action_input`."""
    try:
        stated = json.loads(_bare(action))
    except (ValueError, RecursionError):
        stated = None
    if isinstance(stated, dict) and "action" in stated:
        name, argument = name_of(stated["action"]) or "tool", stated.get("action_input")
        if name.lower() == "final answer":
            return AgentText(
                text=clean(argument) if isinstance(argument, str) else json.dumps(argument)
            )
        return ToolCall(name=name, arguments=argument)
    inside = _WITH_INPUT.match(action)
    if inside is not None:
        name, argument = inside[1].strip(), inside[2].strip()
        if name.lower() in ("finish", "final answer"):
            return AgentText(text=argument)
        return ToolCall(name=name, arguments=_bare(argument))
    return ToolCall(name=name_of(action) or "tool", arguments="")


def _bare(text: str) -> str:
    fenced = _FENCE.match(text)
    bare = (fenced[1] if fenced else text).strip()
    quoted = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`"
    return bare[1:-1].strip() if quoted and bare[0] not in bare[1:-1] else bare


def marks(item: Any) -> bool:
    """Return whether an item can only be of this form."""
    if isinstance(item, str):
        return _ACTION.search(item) is not None
    fields = as_mapping(item) or {}
    content = fields.get("content")
    return (
        isinstance(item, Mapping)
        and fields.get("role") == "assistant"
        and isinstance(content, str)
        and _ACTION.search(content) is not None
    )
