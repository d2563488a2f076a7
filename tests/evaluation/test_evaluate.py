from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sentinel_sql.decision.thresholds import early_stop
from sentinel_sql.errors import BundleError, InputError, LabelsError, PoolsError, StoreError
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation.options import Options, Prices
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.spending import settings_hash, spending_log
from sentinel_sql.monitor.bundle import load, save
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.questions.pools import make_pools
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import AgentInfo
from small_runs import fitted, header, world


def judged(**how: Any) -> Evaluation:
    """Evaluate with few resamples: nothing here but their number depends on it."""
    monitor, runs, pools, labels = fitted()
    how = {"resamples": 20, **how}
    return evaluate(
        how.pop("monitor", monitor),
        how.pop("runs", runs),
        how.pop("pools", pools),
        how.pop("labels", labels),
        **how,
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    save(fitted()[0], tmp_path / "monitor")
    return tmp_path / "monitor"


def test_every_exhibit_is_in_the_document_by_name_and_it_is_plain_json() -> None:
    document = json.loads(json.dumps(judged(resamples=2000).to_json(), allow_nan=False))
    assert list(document["exhibits"]) == list(EXHIBITS)
    _, runs, pools, labels = fitted()
    held = [run for run in runs if pools.pool_of(run.question.id) == "heldout"]
    counts = document["counts"]
    assert counts["runs"] == len(held)
    assert counts["answerable"] == sum(labels[run.question.id].answerable for run in held)
    assert counts["answered"] + counts["abstained"] + counts["cap"] == len(held)
    assert counts["steps"] == sum(len(run.steps) for run in held)
    assert document["hashes"]["pools"] == pools.sha256
    assert document["bootstrap"] == {"seed": 42, "resamples": 2000, "clusters": "templates"}


def test_the_same_inputs_give_the_same_document() -> None:
    assert judged().to_json() == judged().to_json()


def test_frozen_thresholds_give_the_same_scores_on_the_calibration_pool() -> None:
    found = judged(pool="calibration")
    assert found.spent is None
    rows = {(row.system, row.stakes): row for row in found.exhibits["ladder"].rows}
    for stakes in (1.0, 4.0, 9.0):
        frozen = found.thresholds.early_stop(stakes)
        assert frozen is not None
        if not found.thresholds.serves(stakes):
            nothing = rows["always-abstain", stakes].rs
            assert rows["early-stop", stakes].rs == rows["full", stakes].rs == nothing
            continue
        assert rows["early-stop", stakes].rs.estimate == frozen.rs
        assert rows["full", stakes].rs.estimate == frozen.rs_without
        steps = found.scores.steps.sum()
        assert rows["early-stop", stakes].steps_saved == pytest.approx(frozen.steps_saved / steps)


def test_new_stakes_get_their_early_stop_from_the_calibration_pool() -> None:
    monitor = fitted()[0]
    found = judged(stakes=(2.5,))
    calibration = monitor.calibration
    best = early_stop(calibration, theta=found.thresholds.gate.theta, stakes=2.5)
    assert [(p.stakes, p.early) for p in found.early_stops] == [(2.5, best.threshold)]


def test_spending_log_beside_the_bundle_survives_a_new_fit(bundle: Path) -> None:
    first = judged(bundle=bundle)
    log = spending_log(bundle)
    assert log.parent == bundle.parent
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    save(replace(fitted()[0], facts={**fitted()[0].facts, "seed": 43}), bundle)
    assert (first.spent, judged(bundle=bundle).spent) == (1, 2)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [set(line) for line in lines] == [
        {"time", "pools", "runs", "monitor", "labels", "settings", "line", "crc32"}
    ] * 2
    assert {line["runs"] for line in lines} == {first.hashes["runs"]}


def test_repeated_evaluation_spends_nothing_more(bundle: Path) -> None:
    assert [judged(bundle=bundle).spent for _ in range(3)] == [1, 1, 1]
    save(fitted()[0], bundle)
    assert judged(bundle=bundle).spent == 1
    priced = Options(prices=Prices(prompt=1, completion=2))
    assert judged(bundle=bundle, options=priced).spent == 1
    assert judged(bundle=bundle, options=Options(), stakes=(9, 1, 4.0, 4)).spent == 1
    assert len(spending_log(bundle).read_text().splitlines()) == 6


def test_each_changed_setting_counts_as_another_look(bundle: Path) -> None:
    _, runs, pools, labels = fitted()
    held = [run.question.id for run in runs if pools.pool_of(run.question.id) == "heldout"]
    answered = next(qid for qid in held if labels[qid].correct is not None)
    turned = labels[answered].model_copy(update={"correct": not labels[answered].correct})
    for count, how in enumerate(
        [
            {},
            {"stakes": (1.0,)},
            {"seed": 7},
            {"resamples": 30},
            {"options": Options(exact_bar=True)},
            {"options": Options(reweight=0.2)},
            {"labels": labels | {answered: turned}},
            {"runs": [run for run in runs if run.question.id != held[0]]},
        ],
        1,
    ):
        assert judged(bundle=bundle, **how).spent == count
    assert judged(bundle=bundle).spent == 8


def test_look_logged_without_resamples_equals_the_default_look() -> None:
    known = "ea84317cb258329b7de532a8262081f9629f45c327c5283229e04539b6a412c2"
    assert settings_hash(None, (1.0, 4.0, 9.0), seed=42, resamples=2000) == known
    assert settings_hash(None, (1.0, 4.0, 9.0), seed=42, resamples=1000) != known


def test_incomplete_older_log_lines_count_one_by_one(bundle: Path) -> None:
    hashes = judged(bundle=bundle).hashes
    old = {"time": "2026-11-01T00:00:00+00:00", **hashes}
    other = old | {"pools": "another manifest"}
    spending_log(bundle).write_text("".join(json.dumps(it) + "\n" for it in (old, old, other)))
    assert [judged(bundle=bundle).spent for _ in range(2)] == [3, 3]


def test_evaluation_of_another_pool_spends_nothing(bundle: Path) -> None:
    assert judged(bundle=bundle, pool="calibration").spent is None
    assert not spending_log(bundle).exists()


def test_damaged_spending_log_stops_the_evaluation(bundle: Path) -> None:
    spending_log(bundle).write_text("not json\n")
    with pytest.raises(BundleError, match="damaged"):
        judged(bundle=bundle)
    spending_log(bundle).unlink()
    spending_log(bundle).mkdir()
    with pytest.raises(BundleError, match="can't record"):
        judged(bundle=bundle)


def test_loaded_monitor_evaluates_as_the_fitted_one(bundle: Path) -> None:
    assert judged(monitor=load(bundle)).to_json() == judged().to_json()


def test_questions_without_runs_are_listed_and_left_out() -> None:
    _, runs, pools, labels = fitted()
    held = [run.question.id for run in runs if pools.pool_of(run.question.id) == "heldout"]
    missing, silent = held[0], held[1]
    open_ = next(
        qid for qid in held[2:] if labels[qid].answerable and labels[qid].outcome == "answered"
    )
    unjudged = labels[open_].model_copy(update={"correct": None, "reason": "unjudged"})
    found = judged(
        runs=[run for run in runs if run.question.id != missing],
        labels={qid: label for qid, label in labels.items() if qid != silent} | {open_: unjudged},
    )
    assert found.gaps == {
        "questions without a run": (missing,),
        "runs without a label": (silent,),
        "answers without a verdict": (open_,),
    }
    assert len(found.scores) == len(held) - 3
    assert found.hashes["runs"] != judged().hashes["runs"]


def test_runs_of_other_pools_change_nothing() -> None:
    _, runs, pools, _ = fitted()
    held = [run for run in runs if pools.pool_of(run.question.id) == "heldout"]
    assert judged(runs=held).to_json() == judged().to_json()


def test_mismatched_inputs_are_refused_by_name(bundle: Path) -> None:
    runs = fitted()[1]
    with pytest.raises(PoolsError, match="another pool manifest"):
        judged(pools=make_pools(world()[1], seed=7))
    other = AgentInfo(name="somebody-else")
    with pytest.raises(BundleError, match="somebody-else"):
        judged(runs=[run.model_copy(update={"agent": other}) for run in runs])
    with pytest.raises(BundleError, match="schema"):
        judged(schema=Schema(tables={"other": {}}))
    assert judged(schema=header().schema).pool == "heldout"
    with pytest.raises(StoreError, match="twice"):
        judged(runs=[*runs, *runs])
    with pytest.raises(StoreError, match="no run of the heldout pool"):
        judged(runs=[])
    with pytest.raises(LabelsError, match="has a label"):
        judged(labels={})
    with pytest.raises(InputError, match="stakes"):
        judged(stakes=(-1.0,))
    stranger = runs[0].model_copy(
        update={"question": runs[0].question.model_copy(update={"id": "stranger"})}
    )
    with pytest.raises(PoolsError, match="stranger"):
        judged(runs=[*runs, stranger])


def test_refused_evaluation_spends_nothing(bundle: Path) -> None:
    for wrong in (
        *({"runs": []}, {"labels": {}}, {"stakes": (-1.0,)}, {"stakes": ()}),
        *({"resamples": 0}, {"resamples": -5}),
    ):
        with pytest.raises(InputError):
            judged(bundle=bundle, **wrong)
    assert not spending_log(bundle).exists()


def test_progress_reaches_the_number_of_runs() -> None:
    told: list[tuple[int, int]] = []
    found = judged(on_progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == len(found.scores)
    assert all(done <= total for done, total in told)


def test_evaluation_does_not_change_the_monitor() -> None:
    monitor = fitted()[0]
    before = {name: column.copy() for name, column in monitor.calibration.to_columns().items()}
    judged(monitor=monitor)
    for name, column in monitor.calibration.to_columns().items():
        np.testing.assert_array_equal(before[name], column)
