"""Kinds of calibration maps beside the isotonic one, and the choice between them.

Each kind is stored as the same piecewise linear map. Whatever the kind, no confidence is higher
than the Laplace level of the best set of top answers that holds its score, nor lower than that of
the worst set of bottom answers: a curve can't claim more than the counts that it was fitted on.

Sources: Platt (1999); Kull, Silva Filho and Flach (2017) for beta; Vovk and Petej (2014) for
Venn-Abers, here merged into one probability as in Vovk, Petej and Fedorova (2015).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.calibration import CalibrationMap, fit_map
from sentinel_sql.monitor.head import Bools, Floats, Ints
from sentinel_sql.monitor.heads.regimes import inner_folds

MapKind = Literal["isotonic", "platt", "beta", "venn-abers"]
Calibration = Literal["chosen", "isotonic", "platt", "beta", "venn-abers"]

_EDGE = 1e-6
_MOST_SCORES = 400
"""Venn-Abers fits twice for each score, so more of them are pooled by rank (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MapChoice:
    """How a map was chosen.

    Attributes:
        kind: of the map.
        templates: the templates that it was fitted on.
        log_loss: by kind, the mean loss in nats on held-out templates; empty if nothing was
            compared.
    """

    kind: MapKind
    templates: int
    log_loss: Mapping[str, float]


def check_calibration(calibration: str) -> None:
    """Check the name of a calibration.

    Raises:
        InputError: there is none of that name.
    """
    if calibration not in get_args(Calibration):
        raise InputError(
            f"there is no calibration {calibration!r}: choose one of "
            f"{', '.join(get_args(Calibration))}"
        )


def choose_map(
    raw: Floats, targets: Bools, groups: Ints, *, calibration: Calibration = "chosen", seed: int
) -> tuple[CalibrationMap, MapChoice]:
    """Fit the kind of map with the least loss on held-out templates.

    Args:
        raw: shape (n,), n ≥ 1, scores in [0, 1].
        targets: shape (n,).
        groups: shape (n,), the template of each row.
        calibration: a kind, or "chosen".
        seed: of the folds by template.

    With templates too few for folds, the map is isotonic.

    Raises:
        InputError: there is no such kind.
    """
    check_calibration(calibration)
    losses: dict[str, float] = {}
    kind: MapKind = "isotonic"
    if calibration != "chosen":
        kind = calibration
    elif pairs := inner_folds(targets, groups, seed):
        for name, fit in KINDS.items():
            total = 0.0
            for fitted_on, held in pairs:
                found = fit(raw[fitted_on], targets[fitted_on])(raw[held])
                total -= np.log(np.where(targets[held], found, 1.0 - found)).sum()
            losses[name] = float(total) / sum(len(held) for _, held in pairs)
        kind = min(KINDS, key=lambda name: losses[name])
    choice = MapChoice(kind=kind, templates=len(np.unique(groups)), log_loss=losses)
    return KINDS[kind](raw, targets), choice


def fit_platt(raw: Floats, targets: Bools) -> CalibrationMap:
    """Fit a logistic curve over the log-odds of the score; see `choose_map`."""
    return _curve(raw, targets, lambda s: np.column_stack([np.log(s) - np.log1p(-s)]))


def fit_beta(raw: Floats, targets: Bools) -> CalibrationMap:
    """Fit a beta curve: a logistic one over ln s and −ln(1 − s); see `choose_map`."""
    return _curve(raw, targets, lambda s: np.column_stack([np.log(s), -np.log1p(-s)]))


def fit_venn_abers(raw: Floats, targets: Bools) -> CalibrationMap:
    """Fit an inductive Venn-Abers predictor; its two probabilities become one.

    Each score is added once as wrong and once as right, and an isotonic fit gives p₀ and p₁. The
    confidence is p₁ / (1 − p₀ + p₁).
    """
    from sklearn.isotonic import isotonic_regression  # a guard starts without it

    scores, right, cases = _counts(raw, targets)
    own = np.arange(len(scores))
    found = np.empty((2, len(scores)))
    for as_right in (0, 1):
        for at in own:
            more = np.where(own == at, 1.0, 0.0)
            weights = cases + more
            levels = isotonic_regression((right + as_right * more) / weights, sample_weight=weights)
            found[as_right, at] = levels[at]
    return _bounded(scores, right, cases, found[1] / (1.0 - found[0] + found[1]))


KINDS: Mapping[MapKind, Callable[[Floats, Bools], CalibrationMap]] = MappingProxyType(
    {"isotonic": fit_map, "platt": fit_platt, "beta": fit_beta, "venn-abers": fit_venn_abers}
)


def _curve(raw: Floats, targets: Bools, columns: Callable[[Floats], Floats]) -> CalibrationMap:
    """Fit a logistic curve that never falls; targets are smoothed by their counts, as by Platt."""
    from sklearn.linear_model import LogisticRegression

    def shape(values: Floats) -> Floats:
        return columns(np.clip(values, _EDGE, 1.0 - _EDGE))

    scores, right_of, cases_of = _counts(raw, targets, most=len(raw))
    right, cases = int(targets.sum()), len(targets)
    high, low = (right + 1.0) / (right + 2.0), 1.0 / (cases - right + 2.0)
    soft = np.where(targets, high, low)
    read = shape(raw)
    used = list(range(read.shape[1]))
    levels = np.full(len(scores), (right + 1.0) / (cases + 2.0))
    model = LogisticRegression(C=1e6, max_iter=1000)
    while used:
        with threadpool_limits(limits=1):
            model.fit(
                np.vstack([read[:, used]] * 2),
                np.repeat([True, False], cases),
                sample_weight=np.concatenate([soft, 1.0 - soft]),
            )
        if model.coef_.min() >= 0.0:
            levels = model.predict_proba(shape(scores)[:, used])[:, 1]
            break
        used.pop(int(np.argmin(model.coef_[0])))
    return _bounded(scores, right_of, cases_of, levels)


def _counts(
    raw: Floats, targets: Bools, *, most: int = _MOST_SCORES
) -> tuple[Floats, Floats, Floats]:
    """Return ascending scores, and the right cases and all cases of each; at most `most`."""
    scores, at = np.unique(raw, return_inverse=True)
    if len(scores) > most:
        part = np.arange(len(scores)) * most // len(scores)
        at = part[at]
        scores = np.array([scores[part == number].mean() for number in range(most)])
    return (
        scores.astype(np.float64),
        np.bincount(at, weights=targets).astype(np.float64),
        np.bincount(at).astype(np.float64),
    )


def _bounded(scores: Floats, right: Floats, cases: Floats, levels: Floats) -> CalibrationMap:
    """Return a map whose confidences stay within what the counts carry, and never fall."""
    from_top = (np.cumsum(right[::-1]) + 1.0)[::-1] / (np.cumsum(cases[::-1]) + 2.0)[::-1]
    from_bottom = (np.cumsum(right) + 1.0) / (np.cumsum(cases) + 2.0)
    highest = np.maximum.accumulate(from_top)
    lowest = np.minimum.accumulate(from_bottom[::-1])[::-1]
    return CalibrationMap(
        scores=scores,
        confidences=np.maximum.accumulate(np.clip(levels, lowest, highest)),
    )
