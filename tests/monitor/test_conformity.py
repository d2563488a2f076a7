"""Every kind of head, however it is served, passes the same checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from run_cases import planted_store, runs
from sentinel_sql.monitor.bundle import HEADS
from sentinel_sql.monitor.head import Bools, FittedHead, Head, Ints
from sentinel_sql.monitor.heads.ngrams import add_counts, count_ngrams
from sentinel_sql.monitor.snapshots import read_run
from sentinel_sql.monitor.surroundings import NOWHERE
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Trajectory, commitment
from sentinel_sql.trajectory.render import (
    SCORING_TOKENS,
    TRAINING_TOKENS,
    count_tokens,
    keep_newest,
    keep_oldest,
    render_question,
    render_step,
)

LIGHT = ("linear", "ngrams")
SERVED: Mapping[str, Mapping[str, Any]] = {
    "embedding": {},
    "embedding, onnx": {"serve": "onnx"},
    "embedding, onnx-int8": {"serve": "onnx-int8"},
    "encoder": {},
    "encoder, shared trunk": {"shared_trunk": True},
    "encoder, onnx": {"serve": "onnx"},
    "encoder, onnx-int8": {"serve": "onnx-int8"},
}
KINDS = (*LIGHT, *SERVED)
LONG = ("embedding, onnx", "encoder, onnx", "encoder, onnx-int8")
"""Kinds of head whose tests take seconds, and that differ from others in how they are served."""

of_every_kind = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind in LONG)) for kind in KINDS]
)


@dataclass(frozen=True, kw_only=True)
class Cases:
    runs: list[Trajectory]
    unanswerable: Bools
    groups: Ints

    def fit(self, head: Head[Any], *, seed: int, of: int) -> FittedHead[Any]:
        """Fit on every prefix of the first runs; heads of a shared trunk are fitted together."""
        read = [snapshots(head, run) for run in self.runs[:of]]
        sizes = [len(its) for its in read]
        inputs = [snapshot for its in read for snapshot in its]
        targets = np.repeat(self.unanswerable[:of], sizes)
        groups = np.repeat(self.groups[:of], sizes)
        if getattr(head, "shared_trunk", False):
            everyone = np.ones(len(inputs), np.bool_)
            other = np.arange(len(inputs)) % 2 == 0
            return head.fit_jointly(  # type: ignore[attr-defined, no-any-return]
                inputs, [targets, other], [everyone, everyone], groups=groups, seed=seed
            )[0]
        return head.fit(inputs, targets, groups=groups, seed=seed)


def snapshots(head: Head[Any], run: Trajectory, limit: int = SCORING_TOKENS) -> list[Any]:
    reading = head.read(run.question, NOWHERE)
    read = [reading.snapshot(limit)]
    for step in run.steps:
        reading.observe(step, commitment(step, commit_on_error=False))
        read.append(reading.snapshot(limit))
    return read


@pytest.fixture(scope="module")
def cases() -> Cases:
    made, _, labels = planted_store(120, seed=5)
    return Cases(
        runs=made,
        unanswerable=np.array([not labels[run.question.id].answerable for run in made]),
        groups=np.arange(len(made)) % 60,
    )


@pytest.fixture(scope="module")
def head_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Head[Any]]:
    """Every kind with the settings of these tests; encoders share a work folder."""
    made: dict[str, Head[Any]] = {kind: HEADS[kind] for kind in LIGHT}
    work = tmp_path_factory.mktemp("work")
    for kind, told in SERVED.items():
        its: dict[str, Any] = {"encoder": "absent", "work": work, **told}
        if kind.startswith("encoder"):
            its |= {"epochs": 6, "batch": 16, "learning_rate": 4e-3, "patience": 20}
        else:
            del its["work"]
        made[kind] = replace(HEADS[kind.split(",")[0]], **its)  # type: ignore[type-var]
    return made


@pytest.fixture
def head(kind: str, head_of: Mapping[str, Head[Any]], request: pytest.FixtureRequest) -> Head[Any]:
    if kind in LIGHT:
        return head_of[kind]
    folder = request.getfixturevalue("tiny_encoder")  # skips by name without the extra
    return replace(head_of[kind], encoder=str(folder))  # type: ignore[type-var]


@pytest.fixture(scope="module")
def _fitted() -> dict[str, FittedHead[Any]]:
    return {}


@pytest.fixture
def fitted(
    kind: str, head: Head[Any], cases: Cases, _fitted: dict[str, FittedHead[Any]]
) -> FittedHead[Any]:
    if kind not in _fitted:
        _fitted[kind] = cases.fit(head, seed=3, of=len(cases.runs))
    return _fitted[kind]


def test_every_kind_of_head_is_tested() -> None:
    assert set(HEADS) == {kind.split(",")[0] for kind in KINDS}


@of_every_kind
def test_scores_are_finite_and_in_range(
    kind: str, head: Head[Any], fitted: FittedHead[Any]
) -> None:
    @given(run=runs())
    @settings(max_examples=40 if kind in LIGHT else 8)
    def holds(run: Trajectory) -> None:
        scores = fitted.score(snapshots(head, run))
        assert np.all((scores >= 0) & (scores <= 1))

    holds()
    assert fitted.score([]).shape == (0,)


@pytest.mark.parametrize("kind", ["ngrams", "embedding"])
def test_opposite_targets_give_opposite_scores(
    kind: str, head: Head[Any], cases: Cases, fitted: FittedHead[Any]
) -> None:
    opposite = replace(cases, unanswerable=~cases.unanswerable)
    other = opposite.fit(head, seed=3, of=len(cases.runs))
    inputs = [snapshot for run in cases.runs[:10] for snapshot in snapshots(head, run)]
    assert other.score(inputs) == pytest.approx(1.0 - fitted.score(inputs), abs=1e-3)


@of_every_kind
def test_a_score_depends_on_its_own_input_alone(
    kind: str, head: Head[Any], cases: Cases, fitted: FittedHead[Any]
) -> None:
    @given(several=st.lists(runs(longest=3), min_size=1, max_size=4), seed=st.integers(0, 99))
    @settings(max_examples=30 if kind in LIGHT else 8)
    def holds(several: list[Trajectory], seed: int) -> None:
        inputs = [snapshot for run in several for snapshot in snapshots(head, run)]
        together = fitted.score(inputs)
        order = np.random.default_rng(seed).permutation(len(inputs))
        # Another copy of the head, so that no remembered score answers for the head's own.
        copy = head.restore(fitted.arrays(), fitted.files())
        assert copy.score([inputs[i] for i in order]).tolist() == together[order].tolist()
        again = head.restore(fitted.arrays(), fitted.files())
        assert [again.score([one])[0] for one in inputs] == together.tolist()

    holds()


@of_every_kind
def test_equal_seeds_give_equal_heads(kind: str, head: Head[Any], cases: Cases) -> None:
    if kind.startswith("encoder"):
        # What is exported was trained once for both graphs; their export is what may differ.
        kept = {} if "onnx" in kind else {"work": None}
        head = replace(head, epochs=1, **kept)  # type: ignore[type-var]
    inputs = [snapshot for run in cases.runs[:10] for snapshot in snapshots(head, run)]
    one, other = (cases.fit(head, seed=7, of=30) for _ in range(2))
    assert one.score(inputs).tolist() == other.score(inputs).tolist()


@of_every_kind
def test_a_restored_head_scores_as_the_saved_one(
    kind: str, head: Head[Any], cases: Cases, fitted: FittedHead[Any], tmp_path: Path
) -> None:
    import shutil

    inputs = [snapshot for run in cases.runs[:10] for snapshot in snapshots(head, run)]
    files = {
        name: Path(shutil.copyfile(path, tmp_path / name)) for name, path in fitted.files().items()
    }
    restored = HEADS[kind.split(",")[0]].restore(fitted.arrays(), files)
    assert np.abs(restored.score(inputs) - fitted.score(inputs)).max() <= 1e-6


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "onnx" in kind])
def test_exported_head_reports_its_drift_from_torch(kind: str, fitted: FittedHead[Any]) -> None:
    told = fitted.facts()["drift"]
    assert told["snapshots"] == 64
    assert 0 < told["mean"] <= told["largest"] < (0.1 if "int8" in kind else 1e-3)


@of_every_kind
def test_question_still_decides_in_a_long_run(
    kind: str, head: Head[Any], fitted: FittedHead[Any]
) -> None:
    padding = [make_step(i, thought="and so on " * 300) for i in range(1, 12)]
    rain, sugar = (
        make_trajectory(text=f"what was the {topic}?", steps=padding)
        for topic in ("weather", "glucose")
    )
    scores = [fitted.score([snapshots(head, run)[-1]])[0] for run in (rain, sugar)]
    assert scores[0] > scores[1]


@of_every_kind
def test_text_beyond_the_limit_changes_no_score(
    kind: str, head: Head[Any], fitted: FittedHead[Any]
) -> None:
    padding = [make_step(i, thought="and so on " * 300) for i in range(2, 12)]
    early, other = (
        make_trajectory(steps=[make_step(1, thought=thought), *padding])
        for thought in ("carefully", "hastily")
    )
    for limit in (TRAINING_TOKENS, SCORING_TOKENS):
        pair = [snapshots(head, run, limit)[-1] for run in (early, other)]
        scores = fitted.score(pair)
        assert scores[0] == scores[1]


@of_every_kind
@pytest.mark.parametrize(
    "run",
    [
        make_trajectory(text="how many?", steps=[]),
        make_trajectory(text="", steps=[]),
        make_trajectory(text="患者は何人いますか？ сколько пациентов 🏥", steps=[make_step(1)]),
        make_trajectory(
            steps=[
                make_step(
                    1, observation=Observation(kind="rows", rows=1, columns=1, text="x9, " * 25_000)
                )
            ]
        ),
        make_trajectory(text="x" * 100_000, steps=[make_step(1, thought="y" * 100_000)]),
    ],
    ids=["no steps", "no text", "not Latin", "a result of 100,000", "a word of 100,000"],
)
def test_unusual_runs_get_a_score(
    kind: str, head: Head[Any], fitted: FittedHead[Any], run: Trajectory
) -> None:
    scores = fitted.score(snapshots(head, run))
    assert np.all((scores >= 0) & (scores <= 1))


@of_every_kind
def test_short_run_has_equal_inputs_in_training_and_scoring(kind: str, head: Head[Any]) -> None:
    @given(run=runs(longest=3))
    @settings(max_examples=20)
    def holds(run: Trajectory) -> None:
        read = read_run(run, head=head)
        assert all(a is b for a, b in zip(read.training, read.scoring, strict=True))

    holds()


@given(run=runs(), limit=st.integers(4, 120))
def test_ngram_reading_counts_the_rendered_segments(run: Trajectory, limit: int) -> None:
    question = keep_oldest(render_question(run.question), limit // 2)
    steps = [render_step(s, commitment(s, commit_on_error=False)) for s in run.steps]
    kept = keep_newest(steps, limit - count_tokens(question))
    expected = add_counts([count_ngrams(text) for text in (question, *kept)])
    told = snapshots(HEADS["ngrams"], run, limit)[-1]
    assert told.buckets.tolist() == expected.buckets.tolist()
    assert told.counts.tolist() == expected.counts.tolist()
