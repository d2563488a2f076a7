"""The `ngrams` head: logistic regression over hashed n-grams of the rendered prefix.

It is the baseline that every other head must beat (transcript TF-IDF among the rivals). It needs
no download, one core and a fraction of a millisecond for a score. A term weighs its sublinear
count times its inverse document frequency; each row is scaled to length one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sentinel_sql.monitor.array_checks import indices, number, numbers
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints
from sentinel_sql.monitor.heads.ngrams import BUCKETS, Counts, add_counts, count_ngrams
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import (
    SCORING_TOKENS,
    Commitment,
    count_tokens,
    keep_newest,
    keep_oldest,
    render_question,
    render_step,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class NgramReading:
    """The segments of one run with their n-gram counts; each segment is counted once."""

    def __init__(self, question: AskedQuestion) -> None:
        self._question = render_question(question)
        self._question_tokens = count_tokens(self._question)
        self._steps: list[_Segment] = []
        self._step_tokens = 0
        self._whole = count_ngrams(keep_oldest(self._question, SCORING_TOKENS // 2))

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step."""
        kept = "".join(keep_newest([render_step(step, committed)], SCORING_TOKENS))
        segment = _Segment(text=kept, tokens=count_tokens(kept), counts=count_ngrams(kept))
        self._steps.append(segment)
        self._step_tokens += segment.tokens
        if self._fits(SCORING_TOKENS):
            self._whole = add_counts([self._whole, segment.counts])

    def snapshot(self, limit: int) -> Counts:
        """Return the counts of the question line and the newest tokens, `limit` tokens in all."""
        if self._fits(limit):
            return self._whole
        question = keep_oldest(self._question, limit // 2)
        left = limit - min(self._question_tokens, limit // 2)
        parts = [count_ngrams(question)]
        for segment in reversed(self._steps):
            if segment.tokens > left:
                parts += [count_ngrams(text) for text in keep_newest([segment.text], left)]
                break
            parts.append(segment.counts)
            left -= segment.tokens
        return add_counts(parts)

    def _fits(self, limit: int) -> bool:
        return (
            self._question_tokens <= limit // 2
            and self._question_tokens + self._step_tokens <= limit
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Segment:
    text: str
    tokens: int
    counts: Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedNgramHead:
    """Weights of a fitted n-gram head, one for each bucket, and the intercept.

    `idf` is 0 for buckets that don't occur in the training runs, so that a new n-gram doesn't
    move a score.
    """

    idf: Floats
    weights: Floats
    intercept: float

    def score(self, inputs: Sequence[Counts]) -> Floats:
        """Return the raw score in [0, 1] of each input."""
        margins = np.fromiter((self.margin(counts) for counts in inputs), np.float64)
        return np.asarray(1.0 / (1.0 + np.exp(-margins)))

    def arrays(self) -> Arrays:
        """Return the weights of the buckets that occur in the training runs."""
        seen = np.flatnonzero(self.idf)
        return {
            "seen": seen.astype(np.int32),
            "idf": self.idf[seen],
            "weights": self.weights[seen],
            "intercept": np.float64(self.intercept).reshape(1),
        }

    def files(self) -> Mapping[str, Path]:
        """Return no file: this head needs its arrays only."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """Return no fact: fitting chooses nothing by itself."""
        return {}

    def terms(self, counts: Counts) -> Floats:
        """Return what each bucket of one snapshot adds to the log-odds."""
        values = _tf_idf(counts, self.idf)
        length = float(np.sqrt(np.sum(values * values)))
        return np.asarray(values * self.weights[counts.buckets] / (length or 1.0))

    def margin(self, counts: Counts) -> float:
        """Return the log-odds of one snapshot."""
        # Plain sums instead of BLAS: equal inputs give equal bits in any batch.
        values = _tf_idf(counts, self.idf)
        length = np.sqrt(np.sum(values * values))
        if length == 0.0:
            return self.intercept
        return float(np.sum(values * self.weights[counts.buckets]) / length) + self.intercept


@dataclass(frozen=True, kw_only=True, slots=True)
class NgramHead:
    """Settings of the n-gram head.

    `tightness` is the weight of the data against the regularisation. It stays at the library's
    default, 1: to tune it on the pools that evaluate the head would flatter the head.
    """

    tightness: float = 1.0
    name: str = "ngrams"

    def read(self, question: AskedQuestion, surroundings: Surroundings) -> NgramReading:  # noqa: ARG002
        """Start reading a run; this head doesn't use the database."""
        return NgramReading(question)

    def fit(
        self,
        inputs: Sequence[Counts],
        targets: Bools,
        *,
        groups: Ints,  # noqa: ARG002
        seed: int,
    ) -> FittedNgramHead:
        """Fit on snapshots. Both classes have the same total weight."""
        from sklearn.linear_model import LogisticRegression  # a guard starts without it

        buckets = np.concatenate([counts.buckets for counts in inputs])
        document_frequency = np.bincount(buckets, minlength=BUCKETS)
        seen = np.flatnonzero(document_frequency)
        idf, weights = np.zeros(BUCKETS), np.zeros(BUCKETS)
        idf[seen] = 1.0 + np.log((1 + len(inputs)) / (1 + document_frequency[seen]))
        # There are far fewer snapshots than buckets, so the dual problem is the smaller one.
        model = LogisticRegression(
            C=self.tightness,
            class_weight="balanced",
            solver="liblinear",
            dual=True,
            max_iter=2000,
            random_state=seed,
        )
        model.fit(_matrix(inputs, idf, buckets, seen), targets)
        weights[seen] = model.coef_[0]
        return FittedNgramHead(idf=idf, weights=weights, intercept=float(model.intercept_[0]))

    def restore(self, arrays: Arrays, files: Mapping[str, Path]) -> FittedNgramHead:  # noqa: ARG002
        """Make a fitted head of what `FittedNgramHead.arrays` gave.

        Raises:
            KeyError, ValueError: the arrays aren't of such a head.
        """
        seen = indices(arrays, "seen", below=BUCKETS)
        idf, weights = np.zeros(BUCKETS), np.zeros(BUCKETS)
        idf[seen] = numbers(arrays, "idf", length=len(seen), low=0.0)
        weights[seen] = numbers(arrays, "weights", length=len(seen))
        return FittedNgramHead(idf=idf, weights=weights, intercept=number(arrays, "intercept"))


def _tf_idf(counts: Counts, idf: Floats) -> Floats:
    return np.asarray((1.0 + np.log(counts.counts)) * idf[counts.buckets])


def _matrix(inputs: Sequence[Counts], idf: Floats, buckets: Ints, seen: Ints) -> csr_array:
    """Return the TF-IDF matrix, shape (n, number of buckets seen)."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *(len(counts.buckets) for counts in inputs)])
    values = np.empty(ends[-1])
    for counts, start, end in zip(inputs, ends, ends[1:], strict=False):
        row = _tf_idf(counts, idf)
        values[start:end] = row / max(float(np.sqrt(np.sum(row * row))), np.finfo(float).tiny)
    column = np.empty(BUCKETS, np.int32)
    column[seen] = np.arange(len(seen))
    return csr_array(
        (values, column[buckets], ends.astype(np.int32)), shape=(len(inputs), len(seen))
    )
