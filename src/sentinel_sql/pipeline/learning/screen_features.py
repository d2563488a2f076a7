"""Screens features on a store's train pool: fits heads with and without them, out of fold.

The n-grams are fitted once for each fold. The other weights are fitted again for each feature, with
the same functions that fit the `linear` head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from sentinel_sql.errors import StoreError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.studies.feature_screen import (
    ScreenScores,
    family_knockouts,
    feature_screen,
    survivor_matrix,
)
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.crossfit import assign_folds
from sentinel_sql.monitor.families.alarms import FEATURES as ALARM_FEATURES
from sentinel_sql.monitor.families.table import ALARMS, ALL_FAMILIES, DEFAULT_FAMILIES, select
from sentinel_sql.monitor.features.telemetry import TelemetryState
from sentinel_sql.monitor.features.ten_features import FEATURES
from sentinel_sql.monitor.head import Bools, Floats, Ints
from sentinel_sql.monitor.heads.linear import LinearHead, balance, fit_ngrams, fit_regimes
from sentinel_sql.monitor.heads.regimes import FittedRegime
from sentinel_sql.monitor.heads.ridge import fit_ridge
from sentinel_sql.monitor.snapshots import read_run
from sentinel_sql.pipeline.scoring import label_of, surroundings_of
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.record import Trajectory

OnProgress = Callable[[int, int], None]
"""Called with (folds done, all folds)."""

NGRAMS, WHOLE = "n-grams", "linear"


def screen_features(
    trajectories: Iterable[Trajectory],
    pools: Pools,
    labels: Mapping[str, Label],
    header: LabelsHeader,
    *,
    seed: int = 42,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Mapping[str, Exhibit[Any]]:
    """Return the exhibits `feature_screen`, `survivor_matrix` and `family_knockouts`.

    Args:
        trajectories: the store's runs; only answers to answerable questions of the train pool
            are used.
        pools: the pool manifest.
        labels: labels by run id; runs without a label or a verdict are left out.
        header: header of the labels file, with clock and schema.
        seed: seed of folds, fits and intervals.
        on_progress: called with (folds done, all folds).

    Raises:
        PoolsError: the manifest doesn't know the question of a run.
        StoreError: there is no such run, or a run contradicts itself.
        LabelsError: the labels don't fit the runs.
        CannotFitError: there are too few runs of a class, or too few templates.
    """
    runs_used = [
        run
        for run in trajectories
        if pools.pool_of(run.question.id) == "train"
        and (label := labels.get(run.question.id)) is not None
        and label.answerable
        and not label.without_verdict
        and label_of(run, labels).outcome == "answered"
    ]
    if not runs_used:
        raise StoreError(
            "the train pool holds no labelled answer to an answerable question: collect and label "
            "some first"
        )
    head = LinearHead(families=ALL_FAMILIES)
    surroundings = surroundings_of(header)
    read_runs = [read_run(run, head=head, surroundings=surroundings) for run in runs_used]
    templates = [pools.template_of(run.question.id) for run in runs_used]
    correct = np.array([labels[run.question.id].correct is True for run in runs_used], np.bool_)
    folds = assign_folds(
        templates=templates, strata=correct.astype(np.int64), needed=(correct, ~correct), seed=seed
    )
    sizes = np.array([len(run.training) for run in read_runs])
    snapshots = [snapshot for run in read_runs for snapshot in run.training]
    dense = np.array([snapshot.dense for snapshot in snapshots])
    answered = np.array([snapshot.answered for snapshot in snapshots], np.bool_)
    targets = np.repeat(correct, sizes)
    groups = np.repeat(np.unique(templates, return_inverse=True)[1].astype(np.int64), sizes)
    fold_of = np.repeat(folds, sizes)
    ten = np.repeat([run.features for run in read_runs], sizes, axis=0)
    candidates = dict(_candidates(dense, np.where(answered[:, np.newaxis], ten, np.nan)))
    # A feature that no run records is constant, so any effect of it would be chance.
    absent = _unrecorded(runs_used)
    for name in absent:
        del candidates[f"feature {name}"]
    scores = {name: np.empty(len(snapshots)) for name in (NGRAMS, *candidates)}
    total = int(folds.max()) + 1
    for fold in range(total):
        others, held = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        whole, margins = fit_ngrams(
            [snapshots[i].counts for i in others], targets[others], groups[others], seed=seed
        )
        at_held = np.array([whole.margin(snapshots[i].counts) for i in held])
        scores[NGRAMS][held] = at_held
        for name, columns in candidates.items():
            regimes = _fit_candidate(
                margins,
                columns[others],
                answered[others],
                targets[others],
                groups[others],
                beside_ngrams=name.startswith(("feature ", "with ")),
                seed=seed,
            )
            scores[name][held] = [
                regimes[int(answered[i])].margin(np.concatenate(([margin], columns[i])))
                for i, margin in zip(held, at_held, strict=True)
            ]
        on_progress(fold + 1, total)
    last = np.cumsum(sizes) - 1
    made = ScreenScores(
        templates=tuple(templates),
        correct=correct,
        clean=np.array([run.steps[-1].observation.kind == "rows" for run in runs_used], np.bool_),
        ngrams=scores[NGRAMS][last],
        features={
            name: None if name in absent else scores[f"feature {name}"][last] for name in FEATURES
        },
        families={name: scores[f"with {name}"][last] for name in ALL_FAMILIES},
        without={name: scores[f"without {name}"][last] for name in DEFAULT_FAMILIES},
        whole=scores[WHOLE][last],
    )
    screen = feature_screen(made, seed=seed)
    return {
        "feature_screen": screen,
        "survivor_matrix": survivor_matrix(runs_used[0].agent.fingerprint, screen),
        "family_knockouts": family_knockouts(made, seed=seed),
    }


def _unrecorded(runs: Iterable[Trajectory]) -> frozenset[str]:
    """Return the features whose token telemetry no run has."""
    found = set(TelemetryState().values())
    for run in runs:
        state = TelemetryState()
        for step in run.steps:
            state.observe(step)
        found -= {name for name, value in state.values().items() if value is not None}
    return frozenset(found)


def _fit_candidate(
    margins: Floats,
    dense: Floats,
    answered: Bools,
    targets: Bools,
    groups: Ints,
    *,
    beside_ngrams: bool,
    seed: int,
) -> tuple[FittedRegime, FittedRegime]:
    """Fit as the head does, or weigh the columns beside the n-grams in answers too."""
    if not beside_ngrams:
        return fit_regimes(margins, dense, answered, targets, groups, seed=seed)
    weights = balance(targets)
    open_, answers = (
        fit_ridge(dense[on], targets[on], groups[on], weights[on], margins=margins[on], seed=seed)
        for on in (~answered, answered)
    )
    return open_, answers


def _candidates(dense: Floats, ten: Floats) -> Mapping[str, Floats]:
    """Return the dense columns of every candidate, by name.

    Args:
        dense: shape (P, d), features of all families.
        ten: shape (P, 10), the paper's features at a committed answer, NaN elsewhere.
    """
    found = {WHOLE: select(dense, DEFAULT_FAMILIES)}
    found |= {f"feature {name}": ten[:, [at]] for at, name in enumerate(FEATURES)}
    for name in ALL_FAMILIES:
        # The family of alarms still counts the alarms of every family.
        found[f"with {name}"] = (
            dense[:, -len(ALARM_FEATURES) :] if name == ALARMS else select(dense, (name,))
        )
    for name in DEFAULT_FAMILIES:
        found[f"without {name}"] = select(
            dense, tuple(each for each in DEFAULT_FAMILIES if each != name)
        )
    return found
