from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.decision.payoff import (
    chow_bar,
    exact_bar,
    payoffs,
    reliability_score,
    right_and_wrong,
)
from sentinel_sql.errors import InputError

# answered?, correct?, answerable?  →  payoff at λ = 4, worked out by hand
TABLE = [
    (True, True, True, 1.0),
    (True, False, True, -4.0),
    (True, False, False, -4.0),
    (False, False, True, 0.0),
    (False, True, True, 0.0),
    (False, False, False, 1.0),
]


def columns() -> dict[str, np.ndarray]:
    delivered, correct, answerable, _ = (np.array(column) for column in zip(*TABLE, strict=True))
    return {"delivered": delivered, "correct": correct, "answerable": answerable}


def test_every_outcome_earns_what_the_table_says() -> None:
    assert payoffs(**columns(), stakes=4.0).tolist() == [row[3] for row in TABLE]


@pytest.mark.parametrize(("stakes", "by_hand"), [(1, 0.0), (4, -1.0), (9, -16 / 6), (0, 2 / 6)])
def test_reliability_score_of_the_table(stakes: float, by_hand: float) -> None:
    right, wrong = right_and_wrong(**columns())
    counts = {"right": int(right.sum()), "wrong": int(wrong.sum()), "questions": len(TABLE)}
    assert reliability_score(**counts, stakes=stakes) == by_hand
    assert payoffs(**columns(), stakes=stakes).mean() == pytest.approx(by_hand, abs=1e-15)


def test_the_official_scale_is_a_hundred_times_the_mean() -> None:
    official = reliability_score(right=7, wrong=1, questions=10, stakes=10, scaling="official")
    assert official == -30.0
    assert reliability_score(right=9, wrong=1, questions=10, stakes=10) == -0.1


def test_equal_earnings_are_equal_floats_at_decimal_stakes() -> None:
    a = reliability_score(right=10, wrong=0, questions=37, stakes=0.1)
    assert a == reliability_score(right=11, wrong=10, questions=37, stakes=0.1)


def test_bars_of_record() -> None:
    assert [chow_bar(stakes) for stakes in (0, 1, 4, 9)] == [0.0, 0.5, 0.8, 0.9]


@given(st.floats(0, 100), st.floats(0, 1))
def test_the_exact_bar_lies_between_chows_and_one(stakes: float, epsilon: float) -> None:
    bar = exact_bar(stakes, epsilon)
    assert chow_bar(stakes) <= bar * (1 + 1e-15)
    assert bar <= 1.0
    assert exact_bar(stakes, 1.0) == 1.0


@given(st.floats(0.0625, 50), st.floats(0, 1), st.floats(0, 1))
def test_the_exact_bar_is_where_delivering_earns_as_much_as_withholding(
    stakes: float, epsilon: float, share: float
) -> None:
    p = share * (1 - epsilon)
    gain = p - stakes * (1 - p) - epsilon
    bar = exact_bar(stakes, epsilon)
    if abs(p - bar) > 1e-9:
        assert (p > bar) == (gain > 0)


@pytest.mark.parametrize("stakes", [-1.0, float("nan"), float("inf"), 1e308])
def test_senseless_stakes_are_refused(stakes: float) -> None:
    with pytest.raises(InputError, match="stakes"):
        chow_bar(stakes)


def test_an_empty_pool_has_no_score() -> None:
    with pytest.raises(InputError, match="empty"):
        reliability_score(right=0, wrong=0, questions=0, stakes=1)
