"""Nothing that tells the outcome reaches a score; live assessment equals replay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from run_cases import HEADER, planted_store, runs
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.record import Outcome, Trajectory

PLANTED = {
    "outcome": "answered",
    "correct": True,
    "label": 1,
    "gold_sql": "SELECT 42",
    "answerable": False,
}


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    made, pools, labels = planted_store(240, seed=21)
    return fit(made, pools, labels, HEADER)


@given(run=runs(), other=runs(), cut=st.integers(0, 6))
@settings(max_examples=40)
def test_outcome_gold_and_later_steps_change_no_earlier_score(
    monitor: Monitor, run: Trajectory, other: Trajectory, cut: int
) -> None:
    cut = min(cut, len(run.steps))
    before = list(monitor.replay(run))[: cut + 1]
    later = [
        step.model_copy(update={"index": cut + number})
        for number, step in enumerate(other.steps, start=1)
    ]
    told = run.model_dump() | PLANTED
    told["question"] |= PLANTED | {"id": "gold: SELECT 42", "database": "correct"}
    told["agent"] |= PLANTED
    told["steps"] = [_planted(step.model_dump()) for step in (*run.steps[:cut], *later)]
    told["outcome"] = {"kind": "answered", "final_sql": "SELECT 42", **PLANTED}
    tampered = Trajectory.model_validate(told)
    assert list(monitor.replay(tampered))[: cut + 1] == before


@given(run=runs())
@settings(max_examples=25)
def test_stated_outcome_changes_no_score(monitor: Monitor, run: Trajectory) -> None:
    honest = list(monitor.replay(run))
    for kind in ("answered", "abstained", "cap"):
        swapped = run.model_copy(update={"outcome": Outcome(kind=kind, final_sql="SELECT 42")})
        assert list(monitor.replay(swapped)) == honest


@given(several=st.lists(runs(), min_size=1, max_size=4))
@settings(max_examples=25)
def test_live_assessments_equal_batch_scores(monitor: Monitor, several: list[Trajectory]) -> None:
    for run in several:
        live = list(monitor.replay(run))
        for prefix, assessed in zip(run.prefixes(), live, strict=True):
            session = monitor.open(prefix.question)
            for step in prefix.steps:
                session.observe(step)
            assert session.assess() == assessed
            assert session.assess() is session.assess()


def test_live_scores_equal_those_of_the_calibration_pool(monitor: Monitor) -> None:
    made, pools, labels = planted_store(240, seed=21)
    pool = [run for run in made if pools.pool_of(run.question.id) == "calibration"]
    again = prefix_scores(monitor.estimators, pool, pools=pools, labels=labels)
    for name in ("p_answerable", "p_correct", "raw_correct"):
        assert getattr(again, name).tolist() == getattr(monitor.calibration, name).tolist()


def test_only_a_committed_answer_has_a_delivery_confidence(
    monitor: Monitor,
) -> None:
    ends = {
        "final_sql": make_step(2, action="final_sql"),
        "final_null": make_step(2, action="final_null"),
        "sql": make_step(2),
    }
    for action, last in ends.items():
        *opened, final = monitor.replay(make_trajectory(steps=[make_step(1), last]))
        assert all(each.delivery is None for each in opened)
        told = (final.delivery, final.delivery_score, final.p_unanswerable)
        assert [value is not None for value in told] == [action == "final_sql"] * 3


def test_planted_hint_moves_confidence_the_right_way() -> None:
    made, pools, labels = planted_store(240, seed=21)
    monitor = fit(made, pools, labels, HEADER, head="ngrams")  # the hint is a word of the thought
    good, bad = (
        list(monitor.replay(make_trajectory(text="what was the glucose?", steps=[step])))[-1]
        for step in (
            make_step(1, action="final_sql", thought=hint) for hint in ("carefully", "hastily")
        )
    )
    assert good.delivery is not None
    assert bad.delivery is not None
    assert good.delivery > bad.delivery
    weather = next(iter(monitor.replay(make_trajectory(text="what was the weather?"))))
    assert weather.p_answerable < good.p_answerable


def test_steps_must_come_in_order(monitor: Monitor) -> None:
    session = monitor.open(make_trajectory().question)
    with pytest.raises(ValueError, match="expected step 1, got step 2"):
        session.observe(make_step(2))


def _planted(step: dict[str, Any]) -> dict[str, Any]:
    told = step | PLANTED | {"reply": "the gold is SELECT 42"}
    told["observation"] = step["observation"] | PLANTED
    return told
