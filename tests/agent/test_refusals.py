from __future__ import annotations

import json
from typing import Any

import pytest

from sentinel_sql.agent.http_calls import Answer
from sentinel_sql.agent.openai import OpenAIModel
from sentinel_sql.agent.refusals import refusal
from sentinel_sql.errors import EndpointError


def reply_of(status: int, error: Any = None, tries: int = 1) -> EndpointError:
    body = json.dumps({"error": error}).encode() if error else b""
    return refusal("http://x/v1", Answer(status=status, body=body, tries=tries), timeout=5)


@pytest.mark.parametrize(
    ("status", "told", "for_every_call"),
    [
        (204, "without a chat completion", True),
        (302, "sends elsewhere", True),
        (304, "without a chat completion", True),
        (308, "sends elsewhere", True),
        (400, "refuses the request", False),
        (402, "no credit left", True),
        (405, "no OpenAI-compatible API", True),
        (407, "proxy asks for a user", True),
        (408, "waited too long", False),
        (409, "conflict", False),
        (413, "too large for the server", False),
        (418, "refuses the request", False),
        (422, "as it is written", False),
        (425, "isn't ready", False),
        (429, "too many requests", False),
        (500, "endpoint's log", False),
        (502, "behind the gateway", False),
        (503, "overloaded or still loading", False),
        (504, "gateway waited too long", False),
        (529, "overloaded", False),
    ],
)
def test_each_status_is_explained_by_what_it_means(
    status: int, told: str, for_every_call: bool
) -> None:
    error = reply_of(status)
    assert told in str(error)
    assert f"status {status}" in str(error)
    assert "context" not in str(error)
    assert error.for_every_call is for_every_call


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize(
    "error",
    [
        {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"},
        {"message": "the prompt is too long", "type": "invalid_request_error"},
        {"message": "exceeds the available context size", "type": "exceed_context_size_error"},
    ],
)
def test_the_context_is_blamed_where_the_endpoint_says_so(status: int, error: Any) -> None:
    assert "too long for the model's context" in str(reply_of(status, error))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}),
        (429, {"type": "insufficient_quota", "code": None}),
        (403, {"code": "billing_not_active"}),
        (400, {"message": "Your credit balance is too low to access the API"}),
        (402, {"message": "Insufficient Balance"}),
        (429, {"code": "1113", "message": "insufficient balance"}),
    ],
)
def test_an_account_without_credit_is_named_and_ends_the_run(status: int, error: Any) -> None:
    told = reply_of(status, error)
    assert "no credit left" in str(told)
    assert "workers" not in str(told)
    assert told.for_every_call


def test_a_limit_by_the_minute_is_not_taken_for_billing() -> None:
    error = {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details",
    }
    assert "too many requests" in str(reply_of(429, error))


def test_number_of_tries_is_shown_only_if_above_one() -> None:
    assert "tries" not in str(reply_of(429))
    assert "5 tries" in str(reply_of(429, tries=5))


def test_an_endpoints_words_are_never_repeated() -> None:
    error = {"message": "heparin sk-secret", "code": "bad heparin", "type": "<b>", "param": "pat"}
    for status in (400, 401, 404, 429, 500):
        assert "heparin" not in str(reply_of(status, error))
        assert "secret" not in str(reply_of(status, error))


SECRETS = ["http://me:s3cret@h:9/v1", "http://h:9/v1?key=s3cret", "http://h:9/v1#s3cret",
           "http://me:s3cret@h:x/v1", "me:s3cret@h/v1?api_key=s3cret", "ftp://h/v1?sig=s3cret",
           "http://me:a/s3cret@h/v1", "//me:s3cret@h/v1", "http://h h/v1?s3cret"]  # fmt: skip


@pytest.mark.parametrize("url", SECRETS)
def test_no_message_repeats_a_secret_of_the_address(url: str) -> None:
    with (
        pytest.raises(EndpointError) as caught,
        OpenAIModel(base_url=url, model="m", retries=0, timeout=2) as model,
    ):
        model.complete([{"role": "user", "content": "x"}])
    assert "s3cret" not in str(caught.value)
