from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.agent.telemetry import FLOOR, TOP, entropy, read_first, read_tokens


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_entropy_of_the_listed_alternatives_never_exceeds_that_of_all(weights: list[float]) -> None:
    whole = [weight / sum(weights) for weight in weights]
    listed = sorted(whole, reverse=True)[:TOP]
    full = -sum(p * math.log(p) for p in whole)
    assert 0 <= entropy(map(math.log, listed)) <= full + 1e-9


def test_entropy_is_in_nats_and_not_scaled_to_sum_to_one() -> None:
    assert entropy([math.log(0.5), math.log(0.5)]) == pytest.approx(math.log(2))
    assert entropy([math.log(0.25)]) == pytest.approx(0.25 * math.log(4))
    assert entropy([0.0]) == 0.0
    assert entropy([]) == 0.0


def token(logprob: Any, *alternatives: Any) -> dict[str, Any]:
    return {"logprob": logprob, "top_logprobs": [{"logprob": one} for one in alternatives]}


def test_tokens_give_one_figure_each() -> None:
    read = read_tokens([token(-0.1, -0.1, -2.4), token(-1.0, -1.0, -1.0)])
    assert read is not None
    logprobs, entropies = read
    assert logprobs == (-0.1, -1.0)
    assert entropies == (entropy([-0.1, -2.4]), entropy([-1.0, -1.0]))


def test_a_sixth_alternative_is_not_counted() -> None:
    assert read_tokens([token(-1.0, *[-1.0] * 6)]) == read_tokens([token(-1.0, *[-1.0] * 5)])


def test_never_is_a_large_finite_number_and_rounding_above_zero_is_zero() -> None:
    assert read_tokens([token(-9999.0), token(-math.inf), token(1e-9)]) == ((FLOOR, FLOOR, 0.0), ())


def test_entropies_are_left_out_where_alternatives_are_missing() -> None:
    assert read_tokens([token(-0.1, -0.1), {"logprob": -0.2}]) == ((-0.1, -0.2), ())


@pytest.mark.parametrize(
    "content", [[], [{}], [None], ["x"], [token(None)], [token(math.nan)], [token(-1.0, "x")]]
)
def test_what_is_no_telemetry_is_none(content: list[Any]) -> None:
    assert read_tokens(content) is None


def test_a_number_beyond_all_floats_is_no_telemetry() -> None:
    assert read_tokens([token(-(10**400))]) is None


def test_the_first_tokens_come_likeliest_first_with_their_texts() -> None:
    listed = [("False", -2.0), (" True", -0.5), ("true", -9999)]
    first = {"top_logprobs": [{"token": text, "logprob": logprob} for text, logprob in listed]}
    assert read_first([first, {"logprob": -1.0}]) == (
        (" True", -0.5),
        ("False", -2.0),
        ("true", FLOOR),
    )


@pytest.mark.parametrize(
    "content",
    [[], [{}], [{"top_logprobs": 5}], [{"top_logprobs": [{"logprob": -1}]}], [None], ["True"]],
)
def test_without_alternatives_there_are_no_first_tokens(content: Any) -> None:
    assert read_first(content) == ()
