from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sentinel_sql.errors import InputError, LabelsError, StoreError
from sentinel_sql.evaluation.bootstrap import Resampling
from sentinel_sql.evaluation.studies.leakage import (
    Task,
    copies,
    faults,
    reader_row,
    shuffled_control,
)
from sentinel_sql.labels.record import Label
from sentinel_sql.pipeline.leakage import Battery, leakage_battery
from sentinel_sql.questions.pools import Pools, make_pools
from sentinel_sql.trajectory.record import Trajectory
from small_runs import header, world


def small(size: int = 130) -> tuple[list[Trajectory], Pools, dict[str, Label]]:
    runs, questions, labels, _ = world(size=size)
    # In that world several questions have one wording, and so some runs are alike.
    told_apart = [
        run.model_copy(
            update={
                "question": run.question.model_copy(
                    update={"text": f"{run.question.text} in case {number}"}
                )
            }
        )
        for number, run in enumerate(runs)
    ]
    return told_apart, make_pools(questions, seed=42), labels


def battery(size: int = 130, **how: object) -> Battery:
    runs, pools, labels = small(size)
    return leakage_battery(runs, pools, labels, header(), **how)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> Battery:
    return battery()


def test_runs_without_leakage_pass_every_control(found: Battery) -> None:
    assert found.faults == ()
    controls = found.exhibits["leakage_controls"].rows
    assert {row.permutations for row in controls} == {20}
    assert all(row.holds for row in controls)
    assert {row.task for row in controls} == {"answerability", "correctness", "quiet failure"}


def test_plain_readers_find_planted_signals(found: Battery) -> None:
    rows = {(row.task, row.reader): row for row in found.exhibits["leakage"].rows}
    # The made-up unanswerable questions have other words, and hesitant tokens go with wrong runs.
    words = rows["answerability", "question's words (TF-IDF)"].auroc
    doubt = rows["correctness", "mean token entropy"].auroc
    assert words is not None
    assert doubt is not None
    assert words.estimate > 0.5
    assert doubt.low > 0.5
    rule = rows["quiet failure", "executed and not empty"].auroc
    assert rule is not None
    assert rule.estimate == 0.5


def test_equal_seeds_give_equal_leakage_tables(found: Battery) -> None:
    again = battery()
    assert again.exhibits == found.exhibits


def test_a_reader_that_sees_the_labels_is_caught() -> None:
    rng = np.random.default_rng(0)
    task = Task(
        name="correctness",
        over="answers",
        target=rng.random(200) < 0.5,
        where=rng.random(200) < 0.8,
    )

    def cheat(labels: np.ndarray) -> np.ndarray:
        return labels + rng.normal(0, 1.5, len(labels))

    def honest(labels: np.ndarray) -> np.ndarray:
        return rng.random(len(labels))

    caught = shuffled_control(task, "cheat", cheat, permutations=20, seed=1)
    assert caught.holds is False
    assert shuffled_control(task, "honest", honest, permutations=20, seed=1).holds
    (told,) = faults([caught], [])
    assert "cheat on correctness ranks shuffled labels at" in told


def test_shuffle_moves_labels_only_among_runs_of_the_task() -> None:
    rng = np.random.default_rng(0)
    target, where = rng.random(100) < 0.3, rng.random(100) < 0.6
    seen = []

    def look(labels: np.ndarray) -> np.ndarray:
        seen.append(labels.copy())
        return rng.random(len(labels))

    task = Task(name="t", over="o", target=target, where=where)
    shuffled_control(task, "look", look, permutations=20, seed=1)
    assert len({labels.tobytes() for labels in seen}) == 20
    for labels in seen:
        assert np.array_equal(labels[~where], target[~where])
        assert labels[where].sum() == target[where].sum()


def test_transcript_in_two_pools_is_a_fault_and_a_repeated_question_is_counted() -> None:
    runs, pools, labels = small()
    heldout = next(run for run in runs if pools.pool_of(run.question.id) == "heldout")
    trained = next(run for run in runs if pools.pool_of(run.question.id) == "train")
    copied = [
        run
        if run is not heldout
        else trained.model_copy(
            update={"question": trained.question.model_copy(update={"id": heldout.question.id})}
        )
        for run in runs
    ]
    found = leakage_battery(copied, pools, labels, header())
    rows = {(row.what, row.split): row for row in found.exhibits["leakage_copies"].rows}
    assert rows["transcripts", "pools"].across == 1
    assert rows["questions", "pools"].across >= 1
    (told,) = found.faults
    assert "1 transcripts are in more than one of the pools" in told
    assert "sentinel questions pools" in told


def test_copies_are_counted_by_side() -> None:
    row = copies("x", "folds", ["a", "a", "b", "b", "c"], ["1", "2", "1", "1", "2"], must_hold=True)
    assert (row.texts, row.repeated, row.across, row.holds) == (3, 2, 1, False)
    assert copies("x", "folds", ["a"], ["1"], must_hold=True).holds is True
    assert copies("x", "folds", ["a", "a"], ["1", "2"], must_hold=False).holds is None


def test_runs_without_a_signal_are_left_out_of_its_ranking() -> None:
    score = np.array([0.1, np.nan, 0.9, np.nan])
    target = np.array([False, True, True, False])
    task = Task(name="t", over="o", target=target, where=np.ones(4, dtype=bool))
    row = reader_row(task, "r", score, Resampling.over(list("abcd")), trained=False)
    assert (row.n, row.positives) == (2, 1)
    assert row.auroc is not None
    assert row.auroc.estimate == 1.0


@pytest.mark.parametrize("kind", ["no telemetry", "one class", "forty runs", "one template"])
def test_poor_runs_give_leakage_tables_with_empty_cells(kind: str) -> None:
    runs, pools, labels = small(40 if kind == "forty runs" else 90)
    if kind == "no telemetry":
        runs = [
            run.model_copy(
                update={
                    "steps": tuple(
                        step.model_copy(update={"telemetry": None}) for step in run.steps
                    )
                }
            )
            for run in runs
        ]
    if kind == "one class":
        labels = {
            name: label.model_copy(
                update={"answerable": True, "correct": True if label.correct is not None else None}
            )
            for name, label in labels.items()
        }
    if kind == "one template":
        pools = replace(pools, templates=dict.fromkeys(pools.templates, "t"), pools={"t": "train"})
    made = leakage_battery(runs, pools, labels, header())
    for exhibit in made.exhibits.values():
        json.dumps(exhibit.to_json(), allow_nan=False)
    rows = made.exhibits["leakage"].rows
    if kind == "no telemetry":
        assert {row.n for row in rows if "entropy" in row.reader} == {0}
    if kind == "one class":
        assert {row.auroc for row in rows} == {None}
        assert {row.holds for row in made.exhibits["leakage_controls"].rows} == {None}


def test_unsuitable_runs_are_refused_by_name() -> None:
    runs, pools, labels = small(60)
    with pytest.raises(InputError, match="no head called"):
        leakage_battery(runs, pools, labels, header(), head="magic")
    with pytest.raises(InputError, match="at least 20"):
        leakage_battery(runs, pools, labels, header(), permutations=3)
    with pytest.raises(LabelsError, match="has a label"):
        leakage_battery(runs, pools, {}, header())
    with pytest.raises(StoreError, match="no run"):
        leakage_battery([], pools, labels, header())


def test_leakage_tables_hold_no_text_of_runs(found: Battery, tmp_path: Path) -> None:
    text = json.dumps([exhibit.to_json() for exhibit in found.exhibits.values()])
    runs, _, _ = small()
    assert not any(run.question.text in text for run in runs)


def test_progress_is_reported_at_every_shuffle_and_ends_complete() -> None:
    told: list[tuple[int, int]] = []
    made = battery(60, head="ngrams", on_progress=lambda done, total: told.append((done, total)))
    done, totals = zip(*told, strict=True)
    controls = made.exhibits["leakage_controls"].rows
    assert {row.reader for row in controls} > {"the ngrams head's own training"}
    assert set(totals) == {done[-1]}
    assert list(done) == sorted(set(done))
    assert len(done) >= 20 * sum(row.holds is not None for row in controls)


def test_progress_ends_complete_if_nothing_can_be_fitted() -> None:
    told: list[tuple[int, int]] = []
    runs, pools, labels = small(12)
    leakage_battery(
        runs, pools, labels, header(), head="ngrams", on_progress=lambda *now: told.append(now)
    )
    assert told[-1][0] == told[-1][1] >= 180
