"""What the agent's own model says of its answer: weighed where it was asked, unseen elsewhere."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from run_cases import HEADER, planted_store
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.live_step import LiveStep
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.families.asked import FEATURES
from sentinel_sql.monitor.families.table import DenseState, names_of
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.monitor.surroundings import NOWHERE
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import Pools
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import AskedQuestion, Step, Trajectory

Made = tuple[Monitor, list[Trajectory], Pools, dict[str, object]]


def asked_run(run: Trajectory, chance: float) -> Trajectory:
    last = run.steps[-1].model_copy(update={"p_true": chance})
    return run.model_copy(update={"steps": (*run.steps[:-1], last)})


@pytest.fixture(scope="module")
def made() -> Made:
    runs, pools, labels = planted_store(300, seed=5)
    rng = random.Random(1)
    asked = [
        asked_run(run, rng.uniform(0.5, 1.0) if labels[run.question.id].correct else rng.random())
        if run.outcome.kind == "answered"
        else run
        for run in runs
    ]
    return fit(asked, pools, labels, HEADER), asked, pools, labels


def values(step: Step, committed: str | None) -> dict[str, float]:
    state = DenseState(AskedQuestion(id="q", text="how many?"), NOWHERE, ("asked",))
    state.observe(step, committed)  # type: ignore[arg-type]
    return dict(zip(names_of(("asked",)), state.vector().tolist(), strict=True))


def test_only_a_committed_answer_that_was_asked_about_has_a_value() -> None:
    final = make_step(1, action="final_sql")
    said = final.model_copy(update={"p_true": 0.8})
    assert values(said, "answer") == {
        "asked.p_true": 0.8,
        "asked.log_odds": pytest.approx(math.log(4)),
    }
    for step, committed in ((final, "answer"), (said, None), (said, "abstention")):
        assert all(map(math.isnan, values(step, committed).values()))


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_certainty_has_finite_log_odds(chance: float) -> None:
    said = make_step(1, action="final_sql").model_copy(update={"p_true": chance})
    assert np.isfinite(list(values(said, "answer").values())).all()


def test_a_monitor_ranks_by_it_and_judges_answers_without_it(made: Made) -> None:
    monitor, runs, pools, labels = made
    held = [run for run in runs if pools.pool_of(run.question.id) == "heldout"]
    with_it = prefix_scores(monitor.estimators, held, pools=pools, labels=labels)
    answered = with_it.answered & with_it.answerable
    ranked = roc_auc_score(with_it.correct[answered], with_it.delivery_score[answered])
    assert ranked > 0.65
    bare = [
        run.model_copy(
            update={"steps": tuple(it.model_copy(update={"p_true": None}) for it in run.steps)}
        )
        for run in held
    ]
    without = prefix_scores(monitor.estimators, bare, pools=pools, labels=labels)
    assert np.isfinite(without.delivery[answered]).all()


def test_a_function_is_asked_once_at_the_answer_and_its_failure_says_nothing(made: Made) -> None:
    guard, calls = Guard.over(made[0], stakes=0.0), []

    def sure(question: AskedQuestion, step: Step) -> float:
        calls.append((question.text, step.index))
        return 0.97

    def broken(question: AskedQuestion, step: Step) -> float:
        raise OSError(question.text)

    confidence = {}
    asking = {"sure": sure, "none": None, "broken": broken}
    asking |= {"two": lambda *_: 2.0, "unsure": lambda *_: 0.01}
    for name, ask in asking.items():
        with guard.session("what was the glucose?", ask=ask) as session:
            session.observe(sql="SELECT 1", result=[(1,)])
            confidence[name] = session.close(final_sql="SELECT 1", result=[(1,)]).confidence
    assert calls == [("what was the glucose?", 2)]
    assert confidence["broken"] == confidence["two"] == confidence["none"]
    assert confidence["sure"] is not None
    assert confidence["unsure"] is not None
    assert confidence["sure"] > confidence["unsure"]
    with guard.session("what was the glucose?") as session:
        session.observe(sql="SELECT 1", result=[(1,)])
        said = session.close(final_sql="SELECT 1", result=[(1,)], p_true=0.97)
    assert said.confidence == confidence["sure"]


async def awaited(question: AskedQuestion, step: Step) -> float:
    return 0.5


@pytest.mark.parametrize(
    ("wrong", "words"), [(3, "type int"), ("sure", "type str"), (awaited, "asynchronous")]
)
def test_what_cannot_be_asked_is_refused_when_the_session_opens(
    made: Made, wrong: object, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Guard.over(made[0], stakes=0.0).session("what?", ask=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [1.5, -0.1, float("nan"), "sure"])
def test_a_chance_outside_of_0_and_1_is_refused(made: Made, wrong: object) -> None:
    with Guard.over(made[0], stakes=0.0).session("what?") as session:
        step = LiveStep(sql="SELECT 1", result=[(1,)], final=True, p_true=wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="p_true"):
            session.take(step)


def test_each_feature_has_a_meaning() -> None:
    assert set(FEATURES) == {"p_true", "log_odds"}
