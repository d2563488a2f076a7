"""Each head learns from the runs, the margins and the class weights that it is meant to."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from run_cases import HEADER, planted_store
from sentinel_sql.monitor.heads.linear import fit_ngrams, fit_regimes
from sentinel_sql.monitor.heads.ngram_head import NgramHead
from sentinel_sql.monitor.heads.ngrams import Counts, count_ngrams
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.trajectory.record import Trajectory

MADE, POOLS, LABELS = planted_store(240, seed=41)


def reworded(run: Trajectory) -> Trajectory:
    """Return the run with other thoughts, and everything else as it was."""
    steps = tuple(
        step.model_copy(update={"thought": f"entirely other words {step.index}"})
        for step in run.steps
    )
    return run.model_copy(update={"steps": steps})


@cache
def unchanged(head: str) -> Monitor:
    return fit(MADE, POOLS, LABELS, HEADER, head=head, learn_from="answerable")


def without_chance_to_judge(run: Trajectory) -> bool:
    label = LABELS[run.question.id]
    return run.outcome.kind == "answered" and not label.answerable


@pytest.mark.parametrize("head", ["ngrams", "linear"])
def test_the_correctness_head_learns_nothing_from_answers_to_unanswerable_questions(
    head: str,
) -> None:
    changed = [reworded(run) if without_chance_to_judge(run) else run for run in MADE]
    trained_on = [run for run in MADE if POOLS.pool_of(run.question.id) == "train"]
    assert sum(map(without_chance_to_judge, trained_on)) >= 5
    first, second = (
        unchanged(head),
        fit(changed, POOLS, LABELS, HEADER, head=head, learn_from="answerable"),
    )
    kept, again = (it.estimators.correctness.arrays() for it in (first, second))
    for name, column in kept.items():
        np.testing.assert_array_equal(again[name], column)
    others = (it.estimators.answerability.arrays() for it in (first, second))
    seen, seen_again = (next(iter(arrays.values())) for arrays in others)
    assert not np.array_equal(seen, seen_again)  # the change was one that a head can see


@pytest.mark.parametrize("head", ["ngrams", "linear"])
def test_the_correctness_head_does_learn_from_answers_to_answerable_questions(head: str) -> None:
    changed = [
        reworded(run) if LABELS[run.question.id].correct is not None else run for run in MADE
    ]
    monitors = (unchanged(head), fit(changed, POOLS, LABELS, HEADER, head=head))
    first, second = (next(iter(it.estimators.correctness.arrays().values())) for it in monitors)
    assert not np.array_equal(first, second)


def meaningless(seed: int, cases: int = 160) -> tuple[list[Counts], np.ndarray, np.ndarray]:
    """Make texts with a word of their own each, labels at random, and four cases a template."""
    rng = np.random.default_rng(seed)
    texts = [f"own{number} word{rng.integers(9)} word{rng.integers(9)}" for number in range(cases)]
    return [count_ngrams(text) for text in texts], rng.random(cases) < 0.5, np.arange(cases) // 4


@pytest.mark.parametrize("seed", range(3))
def test_an_n_gram_margin_is_of_a_model_that_has_not_seen_the_template(seed: int) -> None:
    counts, targets, groups = meaningless(seed)
    whole, margins = fit_ngrams(counts, targets, groups, seed=0)
    assert roc_auc_score(targets, [whole.margin(each) for each in counts]) > 0.95
    assert roc_auc_score(targets, margins) < 0.7


def test_the_margins_of_a_template_do_not_depend_on_its_own_labels() -> None:
    counts, targets, groups = meaningless(5)
    mine = groups == groups[0]
    _, margins = fit_ngrams(counts, targets, groups, seed=0)
    # Swapping labels inside a template keeps the classes in balance, and so the folds.
    swapped = targets.copy()
    swapped[mine] = swapped[mine][::-1]
    _, again = fit_ngrams(counts, swapped, groups, seed=0)
    np.testing.assert_array_equal(again[mine], margins[mine])


@pytest.mark.parametrize("share", [0.05, 0.1, 0.9])
def test_n_grams_weigh_both_classes_the_same_however_rare_one_is(share: float) -> None:
    same = count_ngrams("the same words for everyone")
    targets = np.arange(200) < 200 * share
    head = NgramHead().fit([same] * 200, targets, groups=np.arange(200), seed=0)
    assert head.score([same])[0] == pytest.approx(0.5, abs=0.02)


def test_each_regime_learns_from_its_own_snapshots() -> None:
    rng = np.random.default_rng(4)
    targets, answered = rng.random(600) < 0.5, rng.random(600) < 0.5
    signal = np.where(targets == answered, 1.0, -1.0) + rng.normal(scale=0.5, size=600)
    regimes = fit_regimes(
        rng.normal(size=600), signal[:, None], answered, targets, np.arange(600), seed=0
    )
    before, answers = (regime.weights[1] for regime in regimes)
    assert before < 0.0 < answers


@pytest.mark.parametrize("share", [0.05, 0.1, 0.9])
def test_regimes_weigh_both_classes_the_same_however_rare_one_is(share: float) -> None:
    rng = np.random.default_rng(2)
    cases = 800
    targets = rng.permutation(np.arange(cases) < cases * share)
    margins = rng.normal(size=cases) + targets  # else a regime would take the margin as it is
    for regime in fit_regimes(
        margins,
        rng.normal(size=(cases, 2)),
        rng.random(cases) < 0.5,
        targets,
        np.arange(cases),
        seed=0,
    ):
        middle = regime.margin(
            np.array([margins[targets].mean() / 2 + margins[~targets].mean() / 2, 0, 0])
        )
        assert abs(middle) < 0.6  # unweighted it is the log-odds of the share, at least 2.2
