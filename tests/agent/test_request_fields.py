"""Endpoints that refuse fields, as a small simulation of their answers."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.agent.http_calls import Answer
from sentinel_sql.agent.request_fields import Form, RequestFields

LADDERS: dict[str, list[Form]] = {
    "logprobs": [{"logprobs": True, "top_logprobs": 5}, {"logprobs": True}, {}],
    "stop": [{"stop": ["x"]}, {}],
    "seed": [{"seed": 0}, {}],
    "temperature": [{"temperature": 0.0}, {}],
    "max_tokens": [{"max_tokens": 9}, {"max_completion_tokens": 9}, {}],
    "stream": [{"stream": False}, {}],
}
FIELDS = ["logprobs", "top_logprobs", "stop", "seed", "temperature", "max_tokens", "stream"]


class Picky:
    """Answers with 400 while a request holds a field that it doesn't take."""

    def __init__(self, *refused: str, says: Any = "{field} is not supported") -> None:
        self.refused = refused
        self.says = says
        self.requests: list[Form] = []

    def __call__(self, body: Form) -> Answer:
        self.requests.append(body)
        for field in self.refused:
            if field in body:
                reply_of = self.says.format(field=field) if isinstance(self.says, str) else None
                error = {"error": {"message": reply_of or "bad request"}}
                return Answer(status=400, body=json.dumps(error).encode())
        return Answer(status=200, body=b"{}")


def taken_after(endpoint: Picky) -> set[str]:
    fields = RequestFields(LADDERS)
    assert fields.ask({}, endpoint).status == 200
    first = len(endpoint.requests)
    assert fields.ask({}, endpoint).status == 200
    assert len(endpoint.requests) == first + 1, "what was learned is asked for once"
    return set(endpoint.requests[-1])


@pytest.mark.parametrize("says", ["{field} is not supported", "Unrecognized: '{field}'.", None])
@given(refused=st.sets(st.sampled_from(FIELDS)))
def test_exactly_the_refused_fields_are_left_out(says: str | None, refused: set[str]) -> None:
    kept = set(FIELDS) - refused
    if "logprobs" in refused:
        kept -= {"top_logprobs"}
    if "max_tokens" in refused:
        kept |= {"max_completion_tokens"}
    assert taken_after(Picky(*sorted(refused), says=says)) == kept


def test_the_cap_is_renamed_where_its_name_is_refused() -> None:
    says = "Unsupported parameter: '{field}'. Use 'max_completion_tokens' instead."
    assert "max_completion_tokens" in taken_after(Picky("max_tokens", says=says))


@pytest.mark.parametrize("status", [403, 404, 501])
def test_a_refusal_of_another_status_counts_where_it_names_a_field(status: int) -> None:
    def naming(body: Form) -> Answer:
        refused = {"error": {"message": "You are not allowed to request logprobs from this model"}}
        said = json.dumps(refused).encode()
        return Answer(status=status, body=said) if "logprobs" in body else Answer(status=200)

    def silent(body: Form) -> Answer:
        return Answer(status=status, body=b'{"error": {"message": "no such model"}}')

    fields = RequestFields(LADDERS)
    assert fields.ask({}, naming).status == 200
    assert fields.adapted == ("logprobs and top_logprobs left out",)
    fields = RequestFields(LADDERS)
    assert (fields.ask({}, silent).status, fields.adapted) == (status, ())


def test_a_fastapi_error_names_its_field() -> None:
    def post(body: Form) -> Answer:
        detail = [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
        refused = json.dumps({"detail": detail}).encode()
        return Answer(status=422 if "seed" in body else 200, body=refused)

    fields = RequestFields(LADDERS)
    assert fields.ask({}, post).status == 200
    assert fields.adapted == ("seed left out",)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens, but max_tokens asks for 512 more",
        "the request exceeds the available context size",
        "'max_tokens' is too large: 512. The maximum value is 256.",
    ],
)
def test_a_chat_or_a_cap_that_is_too_long_costs_no_field(message: str) -> None:
    fields = RequestFields(LADDERS)
    body = json.dumps({"error": {"message": message}}).encode()
    assert fields.ask({}, lambda _: Answer(status=400, body=body)).status == 400
    assert fields.adapted == ()


def test_a_refusal_for_another_reason_costs_no_field() -> None:
    fields = RequestFields(LADDERS)
    refused = iter([True, True, True])

    def post(_: Form) -> Answer:
        return Answer(status=400 if next(refused, False) else 200)

    assert fields.ask({}, post).status == 400
    assert fields.ask({}, post).status == 200
    assert fields.adapted == ()


def test_an_overload_during_the_search_teaches_nothing() -> None:
    statuses = iter([400, 200, 503])
    fields = RequestFields(LADDERS)
    assert fields.ask({}, lambda _: Answer(status=next(statuses))).status == 503
    assert fields.adapted == ()


def test_too_many_alternatives_become_fewer() -> None:
    ladders: dict[str, list[Form]] = {
        **LADDERS,
        "logprobs": [{"logprobs": True, "top_logprobs": n} for n in (20, 5)] + [{}],
    }

    def post(body: Form) -> Answer:
        message = b'{"error": {"message": "top_logprobs must be at most 5"}}'
        return Answer(status=400 if body.get("top_logprobs", 0) > 5 else 200, body=message)

    fields = RequestFields(ladders)
    assert fields.ask({}, post).status == 200
    assert fields.adapted == ("top_logprobs lowered",)


def test_threads_learn_once() -> None:
    endpoint = Picky("temperature", says=None)
    fields = RequestFields(LADDERS)
    threads = [threading.Thread(target=fields.ask, args=({}, endpoint)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fields.adapted == ("temperature left out",)
    bare = [request for request in endpoint.requests if set(request) <= {"max_tokens"}]
    assert len(bare) == 1
