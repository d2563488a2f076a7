"""The drift test keeps its stated chance of a false alarm, and notices changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.drift.stream import BETS, Stream, coarse
from sentinel_sql.monitor.drift.watch import DriftAlarm, DriftWatch, count_reference

CHANCE = 0.2


def _rows(rng: np.random.Generator, runs: int, shift: float = 0.0) -> list[dict[str, float]]:
    """Three dependent streams: a score, a count with many ties, and one that is often unknown."""
    base = rng.normal(shift, 1.0, runs)
    return [
        {
            "score": float(1 / (1 + np.exp(-x))),
            "steps": float(max(1, round(2 + x))),
            "seldom": float(x) if rng.random() < 0.5 else float("nan"),
        }
        for x in base
    ]


def _watch(
    pool: list[dict[str, float]], live: list[dict[str, float]], seed: int
) -> DriftAlarm | None:
    watch = DriftWatch(count_reference(pool), chance=CHANCE, seed=seed)
    for row in live:
        if watch.observe(row) is not None:
            break
    return watch.alarm


def _false_alarms(replays: int, pool: int, live: int) -> int:
    alarms = 0
    for seed in range(replays):
        rows = _rows(np.random.default_rng(seed), pool + live)
        alarms += _watch(rows[:pool], rows[pool:], seed) is not None
    return alarms


def _most(replays: int) -> float:
    return replays * CHANCE + 2 * float(np.sqrt(replays * CHANCE * (1 - CHANCE)))


def test_false_alarms_keep_the_stated_chance_with_a_pool_of_ten_runs() -> None:
    assert _false_alarms(60, pool=10, live=60) <= _most(60)


@pytest.mark.slow
def test_false_alarms_keep_the_stated_chance_over_a_thousand_replays() -> None:
    assert _false_alarms(1_000, pool=40, live=250) <= _most(1_000)


@pytest.mark.parametrize(("shift", "direction"), [(2.0, "higher"), (-2.0, "lower")])
def test_a_shift_is_noticed_with_its_direction(shift: float, direction: str) -> None:
    rng = np.random.default_rng(1)
    found = _watch(_rows(rng, 100), _rows(rng, 100, shift), seed=1)
    assert found is not None
    assert found.direction == direction
    assert found.runs < 50


def test_ranks_are_uniform_after_a_pool_of_equal_numbers_too() -> None:
    stream = Stream({0.0: 5}, np.random.default_rng(0))
    for _ in range(300):
        stream.observe(0.0)
    assert stream.capital < 20


@given(st.floats(0, 1))
def test_a_fair_rank_leaves_the_mean_capital_unchanged(rank: float) -> None:
    factors = 1 + BETS * (rank - 0.5)
    assert (factors >= 0).all()
    mirrored = 1 + BETS * (0.5 - rank)
    assert np.allclose((factors + mirrored) / 2, 1.0)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_the_grid_keeps_the_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert coarse(low) <= coarse(high)


def test_an_alarm_stays() -> None:
    rng = np.random.default_rng(2)
    watch = DriftWatch(count_reference(_rows(rng, 100)), chance=CHANCE)
    first = [watch.observe(row) for row in _rows(rng, 60, 3.0)][-1]
    assert first is not None
    for row in _rows(rng, 60):
        assert watch.observe(row) == first


def test_a_run_without_numbers_moves_nothing() -> None:
    watch = DriftWatch(count_reference(_rows(np.random.default_rng(3), 20)), chance=CHANCE)
    for _ in range(500):
        assert watch.observe({"score": float("nan"), "another": 5.0}) is None


def test_a_reference_holds_counts_alone() -> None:
    counted = count_reference([{"score": 0.123456, "seldom": float("nan")}] * 3)
    assert counted == {"score": {coarse(0.123456): 3}, "seldom": {}}


@pytest.mark.parametrize("chance", [0.0, 1.0, -1.0, float("nan")])
def test_a_chance_outside_of_its_range_is_refused(chance: float) -> None:
    with pytest.raises(InputError, match="chance"):
        DriftWatch({"score": {}}, chance=chance)


def test_a_watch_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="stream"):
        DriftWatch({})
