"""Out-of-fold scores: a run is scored by a head that hasn't seen its question's template."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from sentinel_sql.errors import CannotFitError
from sentinel_sql.monitor.head import Bools, Floats, Head, Ints
from sentinel_sql.monitor.snapshots import ReadRun, Task, fit_heads, score_prefixes

FOLDS = 5
"""Folds of the cross-fit (paper section 3.3)."""


def assign_folds(
    *, templates: Sequence[str], strata: Ints, needed: Sequence[Bools], seed: int
) -> Ints:
    """Return the fold of every run, shape (n,). A template is in one fold only.

    Args:
        templates: n template names.
        strata: shape (n,), the classes to spread evenly over the folds.
        needed: masks of shape (n,); each must have a run outside of every fold.
        seed: of the shuffle; equal seeds give equal folds.

    Raises:
        CannotFitError: `needed` can't be met with 5 folds, nor with fewer down to 2.
    """
    names = np.unique(np.asarray(templates), return_inverse=True)[1]
    for folds in range(min(FOLDS, int(names.max(initial=0)) + 1), 1, -1):
        fold = np.zeros(len(strata), np.int64)
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # A stratum with fewer runs than folds can't be in all of them. That is harmless:
            # what must hold is `needed`, which is checked below.
            warnings.simplefilter("ignore", UserWarning)
            try:
                for number, (_, held) in enumerate(splitter.split(strata, strata, names)):
                    fold[held] = number
            except ValueError:
                continue
        if all((mask & (fold != number)).any() for mask in needed for number in range(folds)):
            return fold
    raise CannotFitError(
        "the train pool can't be split by template so that every part keeps correct, wrong and "
        "unanswerable runs: collect runs over more templates"
    )


def out_of_fold(
    head: Head[Any],
    runs: Sequence[ReadRun],
    tasks: Sequence[Task],
    *,
    templates: Sequence[str],
    folds: Ints,
    seed: int,
) -> tuple[Floats, ...]:
    """Score every prefix of every run by heads fitted on the other folds.

    Args:
        head: the kind of all heads.
        runs: n runs; all are scored, including those that a task isn't trained on.
        tasks: what each head learns.
        templates: n template names.
        folds: shape (n,), the fold of each run.
        seed: of the fits.

    Returns:
        For each task the scores of all P prefixes in the order of the runs, shape (P,).
    """
    fold_of = np.repeat(folds, [len(run.scoring) for run in runs])
    scores = tuple(np.empty(len(fold_of)) for _ in tasks)
    for fold in np.unique(folds):
        others = np.flatnonzero(folds != fold).tolist()
        fitted = fit_heads(
            head,
            [runs[i] for i in others],
            [
                Task(
                    targets=task.targets[others],
                    trained_on=task.trained_on[others],
                    head=task.head,
                )
                for task in tasks
            ],
            templates=[templates[i] for i in others],
            seed=seed,
        )
        held = [runs[i] for i in np.flatnonzero(folds == fold).tolist()]
        for column, its in zip(scores, fitted, strict=True):
            column[fold_of == fold] = score_prefixes(its, held)
    return scores
