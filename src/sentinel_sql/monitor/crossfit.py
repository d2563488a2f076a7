"""Out-of-fold scores: no run is scored by a head that has seen its question's template."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from sentinel_sql.errors import CannotFitError
from sentinel_sql.monitor.head import Bools, Floats, Head, Ints
from sentinel_sql.monitor.snapshots import ReadRun, fit_head, score_prefixes

FOLDS = 5
"""Folds of the cross-fit (paper section 3.3)."""


def assign_folds(
    *, templates: Sequence[str], strata: Ints, needed: Sequence[Bools], seed: int
) -> Ints:
    """Assign every run a fold, shape (n,): no template in two folds, strata spread evenly.

    Args:
        templates: n template names.
        strata: shape (n,), what to spread evenly.
        needed: masks of shape (n,); outside each fold every one of them must still hold a run.
        seed: of the shuffle; equal seeds give equal folds.

    Raises:
        CannotFitError: no number of folds from 5 down to 2 leaves every mask a run.
    """
    names = np.unique(np.asarray(templates), return_inverse=True)[1]
    for folds in range(min(FOLDS, int(names.max(initial=0)) + 1), 1, -1):
        fold = np.zeros(len(strata), np.int64)
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # A stratum smaller than the number of folds can't be in all of them; `needed` is
            # what matters, and is checked.
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
    *,
    targets: Bools,
    trained_on: Bools,
    templates: Sequence[str],
    folds: Ints,
    seed: int,
) -> Floats:
    """Score every prefix of every run by a head fitted on the other folds.

    Args:
        head: the kind of head.
        runs: n read runs.
        targets: shape (n,).
        trained_on: shape (n,), the runs that may be fitted on; all are scored.
        templates: n template names.
        folds: shape (n,), the fold of each run.
        seed: of the fits.

    Returns:
        Scores of all prefixes in the runs' order, shape (P,).
    """
    starts = np.cumsum([0, *(len(run.scoring) for run in runs)])
    scores = np.empty(starts[-1])
    for fold in np.unique(folds):
        fitted_on = np.flatnonzero((folds != fold) & trained_on).tolist()
        fitted = fit_head(
            head,
            [runs[i] for i in fitted_on],
            targets[fitted_on],
            templates=[templates[i] for i in fitted_on],
            seed=seed,
        )
        for i in np.flatnonzero(folds == fold).tolist():
            scores[starts[i] : starts[i + 1]] = score_prefixes(fitted, [runs[i]])
    return scores
