"""The batch server's loop: chats together reply as alone, and read nothing twice."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from tests.batch_server.tiny_model import ByteText, plain_logits, tiny_batch, tiny_weights
from tools.batch_server.batch import Batch, Job
from tools.batch_server.cache_store import LEAST_PREFIX
from tools.batch_server.chat_request import ChatRequest, RequestRefusedError
from tools.batch_server.endpoint import LOOPBACK, Endpoint, listen
from tools.batch_server.model import Model, Piece

from sentinel_sql.agent.openai import OpenAIModel, list_models

RULES = "Rules that stand before every question. " * 8
assert len(RULES) > LEAST_PREFIX


def asked(*contents: str, **fields: Any) -> ChatRequest:
    messages = tuple({"role": "user", "content": content} for content in contents)
    return ChatRequest(messages=messages, **{"temperature": 0.0, "most_tokens": 6, **fields})


def answer(batch: Batch, requests: Sequence[ChatRequest]) -> list[Job]:
    jobs = [batch.submit(request) for request in requests]
    while not all(job.done.is_set() for job in jobs):
        batch.step()
    return jobs


def plain_reply(request: ChatRequest) -> list[int]:
    """Return the most likely tokens, one after the other, without a cache."""
    weights, tokens = tiny_weights(), ByteText().tokens(request.messages).tolist()
    written: list[int] = []
    while len(written) < request.most_tokens and 0 not in written:
        written.append(int(plain_logits([*tokens, *written], weights)[-1].argmax()))
    return written


def chosen(job: Job) -> list[int]:
    return [written.token for written in job.reply.written]


@contextmanager
def served(batch: Batch, listener: socket.socket | None = None) -> Iterator[Endpoint]:
    endpoint = Endpoint(listener or listen(0), batch=batch, text=ByteText(), name="tiny")  # type: ignore[arg-type]
    threads = [threading.Thread(target=work) for work in (endpoint.serve_forever, batch.run)]
    for thread in threads:
        thread.start()
    try:
        yield endpoint
    finally:
        batch.end()
        endpoint.shutdown()
        endpoint.server_close()
        for thread in threads:
            thread.join()


def counted(read: list[int]) -> Any:
    """Return an edit of a model that notes how many tokens each step reads."""

    def edit(model: Model) -> Model:
        whole = model.read

        def reading(pieces: Sequence[Piece]) -> Any:
            read.append(sum(len(piece.tokens) for piece in pieces))
            return whole(pieces)

        model.read = reading  # type: ignore[method-assign]
        return model

    return edit


def test_chats_together_in_any_order_reply_as_alone() -> None:
    requests = [asked(RULES, f"How many {word}?") for word in ("beds", "labs", "wards", "x" * 300)]
    wanted = [plain_reply(request) for request in requests]
    for seed in range(3):
        order = random.Random(seed).sample(range(4), 4)
        for most_chats in (1, 2, 8):
            jobs = answer(tiny_batch(most_chats=most_chats), [requests[at] for at in order])
            assert [chosen(job) for job in jobs] == [wanted[at] for at in order]


def test_samples_of_a_seed_dont_depend_on_the_chats_beside_them() -> None:
    request = asked(RULES, "How many?", temperature=1.0, seed=5, most_tokens=12)
    (alone,) = answer(tiny_batch(), [request])
    others = [asked(RULES, f"{at}?", temperature=1.0, seed=at) for at in range(5)]
    together = answer(tiny_batch(), [*others, request])[-1]
    assert chosen(alone) == chosen(together)


def test_a_shared_start_is_read_once_for_all_chats() -> None:
    read: list[int] = []
    batch = tiny_batch(counted(read))
    jobs = answer(batch, [asked(RULES, f"Question {at}?", most_tokens=1) for at in range(8)])
    assert sum(read) < sum(len(job.tokens) for job in jobs) / 4
    prefixes = {id(cache.prefix) for cache in batch._store._waiting}
    assert len(prefixes) == 1
    assert None not in {cache.prefix for cache in batch._store._waiting}


def test_a_longer_start_that_others_share_becomes_a_prefix_of_its_own() -> None:
    batch = tiny_batch()
    answer(batch, [asked(RULES, f"{at} in the first ward?") for at in range(3)])
    second = RULES + "Rules of the second ward. " * 12
    jobs = answer(batch, [asked(second, f"{at} in the second ward?") for at in range(3)])
    lengths = [len(cache.prefix) for cache in batch._store._waiting[-3:] if cache.prefix]
    assert len(lengths) == 3
    assert min(lengths) > len(RULES)
    for at, job in enumerate(jobs):
        assert chosen(job) == plain_reply(asked(second, f"{at} in the second ward?"))


def test_a_following_turn_reads_its_new_tokens_alone() -> None:
    batch = tiny_batch()
    first = asked(RULES, "How many beds?")
    answer(batch, [first, *(asked(RULES, f"{at}?") for at in range(3))])
    following = asked(*(message["content"] for message in first.messages), "And labs?")
    (job,) = answer(batch, [following])
    new = len(job.tokens) - len(ByteText().tokens(first.messages))
    assert len(job.tokens) - job.cached <= new
    assert chosen(job) == plain_reply(following)


def test_several_replies_to_one_chat_read_it_once() -> None:
    batch = tiny_batch()
    requests = [asked(RULES, "How many?", temperature=1.0, seed=seed) for seed in range(4)]
    answer(batch, requests[:1])
    for request in requests[1:]:
        (job,) = answer(batch, [request])
        assert len(job.tokens) - job.cached == 1


def test_chats_that_wait_take_no_more_memory_than_allowed() -> None:
    batch = tiny_batch(cache_bytes=300_000)
    for at in range(12):
        answer(batch, [asked(f"{at} stands first, so that nothing is shared" * 3)])
    held = sum(cache.bytes for cache in batch._store._waiting)
    assert 0 < held <= 300_000


def test_a_chat_that_nobody_waits_for_makes_room() -> None:
    batch = tiny_batch(most_chats=1)
    left = batch.submit(asked(RULES, most_tokens=1000))
    batch.step()
    left.cancelled = True
    (job,) = answer(batch, [asked("short")])
    assert job.reply.finish
    assert not left.reply.finish


def test_a_chat_too_long_for_the_context_is_refused() -> None:
    with pytest.raises(RequestRefusedError, match="maximum context length of 100"):
        tiny_batch(context=100).submit(asked("x" * 100))
    (job,) = answer(tiny_batch(context=100), [asked("x" * 97, most_tokens=50)])
    assert (job.reply.count, job.reply.finish) == (2, "length")


def test_the_products_own_client_gets_text_log_probabilities_and_counts() -> None:
    request = asked(RULES, "How many?", most_tokens=16)
    with served(tiny_batch()) as endpoint:
        url = f"http://{LOOPBACK}:{endpoint.server_address[1]}/v1"
        assert list_models(url) == ("tiny",)
        with OpenAIModel(base_url=url, model="tiny", max_tokens=16, top=20) as model:
            reply = model.complete([*request.messages])  # type: ignore[list-item]
            assert model.adapted == ()
    weights, tokens = tiny_weights(), ByteText().tokens(request.messages)
    exact = torch.log_softmax(plain_logits(tokens.tolist(), weights)[-1], 0).sort(descending=True)
    assert [logprob for _, logprob in reply.first] == pytest.approx(
        exact.values[:20].tolist(), abs=1e-4
    )
    assert reply.logprobs is not None
    assert reply.completion_tokens == len(reply.logprobs)
    assert reply.prompt_tokens == len(tokens)


def test_many_clients_at_once_each_get_their_own_reply() -> None:
    words = [f"How many {at}?" for at in range(6)]
    texts: dict[str, str] = {}
    with served(tiny_batch(most_chats=4)) as endpoint:
        url = f"http://{LOOPBACK}:{endpoint.server_address[1]}/v1"

        def ask(word: str) -> None:
            with OpenAIModel(base_url=url, model="tiny", max_tokens=16) as model:
                texts[word] = model.complete([{"role": "user", "content": word}]).text

        threads = [threading.Thread(target=ask, args=(word,)) for word in words]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    (alone,) = answer(tiny_batch(), [asked(words[3], most_tokens=16)])
    assert texts[words[3]] == alone.reply.text
    assert set(texts) == set(words)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/chat/completions", b"{", 400),
        ("/v1/chat/completions", b"[]", 400),
        ("/v1/chat/completions", b'{"messages": [], "n": 3}', 400),
        ("/v1/embeddings", b"{}", 404),
    ],
)
def test_a_bad_request_gets_one_line_and_the_next_is_served(
    path: str, body: bytes, status: int
) -> None:
    with served(tiny_batch()) as endpoint:
        connection = http.client.HTTPConnection(LOOPBACK, endpoint.server_address[1])
        connection.request("POST", path, body)
        refused = connection.getresponse()
        error = json.loads(refused.read())["error"]
        assert refused.status == status
        assert error["message"]
        assert "\n" not in error["message"]
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status": "ok"}'
        connection.close()


def test_a_client_that_comes_before_the_model_waits_for_it() -> None:
    texts: list[str] = []
    listener = listen(0)
    url = f"http://{LOOPBACK}:{listener.getsockname()[1]}/v1"

    def ask() -> None:
        with OpenAIModel(base_url=url, model="tiny", max_tokens=16, retries=0) as model:
            texts.append(model.complete([{"role": "user", "content": "early"}]).text)

    early = threading.Thread(target=ask)
    early.start()
    early.join(0.2)
    assert early.is_alive()
    with served(tiny_batch(), listener):
        early.join(60)
    (alone,) = answer(tiny_batch(), [asked("early", most_tokens=16)])
    assert texts == [alone.reply.text]


def test_the_end_releases_who_waits() -> None:
    batch = tiny_batch()
    job = batch.submit(asked(RULES, most_tokens=3000))
    worker = threading.Thread(target=batch.run)
    worker.start()
    batch.end()
    worker.join(20)
    assert job.done.wait(1)
    assert job.reply.finish is None
    assert batch.submit(asked("late")).done.is_set()


def test_tokens_of_a_cache_are_those_that_were_read() -> None:
    batch = tiny_batch()
    (job,) = answer(batch, [asked("How many?", most_tokens=4)])
    (cache,) = batch._store._waiting
    assert np.array_equal(cache.tokens, [*job.tokens, *chosen(job)[:-1]])
