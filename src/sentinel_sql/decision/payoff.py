"""The payoff of a decision: the Reliability Score at stakes λ, and the delivery bars.

Scores are computed from counts and one exact rational. Two systems that earn the same therefore
have equal scores to the last bit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.prefix_scores import Bools, Floats

STAKES_OF_RECORD: tuple[float, ...] = (1.0, 4.0, 9.0)
"""Low, medium and high stakes (paper section 3.1)."""

HIGHEST_STAKES = 1e12
"""Our limit: for a larger λ, λ/(1+λ) rounds to 1 and sums lose the payoff of a right answer."""

Scaling = Literal["mean", "official"]
"""`mean`: RS(λ), the mean payoff, at most 1. `official`: 100 times that, as RS(N) is printed."""


def rational(stakes: float) -> Fraction:
    """Return the stakes λ as an exact fraction of their decimal form: 0.1 is one tenth.

    Raises:
        InputError: λ is negative, too large or not a number.
    """
    if isinstance(stakes, bool | str | None) or not 0 <= stakes <= HIGHEST_STAKES:
        raise InputError(
            f"stakes of {stakes!r} make no sense: give a number from 0 to {HIGHEST_STAKES:,.0f}"
        )
    return Fraction(str(stakes))


def payoffs(*, delivered: Bools, correct: Bools, answerable: Bools, stakes: float) -> Floats:
    """Return the payoff of every question, shape (N,), each in {1, 0, −λ} (paper section 3.1).

    Args:
        delivered: shape (N,): an answer was given; False is ⊥, chosen by agent or monitor.
        correct: shape (N,): the run's answer is correct.
        answerable: shape (N,).
        stakes: λ ≥ 0.
    """
    right, wrong = right_and_wrong(delivered=delivered, correct=correct, answerable=answerable)
    return right - float(rational(stakes)) * wrong


def right_and_wrong(
    *, delivered: Bools, correct: Bools, answerable: Bools
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return per question whether it earns +1, and whether it costs λ, as 0/1, shape (N,)."""
    right = np.where(delivered, correct & answerable, ~answerable)
    wrong = delivered & ~(correct & answerable)
    return right.astype(np.int64), wrong.astype(np.int64)


def reliability_score(
    *, right: int, wrong: int, questions: int, stakes: float, scaling: Scaling = "mean"
) -> float:
    """Return RS(λ) = (right − λ·wrong) / questions, correctly rounded.

    Args:
        right: questions that earn +1: correct answers, and ⊥ on unanswerable ones.
        wrong: wrong answers, and answers to unanswerable questions.
        questions: all questions, including those that earn nothing.
        stakes: λ ≥ 0, the penalty that official scorers write as the N of RS(N).
        scaling: `mean`, or `official` for 100 times that.

    Raises:
        InputError: the stakes make no sense, or there is no question.
    """
    if questions < 1:
        raise InputError("no question to score: the pool is empty; check pools and store")
    score = (right - rational(stakes) * wrong) / questions
    return float(score * 100 if scaling == "official" else score)


def chow_bar(stakes: float) -> float:
    """Return τ = λ/(1+λ), in [0, 1): deliver iff confidence ≥ τ (paper section 3.2)."""
    exact = rational(stakes)
    return float(exact / (1 + exact))


def exact_bar(stakes: float, p_unanswerable: Any) -> Any:
    """Return (λ+ε)/(1+λ), elementwise: withholding also earns where a question is unanswerable.

    Args:
        stakes: λ ≥ 0.
        p_unanswerable: ε in [0, 1], a float or shape (N,); NaN stays NaN.
    """
    exact = float(rational(stakes))
    return (exact + p_unanswerable) / (1.0 + exact)
