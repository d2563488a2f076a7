"""Screening a store reads the train pool alone, and sees a signal that a family alone can carry."""

from __future__ import annotations

import random
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from run_cases import HEADER, SCHEMA
from sentinel_sql.errors import StoreError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.families.table import ALL_FAMILIES
from sentinel_sql.monitor.features.ten_features import FEATURES
from sentinel_sql.pipeline.learning.screen_features import screen_features
from sentinel_sql.questions.pools import FRACTIONS, Pools
from sentinel_sql.report.terminal.feature_screen import screen_tables
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Trajectory


def store(count: int) -> tuple[list[Trajectory], Pools, dict[str, Label]]:
    rng = random.Random(3)
    runs, labels, templates = [], {}, {}
    for number in range(count):
        name, correct = f"q{number}", rng.random() < 0.5
        value = rng.randrange(2, 400) if correct else 0
        step = make_step(
            1,
            action="final_sql",
            thought="count them",
            sql=f"SELECT COUNT(*) FROM patients WHERE subject_id = {rng.randrange(10**6)}",
            observation=Observation(
                kind="rows", rows=1, columns=1, text=f"1 rows x 1 cols; sample [['{value}']]"
            ),
        )
        runs.append(make_trajectory(name, "how many patients?", steps=[step]))
        templates[name] = f"t{number % 24}"
        labels[name] = Label(
            question_id=name, answerable=True, outcome="answered", correct=correct, reason="made"
        )
    pools = Pools(
        seed=1,
        fractions=FRACTIONS,
        pools={f"t{i}": "train" if i < 20 else "heldout" for i in range(24)},
        templates=templates,
    )
    return runs, pools, labels


@pytest.fixture(scope="module")
def made() -> Mapping[str, Exhibit[Any]]:
    """Screen a store whose runs have no token telemetry; to screen takes seconds."""
    assert SCHEMA.tables
    runs, pools, labels = store(96)
    bare = [
        run.model_copy(
            update={
                "steps": tuple(step.model_copy(update={"telemetry": None}) for step in run.steps)
            }
        )
        for run in runs
    ]
    return screen_features(bare, pools, labels, HEADER, seed=2)


def test_a_family_that_alone_sees_the_signal_adds_it(made: Mapping[str, Exhibit[Any]]) -> None:
    screen = {row.name: row for row in made["feature_screen"].rows}
    assert set(screen) >= {*ALL_FAMILIES, *FEATURES, "linear", "n-grams alone"}
    assert {row.n for row in screen.values()} == {80}
    assert screen["shape"].auroc.estimate > 0.95
    assert screen["provenance"].gain.high < screen["shape"].auroc.estimate


def test_held_out_runs_are_never_screened() -> None:
    runs, pools, labels = store(24)
    heldout = [run for run in runs if pools.pool_of(run.question.id) == "heldout"]
    with pytest.raises(StoreError, match="train pool"):
        screen_features(heldout, pools, labels, HEADER)


def test_unrecorded_feature_has_no_screening_figures(
    made: Mapping[str, Exhibit[Any]],
) -> None:
    rows = {row.name: row for row in made["feature_screen"].rows}
    survives = {row.feature: row.survives for row in made["survivor_matrix"].rows}
    for name, feature in FEATURES.items():
        if feature.family == "telemetry":
            assert (rows[name].auroc, rows[name].gain, rows[name].quiet) == (None, None, None)
            assert survives[name] is None
        else:
            assert rows[name].auroc is not None, name
    (screen, *_) = screen_tables({name: each.to_json() for name, each in made.items()})
    console = Console(width=80, file=StringIO())
    console.print(screen)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("not recorded") == 4
