"""Runs as a report shows them: the same numbers as a replay, a bounded and telling sample."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from report_world import Known, make_known
from sentinel_sql.evaluation.sample_runs import MOST
from sentinel_sql.evaluation_store.folder import save
from sentinel_sql.evaluation_store.views import VIEWS, read_views
from sentinel_sql.pipeline.run_views import LONGEST_TEXT, sample, view
from sentinel_sql.pipeline.score_reasons import weights
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Trajectory
from small_runs import fitted


@pytest.fixture(scope="module")
def known() -> Known:
    return make_known()


def test_a_view_says_what_a_replay_says_of_every_prefix(known: Known) -> None:
    for run in known.runs[:20]:
        label = known.labels[run.question.id]
        seen = view(run, known.monitor, label=label)
        assert len(seen["states"]) == len(run.steps) + 1
        for state, assessed in zip(seen["states"], known.monitor.replay(run), strict=True):
            for name in ("p_answerable", "p_correct", "delivery", "p_unanswerable"):
                assert state[name] == getattr(assessed, name)
        assert [state["sql"] for state in seen["states"][1:]] == [step.sql for step in run.steps]
        assert seen["answerable"] is label.answerable
        assert seen["correct"] == (label.correct is True and label.answerable)
        json.dumps(seen, allow_nan=False)


def test_the_sample_is_of_the_evaluated_pool_and_holds_all_its_small_kinds(known: Known) -> None:
    scores = known.evaluation.evidence.recorded
    views = list(sample(known.evaluation, known.monitor, known.runs, known.labels))
    assert {each["id"] for each in views} <= set(scores.question_ids)
    assert len(views) == min(MOST, len(scores))
    assert {each["ending"] for each in views} == {"answer", "abstention", "cap"}


def test_a_sample_passes_over_the_store_once_and_keeps_the_chosen_runs_only(known: Known) -> None:
    passed = []

    def once() -> Iterator[Trajectory]:
        for run in known.runs:
            passed.append(run.question.id)
            yield run

    views = list(sample(known.evaluation, known.monitor, once(), known.labels, most=5))
    assert len(views) == 5
    assert len(passed) == len(known.runs)


def test_text_of_runs_is_readable_by_its_owner_only(known: Known, tmp_path: Path) -> None:
    views = list(sample(known.evaluation, known.monitor, known.runs, known.labels))
    save(replace(known.evaluation, views=tuple(views)), tmp_path / "evaluation")
    file = tmp_path / "evaluation" / VIEWS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_views(tmp_path / "evaluation", most=MOST, size=10**9) == views != []


def test_long_result_is_cut_with_a_note(known: Known) -> None:
    step = make_step(
        1,
        action="final_sql",
        sql="SELECT 1",
        observation=Observation(kind="rows", rows=1, columns=1, text="x" * 100_000),
    )
    seen = view(make_trajectory("long", "how many?", steps=[step]), known.monitor)
    assert len(seen["states"][1]["result"]) < LONGEST_TEXT + 60
    assert "96,000 characters more" in seen["states"][1]["result"]
    assert seen["answerable"] is None


def test_what_weighs_sums_to_the_log_odds_of_both_heads() -> None:
    monitor, runs, _, _ = fitted()
    for run in runs[:6]:
        for prefix, assessed in zip(run.prefixes(), monitor.replay(run), strict=True):
            told = weights(monitor, prefix)
            for head, score in (
                ("answerability", assessed.p_answerable),
                ("correctness", assessed.raw_correct),
            ):
                total = sum(term["value"] for term in told[head])
                assert 1 / (1 + np.exp(-total)) == pytest.approx(score, abs=1e-9)


def test_a_word_is_named_with_the_places_where_it_stands() -> None:
    monitor, runs, _, _ = fitted()
    run = next(run for run in runs if len(run.steps) > 1)
    told = weights(monitor, run.prefix(len(run.steps)))
    words = [term["name"] for term in told["answerability"] if term["name"].startswith("“")]
    assert words
    for name in words:
        word, places = name[1:].split("” (")
        if "question" in places:
            assert word in run.question.text.lower() or word == "question"


def test_a_head_that_cannot_tell_tells_nothing(known: Known) -> None:
    assert weights(known.monitor, known.runs[0].prefix(1)) == {}
