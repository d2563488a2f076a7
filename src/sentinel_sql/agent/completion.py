"""Reads a chat completion, in the forms that servers use, into a `Reply`.

Besides OpenAI's own form it reads an unrequested stream of events, content as a list of parts, text
completions, native tool calls with a query, and reasoning with empty content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentinel_sql.agent.http_calls import Answer, parse_json
from sentinel_sql.agent.model import CutBy, Reply
from sentinel_sql.agent.telemetry import read_first, read_tokens
from sentinel_sql.agent.template_tokens import MARKER, strip_template
from sentinel_sql.agent.tool_calls import calls_as_text

_WHOLE = frozenset(
    {"stop", "stopped", "stop_sequence", "stop_token", "end_turn", "eos", "eos_token", "end"}
    | {"complete", "completed", "finished", "done", "tool_call", "tool_calls", "tool_use"}
    | {"function_call", "refusal"}
)
"""How servers say that a reply is whole, in lower case. Any other reason cuts it: new reasons come,
and a query that lacks its end must not pass for an answer."""

_CUT_BY: Mapping[CutBy, re.Pattern[str]] = {
    "length": re.compile(r"length|limit|tokens|context|incomplete|truncat"),
    "filter": re.compile(r"filter|safety|recitation|block|prohibited|spii|sensitiv|toxic"),
}
"""By what a reply was cut, told by its reason; by a fault where it is none of these."""

_REASONS = ("finish_reason", "finishReason", "done_reason")
_REASONING = (
    *("reasoning_content", "reasoning", "reasoning_text", "thinking"),
    *("reasoning_details", "thinking_blocks"),
)
"""Fields in which servers put what a model thinks."""

_MATCHED = ("stop_reason", "native_finish_reason", "stop_type")
"""Fields that may also hold the stop text that was met, so only words of a cut count in them."""


class UnreadableError(Exception):
    """A completion without a text or a query; the message has the remedy."""


def read_completion(answer: Answer, *, cap: int | None = None) -> Reply:
    """Return the reply of an answer with status 200.

    Args:
        answer: of the endpoint.
        cap: the longest reply that was asked for, in tokens, if any.

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
    cut = _cut_by(data, choice, cap)
    text, reasoning = _text(message)
    if not text.strip() or (cut is None and _is_blank(text)):
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
        reasoning=reasoning,
    )


def _document(answer: Answer) -> Any:
    text = answer.text
    events = "text/event-stream" in answer.headers.get("content-type", "")
    if events or text.lstrip().startswith(("data:", "event:", ": ", ":\n")):
        return _join_chunks(list(_events(text)))
    return answer.parsed()


def _events(text: str) -> Iterator[Any]:
    for event in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
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
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            finish = choice.get("finish_reason") or finish
            logprobs += (choice.get("logprobs") or {}).get("content") or ()
            delta = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
            for name in ("content", "refusal", *_REASONING):
                if delta.get(name):
                    reasoning = name in _REASONING
                    texts.setdefault(name, []).append(_join_parts(delta[name], reasoning=reasoning))
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


def _cut_by(data: Mapping[str, Any], choice: Mapping[str, Any], cap: int | None) -> CutBy | None:
    """Say by what a reply was cut; None for a whole one."""
    stated = [_spelled(choice.get(name)) for name in _REASONS]
    details = choice.get("finish_details"), data.get("incomplete_details")
    stated += [
        _spelled(one.get(name))
        for one in details
        if isinstance(one, Mapping)
        for name in ("type", "reason")
    ]
    for reason in filter(None, stated):
        if reason not in _WHOLE:
            return _kind_of_cut(reason) or "fault"
    for reason in filter(None, (_spelled(choice.get(name)) for name in _MATCHED)):
        if reason not in _WHOLE and (kind := _kind_of_cut(reason)):
            return kind
    if choice.get("error") or data.get("error"):
        return "fault"
    if data.get("truncated") is True or choice.get("truncated") is True:
        return "length"
    if any(stated) or cap is None:
        return None
    # a server that states no reason may have stopped at the cap
    usage = data.get("usage")
    written = _count(usage.get("completion_tokens")) if isinstance(usage, Mapping) else None
    return "length" if (written or 0) >= cap else None


def _spelled(reason: object) -> str:
    """Return a stated reason in lower case, without the name of its kind."""
    if isinstance(reason, Mapping):
        reason = reason.get("type")
    if not isinstance(reason, str):
        return ""
    bare = reason.rpartition(".")[2].strip().lower().replace("-", "_")
    return bare.removeprefix("finish_reason_")


def _kind_of_cut(reason: str) -> CutBy | None:
    return next((kind for kind, words in _CUT_BY.items() if words.search(reason)), None)


def _text(message: Mapping[str, Any]) -> tuple[str, bool]:
    """Return what the model wrote: its content, then its tool call; else reasoning or refusal.

    The flag says that it is reasoning alone.
    """
    written = _join_parts(message.get("content"))
    calls = [call.get("function") or call for call in message.get("tool_calls") or ()]
    calls += [message["function_call"]] if message.get("function_call") else []
    called = calls_as_text(calls)
    if called:
        return f"{written}\n{called}".strip(), False
    if written.strip():
        return written, False
    for name in ("refusal", *_REASONING):
        other = _join_parts(message.get(name), reasoning=True)
        if other.strip():
            return other, name != "refusal"
    return _join_parts(message.get("content"), reasoning=True), True


def _is_blank(text: str) -> bool:
    """Tell whether nothing is left without thinking and the tokens of a chat template."""
    return not MARKER.sub("", strip_template(text)).strip()


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
        kind = part.get("type")
        thought = isinstance(kind, str) and kind.startswith(("thinking", "reasoning", "thought"))
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
    if _join_parts(message.get("content"), reasoning=True).strip():
        return (
            "replies with thinking or template tokens alone; allow more with --max-tokens, or "
            "serve the model with its own chat template"
        )
    return "replies without any text; see that the endpoint serves a chat model with its template"


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53
    return value if is_count else None
