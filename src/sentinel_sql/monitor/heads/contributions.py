"""The explanation of a score of the `linear` head: its log-odds as a sum of named terms.

A term is an n-gram of the prefix, or a dense feature. The terms and the bias sum to the log-odds
of the prefix.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sentinel_sql.monitor.heads.linear import FittedLinearHead, LinearHead, LinearSnapshot
from sentinel_sql.monitor.heads.ngrams import name_ngrams
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import Prefix, commitment
from sentinel_sql.trajectory.render import (
    SCORING_TOKENS,
    count_tokens,
    keep_newest,
    keep_oldest,
    render_question,
    render_step,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """One term of the log-odds.

    Attributes:
        kind: `ngram` or `feature`.
        names: `family.feature`, or the n-gram's text; several texts if they share a bucket.
        steps: the steps in which the n-gram occurs, 0 for the question; empty for a feature.
        value: the feature's value, or how often the n-gram occurs in all steps.
        log_odds: what the term adds; above 0 it speaks for the head's positive class.
    """

    kind: Literal["ngram", "feature"]
    names: tuple[str, ...]
    steps: tuple[int, ...]
    value: float
    log_odds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Contributions:
    """The log-odds of one prefix as a sum.

    Attributes:
        margin: the log-odds; the score is their logistic.
        bias: the log-odds of an average prefix of the regime.
        terms: every term other than 0, the strongest first.
    """

    margin: float
    bias: float
    terms: tuple[Term, ...]


def contributions(
    fitted: Sequence[FittedLinearHead],
    kind: LinearHead,
    prefix: Prefix,
    surroundings: Surroundings,
    *,
    limit: int = SCORING_TOKENS,
) -> tuple[Contributions, ...]:
    """Split the log-odds of a prefix into terms, for each of the heads that read it.

    Args:
        fitted: heads of a monitor.
        kind: their kind.
        prefix: the prefix to explain.
        surroundings: what the monitor knows of the database.
        limit: newest tokens to read.

    Returns:
        For each head, terms whose sum with the bias is the margin, up to rounding.
    """
    reading = kind.read(prefix.question, surroundings)
    segments = []
    for step in prefix.steps:
        committed = commitment(step, commit_on_error=prefix.commit_on_error)
        reading.observe(step, committed)
        segments.append(render_step(step, committed))
    snapshot = reading.snapshot(limit)
    at, texts = _find_ngrams(_read_texts(prefix, segments, limit))
    return tuple(_split(head, kind, snapshot, at, texts) for head in fitted)


def _split(
    fitted: FittedLinearHead,
    kind: LinearHead,
    snapshot: LinearSnapshot,
    at: Mapping[int, tuple[int, ...]],
    texts: Mapping[int, tuple[str, ...]],
) -> Contributions:
    """Split one head's log-odds; `at` and `texts` are the steps and texts of each bucket."""
    regime, columns = fitted.regime(snapshot), fitted.columns(snapshot)
    first, *dense = regime.terms(columns).tolist()
    slope = regime.slope(columns)
    terms = [
        Term(
            kind="ngram",
            names=texts.get(bucket, ()),
            steps=at.get(bucket, ()),
            value=float(count),
            log_odds=slope * added,
        )
        for bucket, count, added in zip(
            snapshot.counts.buckets.tolist(),
            snapshot.counts.counts.tolist(),
            fitted.ngrams.terms(snapshot.counts).tolist(),
            strict=True,
        )
        if slope * added != 0.0
    ]
    shared = math.fsum(term.log_odds for term in terms)
    terms += [
        Term(kind="feature", names=(name,), steps=(), value=value, log_odds=added)
        for name, value, added in zip(kind.features, columns[1:].tolist(), dense, strict=True)
        if added != 0.0
    ]
    return Contributions(
        margin=regime.margin(columns),
        bias=regime.bias + first - shared,
        terms=tuple(sorted(terms, key=lambda term: -abs(term.log_odds))),
    )


def _read_texts(prefix: Prefix, segments: list[str], limit: int) -> tuple[tuple[int, str], ...]:
    """Return (step, text) of all that the head reads; step 0 is the question."""
    question = keep_oldest(render_question(prefix.question), limit // 2)
    kept = keep_newest(segments, limit - count_tokens(question))
    return ((0, question), *enumerate(kept, start=len(segments) - len(kept) + 1))


def _find_ngrams(
    numbered: tuple[tuple[int, str], ...],
) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[str, ...]]]:
    """Return for each bucket the steps in which its n-grams occur, and their texts."""
    at: dict[int, list[int]] = {}
    texts: dict[int, dict[str, None]] = {}
    for number, text in numbered:
        for bucket, names in name_ngrams(text).items():
            at.setdefault(bucket, []).append(number)
            texts.setdefault(bucket, {}).update(dict.fromkeys(names))
    return (
        {bucket: tuple(steps) for bucket, steps in at.items()},
        {bucket: tuple(names) for bucket, names in texts.items()},
    )
