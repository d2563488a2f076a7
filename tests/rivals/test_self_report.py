from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.agent.model import Reply
from sentinel_sql.agent.self_report import p_true, percentage

shares = st.floats(0.001, 0.49)


def reply(text: str = "", **first: float) -> Reply:
    return Reply(text=text, first=tuple((word, math.log(p)) for word, p in first.items()))


@given(shares, shares)
def test_p_true_is_the_share_of_true_among_true_and_false(true: float, false: float) -> None:
    score, by = p_true(reply(False_=0.001, true=true, false=false))
    assert by == "logprobs"
    assert score == pytest.approx(true / (true + false))


@given(shares, shares)
def test_p_true_and_p_false_sum_to_one(one: float, other: float) -> None:
    a, b = (
        p_true(reply(True_=1e-4, true=one, false=other))[0],
        p_true(reply(true=other, false=one))[0],
    )
    assert a is not None
    assert b is not None
    assert a + b == pytest.approx(1.0)


def test_every_spelling_of_the_words_counts() -> None:
    spelled = Reply(
        text="", first=((" True", math.log(0.3)), ("TRUE", math.log(0.1)), ("False", math.log(0.1)))
    )
    assert p_true(spelled)[0] == pytest.approx(0.8)


def test_a_word_that_is_not_listed_has_at_most_the_least_listed_probability() -> None:
    assert p_true(reply(true=0.9, The=0.05))[0] == pytest.approx(0.9 / 0.95)
    assert p_true(reply(false=0.9, The=0.05))[0] == pytest.approx(0.05 / 0.95)


@pytest.mark.parametrize(
    ("text", "score"),
    [("True", 1.0), (" false.", 0.0), ("**True**", 1.0), ("Truely", None), ("I", None), ("", None)],
)
def test_without_log_probabilities_the_word_speaks(text: str, score: float | None) -> None:
    assert p_true(Reply(text=text)) == (score, "word")
    assert p_true(Reply(text=text, first=(("I", -0.1),))) == (score, "word")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("80", 0.8),
        ("I'd say 95%", 0.95),
        ("0", 0.0),
        ("100", 1.0),
        ("72.5 of 100", 0.725),
        ("101", None),
        ("very likely", None),
        ("", None),
        ("9" * 400, None),
    ],
)
def test_the_first_number_from_0_to_100_is_the_verbalized_confidence(
    text: str, score: float | None
) -> None:
    assert percentage(text) == score
