"""What is read out of the answers that servers give in place of a plain chat completion."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.agent.action import parse_reply
from sentinel_sql.agent.completion import UnreadableError, read_completion
from sentinel_sql.agent.http_calls import Answer
from sentinel_sql.agent.model import Reply

SQL = "SELECT count(*) FROM patients WHERE gender = 'm'"


def answered(message: Any, **choice: Any) -> Answer:
    return Answer(
        status=200, body=json.dumps({"choices": [{"message": message, **choice}]}).encode()
    )


def read(message: Any, **choice: Any) -> Reply:
    return read_completion(answered(message, **choice))


def called(name: str, arguments: Any) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("spelling", "by"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "max_tokens"}, "length"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"finish_reason": "FINISH_REASON_MAX_TOKENS"}, "length"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}, "length"),
        ({"finish_reason": "model_length"}, "length"),
        ({"finish_reason": "content_filter"}, "filter"),
        ({"finish_reason": "SAFETY"}, "filter"),
        ({"finish_reason": "abort"}, "fault"),
        ({"finish_reason": "max_completion_tokens"}, "length"),
        ({"finish_reason": "FinishReason.MAX_TOKENS"}, "length"),
        ({"finish_reason": {"type": "length", "length": 512}}, "length"),
        ({"finish_details": {"type": "max_tokens"}}, "length"),
        ({"finishReason": "MAX_TOKENS"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({"finish_reason": "stop", "stop_type": "limit"}, "length"),
        ({"finish_reason": "stop", "truncated": True}, "length"),
        ({"finish_reason": "sensitive"}, "filter"),
        ({"finish_reason": "repetition"}, "fault"),
        ({"finish_reason": "a reason of next year"}, "fault"),
        ({"finish_reason": "stop", "error": {"code": 502}}, "fault"),
        ({"finish_reason": "stop"}, None),
        ({"finish_reason": {"type": "stop", "matched": 2}}, None),
        ({"finish_reason": "STOP"}, None),
        ({"finish_reason": "stop", "stop_reason": "\nRESULT:"}, None),
        ({"finish_reason": "eos_token"}, None),
        ({"finish_reason": "tool_calls"}, None),
        ({"finish_reason": "stop", "stop_reason": 151645}, None),
        ({}, None),
    ],
)
def test_a_cut_reply_says_by_what_it_was_cut(spelling: dict[str, Any], by: str | None) -> None:
    assert read({"content": f"FINAL_SQL: {SQL}"}, **spelling).cut_by == by


@pytest.mark.parametrize(
    ("beside", "cap", "by"),
    [
        ({"usage": {"completion_tokens": 512}}, 512, "length"),
        ({"usage": {"completion_tokens": 511}}, 512, None),
        ({"usage": {"completion_tokens": 512}}, None, None),
        ({"incomplete_details": {"reason": "max_output_tokens"}}, 512, "length"),
        ({"error": {"code": 502, "message": "gone"}}, 512, "fault"),
    ],
)
def test_a_cut_is_found_though_the_choice_states_no_reason(
    beside: dict[str, Any], cap: int | None, by: str | None
) -> None:
    body = {"choices": [{"message": {"content": f"FINAL_SQL: {SQL}"}}], **beside}
    assert read_completion(Answer(status=200, body=json.dumps(body).encode()), cap=cap).cut_by == by


@pytest.mark.parametrize(
    "message",
    [
        {"content": f"SQL: {SQL}"},
        {"content": [{"type": "text", "text": "SQL: "}, {"type": "text", "text": SQL}]},
        {"content": ["SQL: ", SQL]},
        {"content": {"type": "text", "text": f"SQL: {SQL}"}},
        {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": SQL}]},
        {"content": None, "reasoning_content": f"SQL: {SQL}"},
        {"content": "", "reasoning": f"SQL: {SQL}"},
        {"content": None, "reasoning_text": f"SQL: {SQL}"},
        {"content": "", "reasoning_details": [{"type": "reasoning.text", "text": SQL}]},
        {"content": "", "thinking_blocks": [{"type": "thinking", "thinking": SQL}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": SQL}]}]},
        {"content": None, "function_call": {"name": "q", "arguments": json.dumps({"sql": SQL})}},
        called("run_sql", json.dumps({"query": SQL})),
        called("run_sql", {"query": SQL}),
        called("run_sql", {"text_of_the_query": SQL, "limit": 5}),
        called("execute", SQL),
        called("execute", json.dumps(SQL)),
    ],
)
def test_a_query_is_read_wherever_the_reply_holds_it(message: dict[str, Any]) -> None:
    action = parse_reply(read(message).text)
    assert (action.kind, action.sql) == ("sql", SQL)


@pytest.mark.parametrize("name", ["final_sql", "submit_answer", "final_answer"])
def test_a_tool_for_answers_answers_or_abstains(name: str) -> None:
    action = parse_reply(read(called(name, {"sql": SQL})).text)
    assert (action.kind, action.sql) == ("final_sql", SQL)
    assert parse_reply(read(called(name, {"answer": None})).text).kind == "final_null"


def test_content_beside_a_tool_call_is_the_thought() -> None:
    action = parse_reply(read({**called("run_sql", {"sql": SQL}), "content": "look first"}).text)
    assert (action.thought, action.sql) == ("look first", SQL)


def test_a_refusal_is_the_models_own_words() -> None:
    assert read({"content": None, "refusal": "I can't help."}).text == "I can't help."


@pytest.mark.parametrize(
    ("message", "choice", "remedy"),
    [
        ({"content": None}, {}, "without any text"),
        ({"content": " \n"}, {}, "without any text"),
        ({"content": []}, {}, "without any text"),
        ({"content": "<|im_end|>"}, {}, "template tokens alone"),
        ({"content": "<think>and so on"}, {}, "--max-tokens"),
        ({"content": None}, {"finish_reason": "length"}, "--max-tokens"),
        ({"content": ""}, {"finish_reason": "content_filter"}, "content filter"),
        (called("weather", {"town": "Rome"}), {}, "tool parser"),
        (called("run_sql", '{"sql": "SELECT'), {}, "tool parser"),
    ],
)
def test_a_reply_that_can_not_be_read_is_a_failed_call_with_its_remedy(
    message: dict[str, Any], choice: dict[str, Any], remedy: str
) -> None:
    with pytest.raises(UnreadableError, match=remedy):
        read(message, **choice)


def test_an_error_in_place_of_a_reply_is_a_failed_call() -> None:
    with pytest.raises(UnreadableError, match="error in place of a reply"):
        read_completion(Answer(status=200, body=b'{"error": {"message": "busy", "code": 502}}'))


def stream(*chunks: Any, done: bool = True) -> Answer:
    lines = [f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks]
    body = ": keep-alive\r\n\r\n" + "".join(lines) + ("data: [DONE]\r\n\r\n" if done else "")
    return Answer(status=200, body=body.encode(), headers={"content-type": "text/event-stream"})


@given(st.lists(st.text(max_size=9)).filter(lambda parts: "".join(parts).strip() != ""))
def test_a_stream_is_read_as_the_whole_that_it_makes(parts: list[str]) -> None:
    chunks: list[Any] = [{"choices": [{"delta": {"content": part}}]} for part in parts]
    chunks += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    chunks += [{"choices": [], "usage": {"completion_tokens": 7}}]
    reply = read_completion(stream(*chunks))
    assert (reply.text, reply.cut_by, reply.completion_tokens) == ("".join(parts), None, 7)


def test_a_tool_call_in_a_stream_is_joined() -> None:
    arguments = json.dumps({"sql": SQL})
    chunks: list[Any] = [
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": part}]}}]}
        for part in ({"name": "run", "arguments": ""}, {"arguments": arguments[:9]},
                     {"arguments": arguments[9:]})
    ]  # fmt: skip
    assert parse_reply(read_completion(stream(*chunks)).text).sql == SQL


def test_a_stream_that_just_ends_is_a_cut_reply() -> None:
    chunk = {"choices": [{"delta": {"content": f"FINAL_SQL: {SQL}"}}]}
    assert read_completion(stream(chunk, done=False)).cut_by == "fault"


@pytest.mark.parametrize(
    ("encoding", "header"),
    [
        ("utf-8-sig", "application/json"),
        ("latin-1", "application/json; charset=ISO-8859-1"),
        ("utf-16", "application/json"),
        ("utf-8", 'application/json; charset="nonsense"'),
    ],
)
def test_a_body_is_read_in_its_charset(encoding: str, header: str) -> None:
    text = json.dumps({"choices": [{"message": {"content": "möchte"}}]}, ensure_ascii=False)
    body = text.encode(encoding)
    answer = Answer(status=200, body=body, headers={"content-type": header})
    assert read_completion(answer).text == "möchte"


def test_a_text_completion_is_read() -> None:
    body = json.dumps({"choices": [{"text": f"SQL: {SQL}", "finish_reason": "length"}]})
    reply = read_completion(Answer(status=200, body=body.encode()))
    assert (reply.text, reply.cut_by) == (f"SQL: {SQL}", "length")


@pytest.mark.parametrize("logprob", [0.13, 13, float("nan"), float("inf"), "x", None])
def test_impossible_log_probabilities_are_ignored_and_noted(logprob: Any) -> None:
    reply = read({"content": "x"}, logprobs={"content": [{"logprob": -1.0}, {"logprob": logprob}]})
    assert (reply.logprobs, reply.telemetry_unread) == (None, True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.just(SQL),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "text", "type", "tool_calls", "function", "name",
             "arguments", "sql", "delta", "logprobs", "finish_reason", "usage", "error", "refusal"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_no_message_breaks_the_reader(message: Any) -> None:
    for answer in (answered(message), stream(message), stream({"choices": [{"delta": message}]})):
        try:
            reply = read_completion(answer)
        except (UnreadableError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            continue
        assert reply.text.strip()
