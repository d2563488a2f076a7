"""The `linear` head: families of named features, and hashed n-grams while a run is open.

A committed answer is weighed by its named features alone, in a ridge logistic regression that may
lean on a prior. For open prefixes, the n-grams give a margin, as in the `ngrams` head, and a small
ridge combines it with the features. It is fitted on out-of-fold margins, from n-gram models that
haven't seen the snapshot's template. So it trusts the n-grams only as far as they generalise to new
templates. The log-odds stay a plain sum of named terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sentinel_sql.monitor.array_checks import numbers
from sentinel_sql.monitor.families.table import (
    COVERAGE,
    DEFAULT_FAMILIES,
    DenseState,
    names_of,
)
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints
from sentinel_sql.monitor.heads.ngram_head import FittedNgramHead, NgramHead, NgramReading
from sentinel_sql.monitor.heads.ngrams import Counts
from sentinel_sql.monitor.heads.regimes import (
    FittedRegime,
    inner_folds,
)
from sentinel_sql.monitor.heads.ridge import Prior, fit_ridge
from sentinel_sql.monitor.heads.vocabulary import FEATURES as WORD_FEATURES
from sentinel_sql.monitor.heads.vocabulary import (
    QuestionWords,
    Vocabulary,
    fit_vocabulary,
    words_of_question,
)
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment

_REGIMES = ("open", "answer")
_LEARNED = ("center", "scale", "weights")
NO_NGRAMS = NgramHead().restore(
    {
        "seen": np.array([], np.int32),
        "idf": np.array([]),
        "weights": np.array([]),
        "intercept": np.zeros(1),
    },
    {},
)
"""A fitted n-gram head whose margin is always 0."""

_TINY = float(np.finfo(np.float64).smallest_subnormal)


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearSnapshot:
    """What the linear head reads of one prefix.

    Attributes:
        counts: of the n-grams.
        dense: shape (d,), in the order of `names_of(families)`; NaN where unknown.
        answered: whether an answer is committed.
        asked: the question's words; None without a readable coverage record.
    """

    counts: Counts
    dense: Floats
    answered: bool
    asked: QuestionWords | None = None


class LinearReading:
    """The n-grams and dense features of one run; each step is read once."""

    def __init__(
        self, question: AskedQuestion, surroundings: Surroundings, families: tuple[str, ...]
    ) -> None:
        self._ngrams = NgramReading(question)
        self._dense = DenseState(question, surroundings, families)
        self._vector = self._dense.vector()
        self._answered = False
        self._asked = words_of_question(question.coverage) if COVERAGE in families else None
        self._latest: LinearSnapshot | None = None

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step."""
        self._ngrams.observe(step, committed)
        self._dense.observe(step, committed)
        self._vector = self._dense.vector()
        self._answered = committed == "answer"
        self._latest = None

    def snapshot(self, limit: int) -> LinearSnapshot:
        """Return the n-grams of the newest `limit` tokens, and the dense features of all steps."""
        counts = self._ngrams.snapshot(limit)
        if self._latest is None or self._latest.counts is not counts:
            self._latest = LinearSnapshot(
                counts=counts, dense=self._vector, answered=self._answered, asked=self._asked
            )
        return self._latest


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedLinearHead:
    """A fitted linear head.

    Attributes:
        ngrams: the n-gram model that gives the margin.
        regimes: the one of open prefixes, then the one of committed answers.
        vocabulary: the words of the questions of the fit; None without the family `coverage`.
    """

    ngrams: FittedNgramHead
    regimes: tuple[FittedRegime, FittedRegime]
    vocabulary: Vocabulary | None = None

    def score(self, inputs: Sequence[LinearSnapshot]) -> Floats:
        """Return the raw score in [0, 1] of each input."""
        margins = np.fromiter((self.margin(each) for each in inputs), np.float64)
        return np.asarray(1.0 / (1.0 + np.exp(-margins)))

    def margin(self, snapshot: LinearSnapshot) -> float:
        """Return the log-odds of one snapshot."""
        return self.regime(snapshot).margin(self.columns(snapshot))

    def regime(self, snapshot: LinearSnapshot) -> FittedRegime:
        """Return the regime of a snapshot."""
        return self.regimes[snapshot.answered]

    def columns(self, snapshot: LinearSnapshot) -> Floats:
        """Return the input of a regime: the n-gram margin, then `LinearHead.features`."""
        words = [] if self.vocabulary is None else self.vocabulary.columns(snapshot.asked)
        return np.concatenate(([self.ngrams.margin(snapshot.counts)], snapshot.dense, words))

    def arrays(self) -> Arrays:
        """Return all fitted values as plain arrays."""
        arrays = {f"ngrams/{name}": it for name, it in self.ngrams.arrays().items()}
        for name, regime in zip(_REGIMES, self.regimes, strict=True):
            arrays |= {f"{name}/{field}": getattr(regime, field) for field in _LEARNED}
            arrays[f"{name}/level"] = np.array([regime.bias, regime.tightness])
        if self.vocabulary is not None:
            arrays |= {f"words/{name}": it for name, it in self.vocabulary.arrays().items()}
        return arrays

    def files(self) -> Mapping[str, Path]:
        """Return no file: this head needs its arrays only."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """Return the regularisation and the weight of the n-gram margin in each regime."""
        return {
            name: {
                "tightness": regime.tightness,
                "ngram_weight": round(float(regime.weights[0] / regime.scale[0]), 4),
            }
            for name, regime in zip(_REGIMES, self.regimes, strict=True)
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearHead:
    """Settings of the linear head.

    Attributes:
        families: names of families of dense features, in the order of `ALL_FAMILIES`.
        ngrams: whether open prefixes are read by n-grams too.
        prior: weights that fitting draws those of committed answers towards.
        name: the name of this kind in bundles.
    """

    families: tuple[str, ...] = DEFAULT_FAMILIES
    ngrams: bool = True
    prior: Prior | None = field(default=None, compare=False, metadata={"saved": False})
    name: str = "linear"

    @property
    def features(self) -> tuple[str, ...]:
        """The features beside the n-gram margin, as `family.feature`."""
        words = WORD_FEATURES if COVERAGE in self.families else ()
        return (*names_of(self.families), *(f"vocabulary.{name}" for name in words))

    def read(self, question: AskedQuestion, surroundings: Surroundings) -> LinearReading:
        """Start reading a run."""
        return LinearReading(question, surroundings, self.families)

    def fit(
        self, inputs: Sequence[LinearSnapshot], targets: Bools, *, groups: Ints, seed: int
    ) -> FittedLinearHead:
        """Fit on snapshots. Both classes have the same total weight."""
        dense, vocabulary = np.array([each.dense for each in inputs]), None
        if COVERAGE in self.families:
            vocabulary, words = fit_vocabulary([each.asked for each in inputs], targets, groups)
            dense = np.column_stack([dense, words])
        whole, margins = NO_NGRAMS, None
        if self.ngrams:
            whole, margins = fit_ngrams(
                [each.counts for each in inputs], targets, groups, seed=seed
            )
        regimes = fit_regimes(
            margins,
            dense,
            np.array([each.answered for each in inputs], np.bool_),
            targets,
            groups,
            names=self.features,
            prior=self.prior,
            seed=seed,
        )
        return FittedLinearHead(ngrams=whole, regimes=regimes, vocabulary=vocabulary)

    def restore(
        self,
        arrays: Arrays,
        files: Mapping[str, Path],  # noqa: ARG002
    ) -> FittedLinearHead:
        """Make a fitted head of what `FittedLinearHead.arrays` gave.

        Raises:
            KeyError, ValueError: the arrays aren't of such a head with these families.
        """
        start = "ngrams/"
        open_, answers = (self._regime(arrays, name) for name in _REGIMES)
        return FittedLinearHead(
            ngrams=NgramHead().restore(
                {name[len(start) :]: it for name, it in arrays.items() if name.startswith(start)},
                {},
            ),
            regimes=(open_, answers),
            vocabulary=Vocabulary.restore(arrays, "words/") if COVERAGE in self.families else None,
        )

    def _regime(self, arrays: Arrays, name: str) -> FittedRegime:
        width = 1 + len(self.features)
        bias, tightness = numbers(arrays, f"{name}/level", length=2)
        return FittedRegime(
            center=numbers(arrays, f"{name}/center", length=width),
            # An infinite scale is that of a column which says nothing.
            scale=numbers(arrays, f"{name}/scale", length=width, low=_TINY, infinite=True),
            weights=numbers(arrays, f"{name}/weights", length=width),
            bias=float(bias),
            tightness=float(tightness),
        )


def prior_of(fitted: FittedLinearHead, kind: LinearHead) -> Prior:
    """Return what a fitted head knows of committed answers, as a prior for other runs."""
    answers = fitted.regimes[1]
    return Prior(
        names=kind.features,
        center=answers.center[1:],
        scale=answers.scale[1:],
        weights=answers.weights[1:],
    )


def fit_ngrams(
    counts: Sequence[Counts], targets: Bools, groups: Ints, *, seed: int
) -> tuple[FittedNgramHead, Floats]:
    """Fit the n-grams; return the fitted head and an out-of-fold margin for each snapshot.

    The margins, shape (n,), are of models that haven't seen the snapshot's template. They are 0
    if there are too few templates for that.
    """
    kind = NgramHead()
    margins = np.zeros(len(counts))
    for fitted_on, held in inner_folds(targets, groups, seed):
        part = kind.fit(
            [counts[i] for i in fitted_on], targets[fitted_on], groups=groups[fitted_on], seed=seed
        )
        margins[held] = [part.margin(counts[i]) for i in held]
    return kind.fit(counts, targets, groups=groups, seed=seed), margins


def fit_regimes(
    margins: Floats | None,
    dense: Floats,
    answered: Bools,
    targets: Bools,
    groups: Ints,
    *,
    prior: Prior | None = None,
    names: Sequence[str] = (),
    seed: int,
) -> tuple[FittedRegime, FittedRegime]:
    """Fit the regimes of open prefixes and of committed answers.

    Args:
        margins: shape (n,), out-of-fold n-gram margins; None leaves open prefixes to the features.
        dense: shape (n, d); NaN means unknown.
        answered: shape (n,), whether an answer is committed.
        targets: shape (n,).
        groups: shape (n,), the template of each row.
        prior: see `LinearHead`.
        names: the d features, for the prior.
        seed: of the inner folds.
    """
    # Balanced over all snapshots, not in each regime: a class may be more frequent in one regime,
    # and that is information.
    weights = balance(targets)
    before = ~answered
    return (
        fit_ridge(
            dense[before],
            targets[before],
            groups[before],
            weights[before],
            margins=None if margins is None else margins[before],
            seed=seed,
        ),
        fit_ridge(
            dense[answered],
            targets[answered],
            groups[answered],
            weights[answered],
            prior=prior,
            names=names,
            seed=seed,
        ),
    )


def balance(targets: Bools) -> Floats:
    """Return weights by which both classes have the same total, shape (n,)."""
    return np.asarray(np.where(targets, 0.5 / targets.mean(), 0.5 / (1.0 - targets.mean())))
