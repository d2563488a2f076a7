"""Every kind of head is finite, seeded, order-free, restored exactly, and batch equals single."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from run_cases import SCHEMA, planted_store, runs
from sentinel_sql.monitor.bundle import HEADS
from sentinel_sql.monitor.grounding import keys_of
from sentinel_sql.monitor.head import FittedHead
from sentinel_sql.monitor.ngrams import add_counts, count_ngrams
from sentinel_sql.monitor.snapshots import read_run
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import Trajectory, commitment
from sentinel_sql.trajectory.render import (
    SCORING_TOKENS,
    TRAINING_TOKENS,
    count_tokens,
    keep_newest,
    keep_oldest,
    render_question,
    render_step,
)

AROUND = Surroundings(keys=keys_of(SCHEMA), clock=CLOCK)

pytestmark = pytest.mark.parametrize("kind", HEADS)


def snapshots(kind: str, run: Trajectory, limit: int = SCORING_TOKENS) -> list[Any]:
    reading = HEADS[kind].read(run.question, AROUND)
    read = [reading.snapshot(limit)]
    for step in run.steps:
        reading.observe(step, commitment(step, commit_on_error=False))
        read.append(reading.snapshot(limit))
    return read


@pytest.fixture(scope="module")
def cases() -> tuple[list[Trajectory], np.ndarray]:
    made, _, labels = planted_store(80, seed=5)
    return made, np.array([not labels[run.question.id].answerable for run in made])


def fitted(kind: str, cases: tuple[list[Trajectory], np.ndarray], seed: int) -> FittedHead[Any]:
    inputs = [snapshots(kind, run)[-1] for run in cases[0]]
    return HEADS[kind].fit(inputs, cases[1], groups=np.arange(len(inputs)) % 20, seed=seed)


@pytest.fixture(scope="module")
def heads(cases: tuple[list[Trajectory], np.ndarray]) -> dict[str, FittedHead[Any]]:
    return {kind: fitted(kind, cases, 3) for kind in HEADS}


@given(run=runs())
@settings(max_examples=40)
def test_scores_are_finite_and_in_range(
    kind: str, heads: dict[str, FittedHead[Any]], run: Trajectory
) -> None:
    scores = heads[kind].score(snapshots(kind, run))
    assert np.all((scores >= 0) & (scores <= 1))


@given(several=st.lists(runs(longest=3), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_a_score_depends_on_its_own_input_alone(
    kind: str, heads: dict[str, FittedHead[Any]], several: list[Trajectory], seed: int
) -> None:
    inputs = [snapshot for run in several for snapshot in snapshots(kind, run)]
    together = heads[kind].score(inputs)
    order = np.random.default_rng(seed).permutation(len(inputs))
    shuffled = heads[kind].score([inputs[i] for i in order])
    assert shuffled.tolist() == together[order].tolist()
    assert [heads[kind].score([one])[0] for one in inputs] == together.tolist()


def test_equal_seeds_give_equal_heads(
    kind: str, cases: tuple[list[Trajectory], np.ndarray], heads: dict[str, FittedHead[Any]]
) -> None:
    inputs = [snapshot for run in cases[0][:10] for snapshot in snapshots(kind, run)]
    again = fitted(kind, cases, 3).score(inputs)
    assert again.tolist() == heads[kind].score(inputs).tolist()


def test_a_restored_head_scores_bit_for_bit(
    kind: str, cases: tuple[list[Trajectory], np.ndarray], heads: dict[str, FittedHead[Any]]
) -> None:
    inputs = [snapshot for run in cases[0][:10] for snapshot in snapshots(kind, run)]
    restored = HEADS[kind].restore(heads[kind].arrays(), {})
    assert restored.score(inputs).tolist() == heads[kind].score(inputs).tolist()


def test_a_question_decides_however_long_the_run(
    kind: str, heads: dict[str, FittedHead[Any]]
) -> None:
    padding = [make_step(i, thought="and so on " * 300) for i in range(1, 12)]
    rain, sugar = (
        make_trajectory(text=f"what was the {topic}?", steps=padding)
        for topic in ("weather", "glucose")
    )
    scores = [heads[kind].score([snapshots(kind, run)[-1]])[0] for run in (rain, sugar)]
    assert scores[0] > scores[1]


def test_what_was_cut_off_changes_nothing(kind: str, heads: dict[str, FittedHead[Any]]) -> None:
    padding = [make_step(i, thought="and so on " * 300) for i in range(2, 12)]
    early, other = (
        make_trajectory(steps=[make_step(1, thought=thought), *padding])
        for thought in ("carefully", "hastily")
    )
    for limit in (TRAINING_TOKENS, SCORING_TOKENS):
        pair = [snapshots(kind, run, limit)[-1] for run in (early, other)]
        scores = heads[kind].score(pair)
        assert scores[0] == scores[1]


@given(run=runs(longest=3))
@settings(max_examples=20)
def test_a_short_run_reads_alike_in_training_and_scoring(kind: str, run: Trajectory) -> None:
    read = read_run(run, head=HEADS[kind], keys=None, clock=None)
    assert all(a is b for a, b in zip(read.training, read.scoring, strict=True))


@given(run=runs(), limit=st.integers(4, 120))
def test_the_ngram_reading_counts_the_rendered_segments(
    kind: str, run: Trajectory, limit: int
) -> None:
    if kind != "ngrams":
        pytest.skip("of the n-gram head")
    question = keep_oldest(render_question(run.question), limit // 2)
    steps = [render_step(s, commitment(s, commit_on_error=False)) for s in run.steps]
    kept = keep_newest(steps, limit - count_tokens(question))
    expected = add_counts([count_ngrams(text) for text in (question, *kept)])
    told = snapshots(kind, run, limit)[-1]
    assert told.buckets.tolist() == expected.buckets.tolist()
    assert told.counts.tolist() == expected.counts.tolist()
