"""Fitting finds a planted signal, is deterministic, never reads held-out runs, and refuses well."""

from __future__ import annotations

import numpy as np
import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.errors import (
    CannotFitError,
    InputError,
    LabelsError,
    PoolsError,
    StoreError,
)
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import STAGES, fit
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import Outcome
from small_runs import fitted

MADE, POOLS, LABELS = planted_store(240, seed=41)


@pytest.fixture(scope="module")
def stages() -> list[tuple[int, int]]:
    """What fitting the shared monitor reports of its progress."""
    return []


@pytest.fixture(scope="module")
def monitor(stages: list[tuple[int, int]]) -> Monitor:
    """The monitor of these runs, fitted once and only read."""
    return fit(MADE, POOLS, LABELS, HEADER, on_progress=lambda *at: stages.append(at))


def test_planted_words_are_found_on_runs_never_seen() -> None:
    from sklearn.metrics import roc_auc_score

    # The default head weighs no words of a committed answer, so the one of n-grams finds them.
    monitor = fit(MADE, POOLS, LABELS, HEADER, head="ngrams")

    heldout = [run for run in MADE if POOLS.pool_of(run.question.id) == "heldout"]
    scores = prefix_scores(monitor.estimators, heldout, pools=POOLS, labels=LABELS)
    last = scores.offsets[1:] - 1
    judged = scores.answered & scores.answerable
    assert roc_auc_score(scores.correct[judged], scores.raw_correct[last][judged]) > 0.9
    assert roc_auc_score(scores.answerable, scores.p_answerable[last]) > 0.9
    assert monitor.facts["train_auroc_out_of_fold"]["correctness"] > 0.9


def test_the_hybrid_learns_from_scores_of_runs_that_the_head_never_saw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sklearn.metrics import roc_auc_score

    from sentinel_sql.pipeline.learning import learn_heads as fit_module

    # On labels that mean nothing a head still ranks its own training runs almost perfectly.
    shuffled = dict(LABELS)
    judged = [name for name, label in LABELS.items() if label.correct is not None]
    verdicts = np.random.default_rng(3).permutation([LABELS[n].correct is True for n in judged])
    for name, verdict in zip(judged, verdicts.tolist(), strict=True):
        if LABELS[name].answerable:
            shuffled[name] = LABELS[name].model_copy(update={"correct": verdict})
    seen: list[float] = []
    honest = fit_module.fit_hybrid

    def spy(inputs: np.ndarray, correct: np.ndarray, *, seed: int) -> object:
        seen.append(float(roc_auc_score(correct, inputs[:, 0])))
        return honest(inputs, correct, seed=seed)

    monkeypatch.setattr(fit_module, "fit_hybrid", spy)
    fit(MADE, POOLS, shuffled, HEADER)
    assert 0.2 < seen[0] < 0.8


def test_equal_seeds_give_equal_monitors_and_heldout_runs_change_nothing(
    monitor: Monitor,
) -> None:
    without = [run for run in MADE if POOLS.pool_of(run.question.id) != "heldout"]
    second = fit(without, POOLS, LABELS, HEADER)
    assert monitor.thresholds == second.thresholds
    assert monitor.facts == second.facts
    for name, column in vars(monitor.calibration).items():
        np.testing.assert_array_equal(getattr(second.calibration, name), column)


def test_thresholds_are_those_of_the_kept_calibration_columns(
    monitor: Monitor, stages: list[tuple[int, int]]
) -> None:
    from sentinel_sql.decision.thresholds import freeze

    assert freeze(monitor.calibration) == monitor.thresholds
    assert stages == [(number, STAGES) for number in range(1, STAGES + 1)]


def test_each_map_is_honest_about_its_own_target_on_the_calibration_pool(monitor: Monitor) -> None:
    # An isotonic map averages to the share of its target on the cases that it was fitted on; the
    # counts of its blocks draw it towards a half by less than half a case a block.
    scores = monitor.calibration
    answered = scores.answered
    ends_well = np.repeat(scores.correct, scores.steps + 1)
    assert scores.p_correct.mean() == pytest.approx(ends_well.mean(), abs=0.05)
    assert scores.delivery[answered].mean() == pytest.approx(
        scores.correct[answered].mean(), abs=0.05
    )
    epsilon = scores.p_unanswerable[answered].mean()
    assert epsilon == pytest.approx((~scores.answerable[answered]).mean(), abs=0.05)
    assert not scores.answerable[answered].all()


def test_columns_hold_what_happened(monitor: Monitor) -> None:
    scores = prefix_scores(monitor.estimators, MADE[:20], pools=POOLS, labels=LABELS)
    for i, run in enumerate(MADE[:20]):
        label = LABELS[run.question.id]
        assert scores.question_ids[i] == run.question.id
        assert scores.steps[i] == len(run.steps)
        assert scores.answered[i] == (run.outcome.kind == "answered")
        assert scores.abstained[i] == (run.outcome.kind == "abstained")
        assert scores.answerable[i] == label.answerable
        assert scores.correct[i] == (label.correct is True)
        assert np.isnan(scores.delivery[i]) == (run.outcome.kind != "answered")
        rows = slice(scores.offsets[i], scores.offsets[i + 1])
        assert scores.tokens[rows].tolist() == [0.0, *([12.0] * len(run.steps))]
        assert scores.seconds[rows].tolist() == [0.0, *([0.5] * len(run.steps))]


def test_a_run_of_an_unknown_question_is_refused() -> None:
    stranger = MADE[0].model_copy(
        update={"question": MADE[0].question.model_copy(update={"id": "stranger"})}
    )
    with pytest.raises(PoolsError, match="stranger"):
        fit([*MADE, stranger], POOLS, LABELS, HEADER)


def test_runs_of_two_agents_are_refused_by_name() -> None:
    other = MADE[0].agent.model_copy(update={"model": "another-model"})
    mixed = [MADE[0].model_copy(update={"agent": other}), *MADE[1:]]
    with pytest.raises(StoreError, match="another-model"):
        fit(mixed, POOLS, LABELS, HEADER)


def test_a_run_twice_is_refused() -> None:
    with pytest.raises(StoreError, match="twice"):
        fit([*MADE, MADE[0]], POOLS, LABELS, HEADER)


def test_an_empty_store_is_refused() -> None:
    with pytest.raises(StoreError, match="no run"):
        fit([], POOLS, LABELS, HEADER)


def test_a_run_without_a_label_is_left_out_and_counted(monitor: Monitor) -> None:
    name = next(run.question.id for run in MADE if POOLS.pool_of(run.question.id) == "calibration")
    without = {key: label for key, label in LABELS.items() if key != name}
    fewer = fit(MADE, POOLS, without, HEADER)
    assert (monitor.facts["unlabelled"], fewer.facts["unlabelled"]) == (0, 1)
    assert fewer.facts["runs"]["calibration"] == monitor.facts["runs"]["calibration"] - 1
    with pytest.raises(LabelsError, match="none of the"):
        fit(MADE, POOLS, {}, HEADER)


def test_a_label_of_another_run_is_refused() -> None:
    name = MADE[0].question.id
    other = "cap" if LABELS[name].outcome != "cap" else "abstained"
    wrong = LABELS[name].model_copy(update={"outcome": other})
    with pytest.raises(LabelsError, match="label the store again"):
        fit(MADE, POOLS, {**LABELS, name: wrong}, HEADER)


def test_a_run_that_contradicts_itself_is_refused() -> None:
    told = MADE[0].model_copy(
        update={
            "steps": (make_step(1),),
            "outcome": Outcome(kind="answered", final_sql="SELECT 1"),
        }
    )
    with pytest.raises(StoreError, match="last step"):
        fit([told, *MADE[1:]], POOLS, LABELS, HEADER)


@pytest.mark.parametrize("pool", ["train", "calibration"])
def test_a_pool_with_one_class_is_refused_with_its_counts(pool: str) -> None:
    one_sided = {
        name: label.model_copy(update={"correct": True, "answerable": True})
        if POOLS.pool_of(name) == pool and label.outcome == "answered"
        else label
        for name, label in LABELS.items()
    }
    with pytest.raises(CannotFitError, match=rf"the {pool} pool .*0 wrongly answered"):
        fit(MADE, POOLS, one_sided, HEADER)


def test_an_unknown_head_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match="linear"):
        fit(MADE, POOLS, LABELS, HEADER, head="oracle")


@pytest.mark.parametrize("wrong", [0, 1, -1, float("nan")])
@pytest.mark.parametrize("name", ["certify", "certify_risk"])
def test_a_chance_outside_of_0_and_1_is_refused_by_its_name(name: str, wrong: float) -> None:
    monitor, runs, pools, labels = fitted()
    del monitor
    with pytest.raises(InputError, match=f"^{name} lies between 0 and 1"):
        fit(runs, pools, labels, HEADER, **{name: wrong})


def test_a_fit_of_known_runs_gives_the_scores_that_it_gave_before() -> None:
    # Whoever changes how a monitor is fitted sees here by how much, and renews these numbers.
    monitor, runs, pools, labels = fitted()
    heldout = [run for run in runs if pools.pool_of(run.question.id) == "heldout"][:12]
    scores = prefix_scores(monitor.estimators, heldout, pools=pools, labels=labels)
    first, last = scores.offsets[:-1], scores.offsets[1:] - 1
    for name, at, before in (
        ("p_answerable", first, "148 816 862 718 922 176 843 147 718 941 843 848"),
        ("p_answerable", last, "032 949 988 949 967 026 949 026 762 941 400 990"),
        ("raw_correct", last, "021 837 937 837 203 013 837 013 875 941 127 959"),
    ):
        thousandths = [int(number) / 1000 for number in before.split()]
        assert getattr(scores, name)[at] == pytest.approx(thousandths, abs=2e-3), name
    assert monitor.facts["train_auroc_out_of_fold"] == pytest.approx(
        {"answerability": 0.9651, "answerability_at_0": 0.7503, "correctness": 0.9584}, abs=2e-3
    )
    assert monitor.facts["calibration_auroc"] == pytest.approx(
        {"answerability": 0.9845, "answerability_at_0": 1.0000, "correctness": 0.9909}, abs=2e-3
    )
