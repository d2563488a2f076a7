"""A replay of runs says when they stopped looking like those of the calibration, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.errors import BundleError
from sentinel_sql.evaluation.drift import find_drift
from sentinel_sql.monitor.bundle import load, save
from sentinel_sql.monitor.drift.numbers import FACT, STREAMS, read_numbers, reference_of
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit

MADE, POOLS, LABELS = planted_store(240, seed=41)
HELDOUT = [run for run in MADE if POOLS.pool_of(run.question.id) == "heldout"]


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    return fit(MADE, POOLS, LABELS, HEADER)


def test_the_reference_counts_each_calibration_run_once_in_every_stream(monitor: Monitor) -> None:
    reference = reference_of(monitor)
    assert set(reference) == set(STREAMS)
    assert {sum(counts.values()) for counts in reference.values()} == {len(monitor.calibration)}


def test_calibration_runs_have_the_numbers_that_the_fit_counted(monitor: Monitor) -> None:
    from sentinel_sql.monitor.drift.watch import count_reference

    pool = [run for run in MADE if run.question.id in set(monitor.calibration.question_ids)]
    assert count_reference(read_numbers(monitor, run) for run in pool) == reference_of(monitor)


def test_heldout_runs_of_the_same_agent_raise_no_alarm(monitor: Monitor) -> None:
    found = find_drift(HELDOUT, monitor)
    assert found.runs == len(HELDOUT)
    assert found.since is None


def test_a_tool_that_breaks_is_named_by_what_moved(monitor: Monitor) -> None:
    broken = [
        run.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(
                        update={
                            "observation": step.observation.model_copy(
                                update={"kind": "error", "text": "Error: no such table: x"}
                            )
                        }
                    )
                    for step in run.steps
                )
            }
        )
        for run in HELDOUT
    ]
    found = find_drift([*broken, *broken], monitor)
    assert found.since is not None
    assert found.moved in STREAMS.values()


def test_runs_of_the_calibration_are_left_out(monitor: Monitor) -> None:
    found = find_drift(MADE, monitor)
    assert found.left_out == len(monitor.calibration)
    assert found.runs == len(MADE) - found.left_out


def test_a_saved_monitor_gives_the_same_reference(monitor: Monitor, tmp_path: Path) -> None:
    save(monitor, tmp_path / "m")
    assert reference_of(load(tmp_path / "m")) == reference_of(monitor)


def test_a_monitor_of_an_earlier_version_is_watched_by_its_scores(monitor: Monitor) -> None:
    older = replace(monitor, facts={k: v for k, v in monitor.facts.items() if k != FACT})
    assert set(reference_of(older)) == {"answerability", "correctness", "answered", "n_steps"}


def test_a_monitor_without_calibration_is_refused(monitor: Monitor) -> None:
    with pytest.raises(BundleError, match="calibrated on no run"):
        reference_of(replace(monitor, calibration=PrefixScores.empty()))


@pytest.mark.parametrize("stored", [{"n_steps": 3}, {"n_steps": [[1]]}, {"n_steps": [["x", 1]]}, 7])
def test_damaged_counts_are_refused_in_one_line(monitor: Monitor, stored: object) -> None:
    with pytest.raises(BundleError, match="counts for drift"):
        reference_of(replace(monitor, facts={**monitor.facts, FACT: stored}))


def test_the_counts_are_json(monitor: Monitor) -> None:
    assert json.loads(json.dumps(monitor.facts[FACT])) == monitor.facts[FACT]
