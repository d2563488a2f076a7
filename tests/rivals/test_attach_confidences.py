"""P(True) is written beside the answers that it is about, and beside no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentinel_sql.errors import StoreError
from sentinel_sql.rivals.attach_confidences import attach_confidences
from sentinel_sql.rivals.confidences import (
    Confidence,
    ConfidencesManifest,
    ConfidenceStore,
    answer_hash,
)
from sentinel_sql.trajectory.manifest import StoreManifest
from sentinel_sql.trajectory.store import TrajectoryStore, read_trajectories
from small_runs import AGENT, world


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    with TrajectoryStore.open(tmp_path / "runs", manifest=StoreManifest(agent=AGENT)) as store:
        for run in world(size=20)[0]:
            store.append(run)
    return tmp_path / "runs"


def said(runs: Path, folder: Path, *, method: str = "p-true", agent: object = AGENT) -> Path:
    answered = [run for run in read_trajectories(runs) if run.outcome.kind == "answered"]
    with ConfidenceStore.open(folder, manifest=ConfidencesManifest(agent=agent)) as store:  # type: ignore[arg-type]
        for number, run in enumerate(answered[:-1]):
            store.append(
                Confidence(
                    run=run.question.id,
                    answer="0" * 16 if number == 0 else answer_hash(run),
                    method=method,  # type: ignore[arg-type]
                    score=0.25,
                    calls=1,
                    seconds=0.1,
                )
            )
    return folder


def test_each_answer_gets_what_was_said_of_it(runs: Path, tmp_path: Path) -> None:
    folder = said(runs, tmp_path / "said")
    made = attach_confidences(runs, folder, store=tmp_path / "new")
    kept = list(read_trajectories(tmp_path / "new"))
    answered = [run for run in kept if run.outcome.kind == "answered"]
    assert (made.runs, made.answers) == (20, len(answered) - 2)
    assert (made.other, made.without) == (1, 1)
    assert [run.steps[-1].p_true for run in answered] == [None, *[0.25] * made.answers, None]
    assert all(step.p_true is None for run in kept for step in run.steps[:-1])
    bare = [
        run.model_copy(
            update={"steps": tuple(it.model_copy(update={"p_true": None}) for it in run.steps)}
        )
        for run in kept
    ]
    assert bare == list(read_trajectories(runs))
    assert attach_confidences(runs, folder, store=tmp_path / "new").answers == 0


def test_what_cannot_be_attached_is_said(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="give a new store"):
        attach_confidences(runs, said(runs, tmp_path / "a"), store=runs)
    other = AGENT.model_copy(update={"model": "another"})
    with pytest.raises(StoreError, match="another agent"):
        attach_confidences(runs, said(runs, tmp_path / "b", agent=other), store=tmp_path / "new")
    words = said(runs, tmp_path / "c", method="verbalized")
    with pytest.raises(StoreError, match=r"no P\(True\)"):
        attach_confidences(runs, words, store=tmp_path / "new")
    assert not (tmp_path / "new").exists()
