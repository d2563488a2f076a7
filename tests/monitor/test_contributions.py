"""The named terms of a score sum to it, and name what the run itself says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from run_cases import SCHEMA, planted_store, runs
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.heads.contributions import contributions
from sentinel_sql.monitor.heads.linear import FittedLinearHead, LinearHead
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import Trajectory, commitment
from sentinel_sql.trajectory.render import SCORING_TOKENS, render

AROUND = Surroundings(keys=keys_of(SCHEMA), clock=CLOCK)
KIND = LinearHead()


@pytest.fixture(scope="module")
def head() -> FittedLinearHead:
    made, _, labels = planted_store(120, seed=8)
    judged = [run for run in made if labels[run.question.id].correct is not None]
    inputs, targets, groups = [], [], []
    for number, run in enumerate(judged):
        reading = KIND.read(run.question, AROUND)
        inputs.append(reading.snapshot(SCORING_TOKENS))
        for step in run.steps:
            reading.observe(step, commitment(step, commit_on_error=False))
            inputs.append(reading.snapshot(SCORING_TOKENS))
        targets += [labels[run.question.id].correct is True] * (len(run.steps) + 1)
        groups += [number % 30] * (len(run.steps) + 1)
    return KIND.fit(inputs, np.array(targets), groups=np.array(groups), seed=1)


@given(run=runs(), limit=st.sampled_from([8, 40, SCORING_TOKENS]))
@settings(max_examples=60)
def test_terms_and_bias_sum_to_the_log_odds(
    head: FittedLinearHead, run: Trajectory, limit: int
) -> None:
    reading = KIND.read(run.question, AROUND)
    for step in run.steps:
        reading.observe(step, commitment(step, commit_on_error=False))
    (told,) = contributions([head], KIND, run.prefix(len(run.steps)), AROUND, limit=limit)
    margin = head.margin(reading.snapshot(limit))
    assert told.margin == margin
    assert all(term.log_odds != 0.0 for term in told.terms)
    total = told.bias + math.fsum(term.log_odds for term in told.terms)
    assert total == pytest.approx(margin, abs=1e-9)


@given(run=runs())
@settings(max_examples=30)
def test_every_ngram_names_its_text_and_its_steps(head: FittedLinearHead, run: Trajectory) -> None:
    prefix = run.prefix(len(run.steps))
    text = render(prefix).lower()
    (told,) = contributions([head], KIND, prefix, AROUND)
    for term in told.terms:
        if term.kind == "feature":
            assert set(term.names) <= set(KIND.features)
            continue
        assert term.steps
        assert set(term.steps) <= set(range(prefix.t + 1))
        for name in term.names:
            assert all(part.strip("…") in text for part in name.split(" ")), name


def test_planted_word_is_among_the_strongest_terms(head: FittedLinearHead) -> None:
    run = make_trajectory(
        text="what was the glucose?",
        steps=[make_step(1, thought="carefully"), make_step(2, action="final_sql")],
    )
    (told,) = contributions([head], KIND, run.prefix(1), AROUND)
    ngrams = [term for term in told.terms if term.kind == "ngram"]
    strongest = {name for term in ngrams[:12] for name in term.names}
    assert "carefully" in strongest


def test_no_n_gram_speaks_at_a_committed_answer(head: FittedLinearHead) -> None:
    run = make_trajectory(steps=[make_step(1, action="final_sql", thought="carefully")])
    (told,) = contributions([head], KIND, run.prefix(1), AROUND)
    assert {term.kind for term in told.terms} <= {"feature"}
