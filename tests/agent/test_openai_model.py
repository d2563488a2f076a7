from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.utils import formatdate
from typing import Any

import pytest

from sentinel_sql.agent import endpoint as endpoint_module
from sentinel_sql.agent.model import Message
from sentinel_sql.agent.openai import OpenAIModel, list_models
from sentinel_sql.errors import EndpointError, InputError
from sentinel_sql.testing import ScriptedEndpoint

CHAT: list[Message] = [{"role": "user", "content": "how many got heparin?"}]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between tries, which are noted and not taken."""
    taken: list[float] = []
    monkeypatch.setattr(endpoint_module.time, "sleep", taken.append)
    return taken


@contextmanager
def model(url: str, **settings: Any) -> Iterator[OpenAIModel]:
    with closing(
        OpenAIModel(**{"base_url": url, "model": "m", "timeout": 5.0, **settings})
    ) as made:
        yield made


def faults(*answers: int | bytes | None) -> Any:
    return lambda number, _: answers[number] if number < len(answers) else None


def test_a_reply_comes_with_its_telemetry_and_costs() -> None:
    with ScriptedEndpoint(["SQL: SELECT 1"], latency=0.02) as endpoint, model(endpoint.url) as m:
        reply = m.complete(CHAT)
    assert reply.text == "SQL: SELECT 1"
    assert reply.logprobs == (-0.5,) * 3
    assert reply.entropies is not None
    assert len(reply.entropies) == 3
    assert (reply.prompt_tokens, reply.completion_tokens) == (100, 3)
    assert 0.02 <= reply.seconds < 5


def test_the_request_asks_for_what_the_settings_say() -> None:
    with (
        ScriptedEndpoint(["x"]) as endpoint,
        model(endpoint.url, temperature=0.5, max_tokens=9, seed=3) as m,
    ):
        m.complete(CHAT)
    assert endpoint.requests == [
        {
            "model": "m",
            "temperature": 0.5,
            "max_tokens": 9,
            "seed": 3,
            "messages": CHAT,
            "logprobs": True,
            "top_logprobs": 5,
            "stop": ["\nRESULT:"],
            "stream": False,
        }
    ]


def test_log_probabilities_are_given_up_for_good_where_they_are_refused() -> None:
    with ScriptedEndpoint(["x"], logprobs=False) as endpoint, model(endpoint.url) as m:
        assert m.complete(CHAT).logprobs is None
        assert m.complete(CHAT).text == "x"
    assert ["logprobs" in request for request in endpoint.requests] == [True, False, False]


def test_another_refusal_does_not_cost_the_log_probabilities() -> None:
    with (
        ScriptedEndpoint(["x"], fault=faults(400, 400, 400)) as endpoint,
        model(endpoint.url) as m,
    ):
        with pytest.raises(EndpointError, match="status 400, scripted_fault"):
            m.complete(CHAT)
        assert m.complete(CHAT).logprobs is not None


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_fault_is_tried_again_after_doubling_pauses(
    pauses: list[float], status: int
) -> None:
    with (
        ScriptedEndpoint(["x"], fault=faults(status, status, status)) as endpoint,
        model(endpoint.url) as m,
    ):
        assert m.complete(CHAT).text == "x"
    assert len(pauses) == 3
    for pause, longest in zip(pauses, (0.5, 1.0, 2.0), strict=True):
        assert 0.75 * longest <= pause <= longest


@pytest.mark.parametrize("status", [400, 401, 403, 404, 307])
def test_a_lasting_fault_is_not_tried_again(pauses: list[float], status: int) -> None:
    with (
        ScriptedEndpoint(["x"], fault=lambda *_: status) as endpoint,
        model(endpoint.url) as m,
        pytest.raises(EndpointError, match=str(status)),
    ):
        m.complete(CHAT)
    assert pauses == []


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("7", 7, 7),
        ("0.25", 0.25, 0.25),
        ("soon", 0.3, 0.5),
    ],
)
def test_the_endpoints_own_pause_is_kept(
    pauses: list[float], value: str, least: float, most: float
) -> None:
    headers = [("Retry-After", value)]
    with (
        ScriptedEndpoint(["x"], fault=faults(429), headers=headers) as endpoint,
        model(endpoint.url) as m,
    ):
        m.complete(CHAT)
    assert len(pauses) == 1
    assert least <= pauses[0] <= most


def test_a_date_to_come_back_at_is_kept(pauses: list[float]) -> None:
    back = formatdate(time.time() + 100, usegmt=True)
    with (
        ScriptedEndpoint(["x"], fault=faults(429), headers=[("Retry-After", back)]) as endpoint,
        model(endpoint.url) as m,
    ):
        m.complete(CHAT)
    assert len(pauses) == 1
    assert 1 <= pauses[0] <= 101


def test_an_endpoint_that_asks_for_an_hour_is_not_waited_for(pauses: list[float]) -> None:
    with (
        ScriptedEndpoint(["x"], fault=faults(429), headers=[("Retry-After", "3600")]) as endpoint,
        model(endpoint.url) as m,
        pytest.raises(EndpointError, match="429"),
    ):
        m.complete(CHAT)
    assert pauses == []


@pytest.mark.parametrize(
    ("status", "told", "for_every_call"),
    [
        (401, "set OPENAI_API_KEY", True),
        (403, "set OPENAI_API_KEY", True),
        (404, "knows no model 'm'", True),
        (307, "sends elsewhere", True),
        (429, "fewer workers", False),
        (500, "endpoint's log", False),
        (413, "too large for the server", False),
    ],
)
def test_a_refusal_is_one_line_with_address_and_remedy(
    pauses: list[float], status: int, told: str, for_every_call: bool
) -> None:
    with (
        ScriptedEndpoint(["x"], fault=lambda *_: status) as endpoint,
        model(endpoint.url, retries=1) as m,
        pytest.raises(EndpointError) as caught,
    ):
        m.complete(CHAT)
    message = str(caught.value)
    assert endpoint.url in message
    assert told in message
    assert "\n" not in message
    assert caught.value.for_every_call is for_every_call


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>hello</html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": null}]}',
     b'{"choices": [{"message": {"content": 5}}]}', b'{"choices": {"0": 1}}', b"\xff\xfe",
     b"[" * 100_000,
     b'{"choices": [{"message": {"content": "heparin"}}], "usage": "heparin"}'],
)  # fmt: skip
def test_a_nonsense_answer_is_named_and_not_quoted(body: bytes) -> None:
    with (
        ScriptedEndpoint(["x"], fault=faults(body)) as endpoint,
        model(endpoint.url) as m,
        pytest.raises(EndpointError, match="not of an OpenAI-compatible API") as caught,
    ):
        m.complete(CHAT)
    assert caught.value.for_every_call
    assert "heparin" not in str(caught.value)


def completion(**choice: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": "x"}, **choice}]}).encode()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (completion(), "x"),
        (completion(logprobs=None), "x"),
        (completion(logprobs={"content": [{"no": 1}]}), "x"),
        (completion(message={"content": "cut \ud83d"}), "cut ?"),
    ],
)
def test_a_sparse_completion_is_enough(body: bytes, text: str) -> None:
    with ScriptedEndpoint(["-"], fault=faults(body)) as endpoint, model(endpoint.url) as m:
        reply = m.complete(CHAT)
    assert (reply.text, reply.logprobs, reply.completion_tokens) == (text, None, None)


def test_an_endpoint_that_is_down_is_named(pauses: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with (
        model(url, retries=2) as m,
        pytest.raises(EndpointError, match=f"{url}: no connection in 3 tries") as caught,
    ):
        m.complete(CHAT)
    assert caught.value.for_every_call
    assert len(pauses) == 2


def test_a_slow_answer_ends_at_the_time_limit() -> None:
    started = time.monotonic()
    with (
        ScriptedEndpoint(["x"], latency=30) as endpoint,
        model(endpoint.url, timeout=0.3, retries=0) as m,
        pytest.raises(EndpointError, match=r"no answer within 0\.3 s in 1 try"),
    ):
        m.complete(CHAT)
    assert time.monotonic() - started < 25


def test_an_answer_that_trickles_ends_at_the_time_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                try:
                    while True:
                        connection.sendall(b" ")
                        time.sleep(0.05)
                except OSError:
                    pass

        thread = threading.Thread(target=drip)
        thread.start()
        with (
            model(f"http://127.0.0.1:{server.getsockname()[1]}/v1", timeout=0.5, retries=0) as m,
            pytest.raises(EndpointError, match=r"no answer within 0\.5 s"),
        ):
            m.complete(CHAT)
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://x/v1", "http://", "http://[x/v1"])
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(EndpointError, match="no base URL"):
        OpenAIModel(base_url=url, model="m")


def test_a_password_in_the_address_is_never_shown(pauses: list[float]) -> None:
    with (
        model("http://me:secret@127.0.0.1:9/v1", retries=0) as m,
        pytest.raises(EndpointError) as caught,
    ):
        m.complete(CHAT)
    assert "secret" not in str(caught.value)


def test_the_key_is_sent_to_the_endpoint_and_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer_once() -> None:
            connection, _ = server.accept()
            with connection:
                seen.append(connection.recv(65536))
                body = completion()
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body)

        thread = threading.Thread(target=answer_once)
        thread.start()
        monkeypatch.setenv("OPENAI_API_KEY", "k-123\n")
        with model(f"http://127.0.0.1:{server.getsockname()[1]}/v1/") as m:
            m.complete(CHAT)
        thread.join(10)
    head = seen[0].split(b"\r\n\r\n")[0]
    assert head.startswith(b"POST /v1/chat/completions ")
    assert b"Authorization: Bearer k-123" in head


def test_a_key_that_would_break_the_request_is_refused_and_not_shown() -> None:
    with pytest.raises(EndpointError, match="OPENAI_API_KEY") as caught:
        OpenAIModel(base_url="http://127.0.0.1:9/v1", model="m", api_key="k-1\r\nHost: elsewhere")
    assert "k-1" not in str(caught.value)


def test_models_are_listed() -> None:
    listing = b'{"object": "list", "data": [{"id": "a"}, {"id": "b"}]}'
    with ScriptedEndpoint(["x"], fault=faults(listing, b"[]", 404)) as endpoint:
        assert list_models(endpoint.url) == ("a", "b")
        with pytest.raises(EndpointError, match="not of an OpenAI-compatible API"):
            list_models(endpoint.url)
        with pytest.raises(EndpointError, match="404"):
            list_models(endpoint.url)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_time_limit_that_can_not_be_kept_is_refused_at_once(seconds: float) -> None:
    with pytest.raises(InputError, match="time limit"):
        OpenAIModel(base_url="http://127.0.0.1:1/v1", model="m", timeout=seconds)


@pytest.mark.parametrize("told", [-4, 10**400, 2.5, "7", None])
def test_a_count_of_tokens_that_is_none_is_left_out(told: object) -> None:
    answer = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": told}}
    fault = faults(json.dumps(answer).encode())
    with ScriptedEndpoint(["x"], fault=fault) as endpoint, model(endpoint.url) as m:
        assert m.complete(CHAT).prompt_tokens is None
