"""One run in each form of messages, so that tests can compare what is read from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

FORM_NAMES = ("openai-messages", "openai-responses", "anthropic", "langchain", "react")


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One tool call of an agent: what it says, calls and gets."""

    said: str
    tool: str
    arguments: dict[str, Any]
    result: str
    id: str = "call_0"


@dataclass(frozen=True, kw_only=True)
class Told:
    """A run as a story that every form can tell."""

    question: str
    turns: tuple[Turn, ...]
    closing: str

    def messages(self, form: str) -> list[Any]:
        """Return the run's messages in a form."""
        told = _TELL[form]
        between = [message for turn in self.turns for message in told(turn)]
        return [_user(self.question, form), *between, *_words(self.closing, form)]


def _user(text: str, form: str) -> dict[str, Any]:
    return {"type": "human", "content": text} if form == "langchain" else _message("user", text)


def _message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def _words(text: str, form: str) -> list[dict[str, Any]]:
    if not text:
        return []
    if form == "openai-responses":
        part = {"type": "output_text", "text": text, "annotations": []}
        return [{"type": "message", "id": "m", **_message("assistant", [part])}]
    if form == "anthropic":
        return [_message("assistant", [{"type": "text", "text": text}])]
    if form == "langchain":
        return [{"type": "ai", "data": {"content": text, "tool_calls": []}}]
    return [_message("assistant", f"Final Answer: {text}" if form == "react" else text)]


def _chat(turn: Turn) -> list[dict[str, Any]]:
    function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
    calls = [{"id": turn.id, "type": "function", "function": function}]
    return [
        {**_message("assistant", turn.said or None), "tool_calls": calls},
        {"role": "tool", "tool_call_id": turn.id, "content": turn.result},
    ]


def _responses(turn: Turn) -> list[dict[str, Any]]:
    call = {"name": turn.tool, "arguments": json.dumps(turn.arguments), "call_id": turn.id}
    return [
        *_words(turn.said, "openai-responses"),
        {"type": "function_call", "id": "fc", **call},
        {"type": "function_call_output", "call_id": turn.id, "output": turn.result},
    ]


def _anthropic(turn: Turn) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": turn.id, "name": turn.tool, "input": turn.arguments}
    back = {"type": "text", "text": turn.result}
    answer = {"type": "tool_result", "tool_use_id": turn.id, "content": [back]}
    said = [{"type": "text", "text": turn.said}] if turn.said else []
    return [_message("assistant", [*said, use]), _message("user", [answer])]


def _langchain(turn: Turn) -> list[dict[str, Any]]:
    call = {"name": turn.tool, "args": turn.arguments, "id": turn.id, "type": "tool_call"}
    kwargs = {"content": turn.said, "tool_calls": [call], "type": "ai"}
    path = ["langchain", "schema", "messages", "AIMessage"]
    return [
        {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs},
        {"type": "tool", "content": turn.result, "tool_call_id": turn.id, "status": "success"},
    ]


def _react(turn: Turn) -> list[dict[str, Any]]:
    thought = f"Thought: {turn.said}\n" if turn.said else ""
    call = f"Action: {turn.tool}\nAction Input: {json.dumps(turn.arguments)}"
    return [
        _message("assistant", thought + call),
        _message("user", f"Observation: {turn.result}"),
    ]


_TELL = {
    "openai-messages": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "langchain": _langchain,
    "react": _react,
}
