"""The general monitor ranks without any run, calibrates on few, and is a prior of every fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.decision.guard import Guard
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.bundle import GENERAL_FOLDER, load, save
from sentinel_sql.monitor.heads.linear import FittedLinearHead
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.learning.fit_general import AgentRuns, fit_general

MADE, POOLS, LABELS = planted_store(240, seed=41)


@pytest.fixture(scope="module")
def fitted() -> Monitor:
    return fit(MADE, POOLS, LABELS, HEADER)


def test_the_packaged_monitor_is_small_and_loads_by_its_name() -> None:
    assert sum(path.stat().st_size for path in GENERAL_FOLDER.iterdir()) < 200_000
    monitor = load("general")
    assert not monitor.thresholds.calibrated
    assert load(Path("general")).facts == monitor.facts


@pytest.mark.parametrize("stakes", [0.01, 1.0, 9.0])
@pytest.mark.parametrize("rules", [{}, {"exact_bar": True}, {"certified": True}, {"gate": False}])
def test_without_a_run_nothing_is_delivered_at_stakes_and_everything_is_ranked(
    stakes: float, rules: dict[str, bool]
) -> None:
    guard = Guard.load("general", stakes=stakes, **rules)
    assert guard.uncalibrated
    assert "uncalibrated" in (guard.stakes_message or "")
    scores = set()
    for run in [it for it in MADE if it.outcome.kind == "answered"][:12]:
        *_, last = guard.monitor.replay(run)
        decision = guard.policy.decide(last, "answer")
        assert (decision.kind, decision.reason) == ("withhold", "uncalibrated")
        scores.add(last.delivery_score)
    assert len(scores) > 1


def test_at_no_stakes_the_general_monitor_delivers() -> None:
    guard = Guard.load("general", stakes=0.0)
    run = next(it for it in MADE if it.outcome.kind == "answered")
    *_, last = guard.monitor.replay(run)
    assert guard.policy.decide(last, "answer").kind == "deliver"
    assert guard.stakes_message is None


def test_the_general_monitor_takes_any_agent_and_database() -> None:
    guard = Guard.load(
        "general", stakes=1.0, agent=MADE[0].agent, clock="2100-01-01 00:00:00", dialect="postgres"
    )
    assert guard.misfit is None
    assert guard.monitor.agent == MADE[0].agent.fingerprint


def test_a_fit_takes_the_general_monitor_as_prior_unless_told_otherwise(fitted: Monitor) -> None:
    assert fitted.facts["prior"] == "general"
    without = fit(MADE, POOLS, LABELS, HEADER, prior=None)
    assert without.facts["prior"] == "none: none was asked for"
    one, other = (it.estimators.correctness.arrays()["answer/weights"] for it in (fitted, without))
    assert not np.array_equal(one, other)


def test_a_prior_that_learned_from_the_same_agent_is_left_out() -> None:
    general = fit_general([AgentRuns(runs=MADE, labels=LABELS, header=HEADER, pools=POOLS)])
    assert general.facts["agents"] == [MADE[0].agent.fingerprint]


def test_a_prior_of_the_same_agent_is_refused_by_a_reason(tmp_path: Path, fitted: Monitor) -> None:
    save(fitted, tmp_path / "own")
    again = fit(MADE, POOLS, LABELS, HEADER, prior=tmp_path / "own")
    assert again.facts["prior"] == "none: it learned from this agent's runs"
    with pytest.raises(InputError, match="no prior to calibrate"):
        fit(MADE, POOLS, LABELS, HEADER, prior=tmp_path / "own", only_calibrate=True)


def test_calibration_alone_keeps_every_weight_and_is_calibrated(tmp_path: Path) -> None:
    made = fit(MADE, POOLS, LABELS, HEADER, only_calibrate=True)
    general = load("general")
    for part in ("answerability", "correctness"):
        theirs = getattr(general.estimators, part).arrays()
        for name, column in getattr(made.estimators, part).arrays().items():
            np.testing.assert_array_equal(theirs[name], column)
    assert made.thresholds.calibrated
    assert made.facts["runs"]["train"] == 0
    save(made, tmp_path / "bundle")
    assert load(tmp_path / "bundle").estimators.delivery.auroc_hybrid is None


@pytest.mark.parametrize("learn_from", ["all", "answerable"])
def test_the_answers_to_learn_from_can_be_chosen(learn_from: str, fitted: Monitor) -> None:
    made = fit(MADE, POOLS, LABELS, HEADER, learn_from=learn_from)
    assert made.facts["learned_from"] == learn_from
    ranks = fitted.facts["delivery_auroc_out_of_fold"]
    assert ranks[fitted.facts["learned_from"]] == max(ranks.values())
    assert ranks[learn_from] == made.facts["delivery_auroc_out_of_fold"][learn_from]


def test_no_other_head_takes_a_prior() -> None:
    made = fit(MADE, POOLS, LABELS, HEADER, head="ngrams")
    assert made.facts["prior"] == "none: the head ngrams takes none"
    assert made.facts["learned_from"] == "answerable"


def test_committed_answers_are_weighed_without_n_grams(fitted: Monitor) -> None:
    for head in (fitted.estimators.answerability, fitted.estimators.correctness):
        assert isinstance(head, FittedLinearHead)
        assert head.regimes[1].weights[0] == 0.0
