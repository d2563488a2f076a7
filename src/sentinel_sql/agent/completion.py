"""Reads a chat completion, in the forms that servers use, into a `Reply`.

Besides OpenAI's own form it reads an unrequested stream of events, content as a list of parts, text
completions, native tool calls with a query, and reasoning with empty content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentinel_sql.agent.http_calls import Answer, parse_json
from sentinel_sql.agent.model import CutBy, Reply
from sentinel_sql.agent.telemetry import read_first, read_tokens
from sentinel_sql.agent.tool_calls import calls_as_text

_CUT: Mapping[str, CutBy] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "max_new_tokens": "length",
    "max_length": "length",
    "token_limit": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "incomplete": "length",
    "content_filter": "filter",
    "content_filtered": "filter",
    "safety": "filter",
    "recitation": "filter",
    "blocklist": "filter",
    "prohibited_content": "filter",
    "spii": "filter",
    "error": "fault",
    "abort": "fault",
    "aborted": "fault",
    "cancelled": "fault",
    "insufficient_system_resource": "fault",
}
"""Finish reason of an incomplete reply, in lower case → what cut it."""


class UnreadableError(Exception):
    """A completion without a text or a query; the message has the remedy."""


def read_completion(answer: Answer) -> Reply:
    """Return the reply of an answer with status 200.

    Raises:
        UnreadableError: the completion is well formed, but holds no text and no query.
        ValueError, TypeError, KeyError, IndexError, AttributeError: the answer is no completion.
    """
    data = _document(answer)
    if isinstance(data, Mapping) and data.get("error") and not data.get("choices"):
        raise UnreadableError("answers with an error in place of a reply; see the endpoint's log")
    choice = data["choices"][0]
    message = choice.get("message")
    if message is None and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}
    cut = _cut_by(choice)
    text = _text(message)
    if not text.strip():
        raise UnreadableError(_no_text(message, cut))
    usage = data.get("usage") or {}
    content = (choice.get("logprobs") or {}).get("content") or ()
    telemetry = read_tokens(content) if content else None
    return Reply(
        # A reply cut inside a character may end in half a surrogate pair, which has no UTF-8.
        text=text.encode("utf-8", "replace").decode(),
        logprobs=telemetry[0] if telemetry else None,
        entropies=(telemetry[1] or None) if telemetry else None,
        telemetry_unread=bool(content) and telemetry is None,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        seconds=answer.seconds,
        first=read_first(content) if telemetry else (),
        cut_by=cut,
    )


def _document(answer: Answer) -> Any:
    text = answer.text
    events = "text/event-stream" in answer.headers.get("content-type", "")
    if events or text.lstrip().startswith(("data:", "event:", ": ", ":\n")):
        return _join_chunks(list(_events(text)))
    return answer.parsed()


def _events(text: str) -> Iterator[Any]:
    for event in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line[5:] for line in event.split("\n") if line.startswith("data:")]
        data = "\n".join(lines).strip()
        if data == "[DONE]":
            yield None
        elif data:
            yield parse_json(data)


def _join_chunks(events: Sequence[Any]) -> dict[str, Any]:
    """Join the chunks of a stream into one completion."""
    message: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    calls: dict[int, dict[str, Any]] = {}
    logprobs: list[Any] = []
    usage: Any = None
    finish: Any = None
    for chunk in events:
        if chunk is None:
            finish = finish or "stop"
            continue
        if chunk.get("error"):
            return {"error": chunk["error"]}
        usage = chunk.get("usage") or usage
        for choice in (chunk.get("choices") or ())[:1]:
            finish = choice.get("finish_reason") or finish
            logprobs += (choice.get("logprobs") or {}).get("content") or ()
            delta = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
            for name in ("content", "reasoning_content", "reasoning", "refusal"):
                if delta.get(name):
                    texts.setdefault(name, []).append(_join_parts(delta[name]))
            if delta.get("function_call"):
                _add_call(calls.setdefault(-1, {}), delta["function_call"])
            for number, call in enumerate(delta.get("tool_calls") or ()):
                into = calls.setdefault(call.get("index", number), {})
                _add_call(into, call.get("function") or {})
    message = {name: "".join(parts) for name, parts in texts.items()}
    message["tool_calls"] = [{"function": calls[at]} for at in sorted(calls)]
    return {
        "choices": [
            {
                "message": message,
                # A stream without a finish reason was cut off.
                "finish_reason": finish or "error",
                "logprobs": {"content": logprobs},
            }
        ],
        "usage": usage,
    }


def _add_call(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name in ("name", "arguments"):
        value = delta.get(name)
        if isinstance(value, str):
            into[name] = into.get(name, "") + value
        elif value is not None:
            into[name] = value


def _cut_by(choice: Mapping[str, Any]) -> CutBy | None:
    for name in ("finish_reason", "stop_reason", "native_finish_reason"):
        value = choice.get(name)
        if isinstance(value, str):
            reason = value.lower().removeprefix("finish_reason_").replace("-", "_")
            if reason in _CUT:
                return _CUT[reason]
    return None


def _text(message: Mapping[str, Any]) -> str:
    """Return the model's text: its content and its tool call, or else its reasoning or refusal."""
    written = _join_parts(message.get("content"))
    calls = [call.get("function") or call for call in message.get("tool_calls") or ()]
    calls += [message["function_call"]] if message.get("function_call") else []
    query_text = calls_as_text(calls)
    if query_text:
        return f"{written}\n{query_text}".strip()
    if written.strip():
        return written
    for name in ("reasoning_content", "reasoning", "thinking", "refusal"):
        other = _join_parts(message.get(name))
        if other.strip():
            return other
    return _join_parts(message.get("content"), reasoning=True)


def _join_parts(content: Any, *, reasoning: bool = False) -> str:
    """Return a content as text: a text or a list of parts; parts of reasoning only if asked for."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        raise TypeError("content isn't text")
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        thought = part.get("type") in ("thinking", "reasoning", "thought")
        if thought and not reasoning:
            continue
        names = ("text", "content", "output_text", "refusal", "thinking", "reasoning")
        inner = next((part[name] for name in names if part.get(name)), None)
        texts.append(_join_parts(inner, reasoning=reasoning))
    return "".join(texts)


def _no_text(message: Mapping[str, Any], cut: CutBy | None) -> str:
    if message.get("tool_calls") or message.get("function_call"):
        return (
            "replies with a tool call that holds no query, though no tool was offered; serve the "
            "model without its tool parser"
        )
    if cut == "length":
        return "the reply reached --max-tokens before its text began; allow more with --max-tokens"
    if cut == "filter":
        return "the endpoint's content filter withheld the reply; use an endpoint without it"
    return "replies without any text; see that the endpoint serves a chat model with its template"


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53
    return value if is_count else None
