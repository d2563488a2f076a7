"""Checks exist where the data carry them: on a small project, and on the hospital's runs."""

from __future__ import annotations

import lzma
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.decision.ragged_columns import gate_times
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.replay import replay
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.demo import DemoFolder
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.label import label_runs
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import make_pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import read_trajectories

SEEDS = range(10)
STAKES = (0.5, 1.0, 4.0)


@dataclass(frozen=True, kw_only=True)
class Project:
    """Own questions over an own database, with runs and labels."""

    questions: Sequence[Question]
    runs: Sequence[Trajectory]
    labels: Mapping[str, Label]
    header: LabelsHeader


@pytest.fixture(scope="module")
def clinic(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = shared_data.parent / "cases" / "small_clinic"
    if not folder.is_dir():
        pytest.skip("the small clinic is absent")
    database = tmp_path_factory.mktemp("clinic") / "clinic.sqlite"
    with lzma.open(folder / "clinic.sqlite.xz") as source, database.open("wb") as sink:
        shutil.copyfileobj(source, sink)
    questions = read_questions([folder / "questions.csv"])
    runs = list(read_trajectories(folder / "runs.jsonl.gz"))
    with SqliteDatabase.open(database, clock=runs[0].question.clock) as opened:
        made = label_runs(runs, questions, opened, "strict", "ehrsql-2024")
    labels = {label.question_id: label for label in made.labels}
    return Project(questions=questions, runs=runs, labels=labels, header=made.header)


@pytest.fixture(scope="module")
def fitted(clinic: Project) -> list[tuple[Monitor, PrefixScores]]:
    """A monitor for each way to deal the pools, with its scores of the held-out runs."""
    made = []
    for seed in SEEDS:
        pools = make_pools(clinic.questions, seed=seed)
        monitor = fit(clinic.runs, pools, clinic.labels, clinic.header, head="ngrams")
        heldout = [run for run in clinic.runs if pools.pool_of(run.question.id) == "heldout"]
        scores = prefix_scores(monitor.estimators, heldout, pools=pools, labels=clinic.labels)
        made.append((monitor, scores))
    return made


def test_a_small_project_refuses_hardly_any_good_question_and_loses_nothing_by_its_gate(
    fitted: list[tuple[Monitor, PrefixScores]],
) -> None:
    answerable = refused = 0
    earned = dict.fromkeys(("chow", "full"), 0.0)
    for monitor, scores in fitted:
        gate = monitor.thresholds.gate
        if gate.theta is None:
            assert f"{gate.templates_needed} without a loss" in gate.why
        stopped = gate_times(scores, gate.theta) <= scores.steps
        answerable += int(scores.answerable.sum())
        refused += int((stopped & scores.answerable).sum())
        for system in earned:
            for stakes in STAKES:
                done = replay(scores, system, thresholds=monitor.thresholds, stakes=stakes)
                earned[system] += float(done.payoff.sum())
    assert answerable > 300
    assert refused <= 0.02 * answerable
    assert earned["full"] >= earned["chow"]


def test_the_papers_gate_does_refuse_good_questions_of_a_small_project(
    fitted: list[tuple[Monitor, PrefixScores]],
) -> None:
    # What the bound is there for: the data of this test can show the harm.
    refused = 0
    for monitor, scores in fitted:
        gate = freeze(monitor.calibration, gate="paper").gate
        stopped = gate_times(scores, gate.theta) <= scores.steps
        refused += int((stopped & scores.answerable).sum())
    assert refused > 20


def test_the_hospitals_runs_carry_a_gate_and_no_confidence_is_certain(
    bundled_demo: DemoFolder,
) -> None:
    monitor = load(bundled_demo.monitor)
    gate, served = monitor.thresholds.gate, monitor.thresholds.served
    assert gate.rule == "bounded"
    assert gate.theta is not None
    assert gate.theta > 0.0
    assert gate.bound <= gate.tolerance
    assert served is not None
    assert 0.0 < served.limit < 9.0
    answers = len(monitor.calibration.offsets) - 1
    assert monitor.estimators.delivery_map.confidences.max() < 1.0 - 1.0 / (answers + 2)
    assert freeze(monitor.calibration, gate="none").gate.theta is None
