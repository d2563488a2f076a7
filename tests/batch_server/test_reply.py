"""The batch server's replies: sampling by seed, stop texts, log-probabilities, requests."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tools.batch_server.chat_request import ChatRequest, RequestRefusedError, read_request
from tools.batch_server.reply import Outlook, Reply

MESSAGES = ({"role": "user", "content": "count"},)
END = 0


def reply(room: int = 100, **asked: Any) -> Reply:
    request = ChatRequest(messages=MESSAGES, **{"temperature": 0.0, **asked})
    return Reply(request, bytes_of=lambda token: bytes([token]), ends={END}, room=room)


def write(into: Reply, text: bytes) -> None:
    """Let the reply choose the tokens of a text, as long as it takes them."""
    for token in text:
        if into.finish:
            return
        logits = torch.zeros(1, 256)
        logits[0, token] = 30.0
        into.take(Outlook.of(logits), 0)


def draws(seed: int, temperature: float, count: int) -> list[int]:
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0]])
    sampled = reply(temperature=temperature, seed=seed, most_tokens=count + 1)
    sampled._ends = frozenset()
    return [sampled.take(Outlook.of(logits), 0) for _ in range(count)]


def test_a_seed_repeats_its_samples_and_another_seed_draws_others() -> None:
    assert draws(7, 1.0, 40) == draws(7, 1.0, 40)
    assert draws(7, 1.0, 40) != draws(8, 1.0, 40)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_samples_follow_the_distribution_at_their_temperature(temperature: float) -> None:
    drawn = torch.tensor(draws(1, temperature, 4000)).bincount(minlength=4) / 4000
    wanted = torch.softmax(torch.arange(4.0) / temperature, 0)
    torch.testing.assert_close(drawn, wanted, rtol=0, atol=0.03)


def test_temperature_0_takes_the_most_likely_token() -> None:
    assert draws(1, 0.0, 5) == [3] * 5


@given(
    before=st.text("abR\n", max_size=12),
    stop=st.sampled_from(["\nR", "ab", "R"]),
    after=st.text("abR\n", max_size=6),
)
def test_a_reply_ends_at_the_first_stop_text_and_leaves_it_out(
    before: str, stop: str, after: str
) -> None:
    whole = before + stop + after
    written = reply(stop=(stop, "never"))
    write(written, whole.encode())
    assert written.text == whole[: whole.index(stop)]
    assert written.finish == "stop"
    assert len(written.written) == len(written.text)


def test_a_reply_ends_at_its_end_token_or_its_limit() -> None:
    ended, full, crowded = reply(), reply(most_tokens=3), reply(room=2)
    for one in (ended, full, crowded):
        write(one, b"ab\0c" if one is ended else b"abcd")
    assert (ended.text, ended.finish, ended.count) == ("ab", "stop", 3)
    assert (full.text, full.finish, full.count) == ("abc", "length", 3)
    assert (crowded.text, crowded.finish) == ("ab", "length")


def test_half_a_letter_at_the_cut_doesnt_break_the_text() -> None:
    cut = reply(most_tokens=2)
    write(cut, "aé".encode())
    assert cut.text == "a\ufffd"


def test_log_probabilities_are_of_the_whole_vocabulary_whatever_the_temperature() -> None:
    logits = torch.randn(1, 256, generator=torch.Generator().manual_seed(0))
    exact = torch.log_softmax(logits.double(), 1)[0]
    for temperature in (0.0, 1.5):
        one = reply(temperature=temperature, alternatives=5)
        token = one.take(Outlook.of(logits), 0)
        (written,) = one.written
        assert written.logprob == pytest.approx(float(exact[token]), abs=1e-5)
        assert [at for at, _ in written.alternatives] == exact.topk(5).indices.tolist()
        listed = [logprob for _, logprob in written.alternatives]
        assert listed == pytest.approx(exact.topk(5).values.tolist(), abs=1e-5)


def test_the_clients_own_request_is_read() -> None:
    body = {
        "model": "any",
        "messages": [*MESSAGES],
        "logprobs": True,
        "top_logprobs": 5,
        "stop": ["\nRESULT:"],
        "seed": 3,
        "temperature": 0.7,
        "max_tokens": 220,
        "stream": False,
    }
    assert read_request(body) == ChatRequest(
        messages=MESSAGES,
        temperature=0.7,
        seed=3,
        most_tokens=220,
        stop=("\nRESULT:",),
        alternatives=5,
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stream", True),
        ("n", 2),
        ("top_p", 0.9),
        ("tools", [{"type": "function"}]),
        ("temperature", "hot"),
        ("temperature", float("nan")),
        ("temperature", -1),
        ("temperature", True),
        ("max_tokens", 0),
        ("max_completion_tokens", 1.5),
        ("top_logprobs", 21),
        ("seed", "one"),
        ("stop", [""]),
        ("stop", 3),
        ("messages", []),
        ("messages", ["hello"]),
        ("messages", [{"role": "user", "content": [1]}]),
        ("messages", [{"content": "no role"}]),
    ],
)
def test_what_isnt_served_is_refused_by_its_name(field: str, value: Any) -> None:
    body = {"messages": [*MESSAGES], "logprobs": True, field: value}
    with pytest.raises(RequestRefusedError, match=f"^{field}: ") as caught:
        read_request(body)
    assert caught.value.field == field
