"""No template on both sides of a fold, a planted signal is found, and noise isn't."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from run_cases import planted_store
from sentinel_sql.errors import CannotFitError
from sentinel_sql.monitor.crossfit import FOLDS, assign_folds, out_of_fold
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.snapshots import ReadRun, Task, read_run


def store(*, shuffled: bool) -> tuple[list[ReadRun], list[str], np.ndarray]:
    made, pools, labels = planted_store(240, seed=11, shuffled=shuffled)
    read = [read_run(run, head=LinearHead()) for run in made]
    templates = [pools.template_of(run.question.id) for run in made]
    return read, templates, np.array([not labels[run.question.id].answerable for run in made])


def auroc_out_of_fold(*, shuffled: bool) -> float:
    read, templates, targets = store(shuffled=shuffled)
    everyone = np.ones(len(read), np.bool_)
    folds = assign_folds(
        templates=templates, strata=targets.astype(np.int64), needed=(targets, ~targets), seed=1
    )
    tasks = [Task(targets=targets, trained_on=everyone)]
    (scores,) = out_of_fold(LinearHead(), read, tasks, templates=templates, folds=folds, seed=1)
    first = np.cumsum([0, *(len(run.scoring) for run in read[:-1])])
    return float(roc_auc_score(targets, scores[first]))


def test_out_of_fold_scores_find_a_planted_signal() -> None:
    assert auroc_out_of_fold(shuffled=False) > 0.9


def test_out_of_fold_scores_find_nothing_in_shuffled_labels() -> None:
    assert 0.35 < auroc_out_of_fold(shuffled=True) < 0.65


@given(st.lists(st.integers(0, 11), min_size=20, max_size=80), st.integers(0, 9))
def test_no_template_is_in_two_folds(groups: list[int], seed: int) -> None:
    templates = [f"t{group}" for group in [*groups, *range(12)]]
    target = np.arange(len(templates)) % 2 == 0
    everyone = np.ones(len(templates), np.bool_)
    folds = assign_folds(
        templates=templates, strata=target.astype(np.int64), needed=(everyone,), seed=seed
    )
    for template in set(templates):
        assert (
            len({fold for fold, name in zip(folds, templates, strict=True) if name == template})
            == 1
        )
    assert set(folds.tolist()) == set(range(FOLDS))


def test_every_run_is_scored_by_a_head_that_never_saw_its_template() -> None:
    read, templates, targets = store(shuffled=False)
    seen: list[set[int]] = []

    class Spy(LinearHead):
        def fit(self, inputs, targets, *, groups, seed):  # type: ignore[no-untyped-def]
            seen.append({id(snapshot) for snapshot in inputs})
            return super().fit(inputs, targets, groups=groups, seed=seed)

    folds = assign_folds(
        templates=templates, strata=targets.astype(np.int64), needed=(targets, ~targets), seed=1
    )
    everyone = np.ones(len(read), np.bool_)
    tasks = [Task(targets=targets, trained_on=everyone)]
    out_of_fold(Spy(), read, tasks, templates=templates, folds=folds, seed=1)
    for number, fitted_on in enumerate(seen):
        held = {templates[i] for i in np.flatnonzero(folds == number)}
        for run, template in zip(read, templates, strict=True):
            was_seen = any(id(snapshot) in fitted_on for snapshot in run.training)
            assert was_seen == (template not in held)


def test_few_templates_give_fewer_folds_and_one_template_an_error() -> None:
    target = np.arange(20) % 2 == 0
    few = assign_folds(
        templates=[f"t{i % 3}" for i in range(20)],
        strata=target.astype(np.int64),
        needed=(target, ~target),
        seed=0,
    )
    assert set(few.tolist()) == {0, 1, 2}
    with pytest.raises(CannotFitError, match="more templates"):
        assign_folds(
            templates=["t"] * 20,
            strata=target.astype(np.int64),
            needed=(target, ~target),
            seed=0,
        )


def test_class_in_one_template_only_is_an_error() -> None:
    rare = np.arange(20) < 4
    with pytest.raises(CannotFitError, match="more templates"):
        assign_folds(
            templates=["rare" if i < 4 else f"t{i}" for i in range(20)],
            strata=rare.astype(np.int64),
            needed=(rare, ~rare),
            seed=0,
        )
