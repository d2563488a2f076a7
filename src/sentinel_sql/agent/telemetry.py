"""Token telemetry: reads log-probabilities and entropies from an endpoint's reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TOP = 5
"""Alternatives to request for every token (paper, section on telemetry)."""

FLOOR = -100.0
"""Smallest log-probability (our choice): endpoints write -9999 or -Infinity for "never"."""


ROUNDING = 1e-3
"""Largest log-probability above 0 that counts as rounding and becomes 0 (our choice)."""


def entropy(logprobs: Iterable[float]) -> float:
    """Return −Σ p ln p over the listed alternatives, in nats, ≥ 0.

    The listed probabilities aren't scaled to sum to 1, so that the figure is a lower bound on the
    entropy of the whole vocabulary, as in the paper.
    """
    total = 0.0
    for logprob in logprobs:
        total -= math.exp(logprob) * logprob
    return max(total, 0.0)


def read_tokens(
    content: Iterable[Mapping[str, Any]],
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Read `choices[0].logprobs.content` of a chat completion.

    Args:
        content: one mapping for each token, with `logprob` and, if granted, `top_logprobs`.

    Returns:
        Chosen-token log-probabilities and entropies, of equal length; the entropies are empty
        if a token has no alternatives. None if the data have another form, or a log-probability is
        impossible: above 0, or no number.
    """
    logprobs: list[float] = []
    entropies: list[float] = []
    try:
        for token in content:
            logprobs.append(_finite(token["logprob"]))
            alternatives = token.get("top_logprobs") or ()
            if alternatives:
                entropies.append(entropy([_finite(one["logprob"]) for one in alternatives[:TOP]]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    if not logprobs:
        return None
    return tuple(logprobs), tuple(entropies) if len(entropies) == len(logprobs) else ()


def read_first(content: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, float], ...]:
    """Read the alternatives of the first token with their log-probabilities, most likely first.

    Args:
        content: as for `read_tokens`.
    """
    try:
        alternatives = content[0].get("top_logprobs") or ()
        listed = [(str(one["token"]), _finite(one["logprob"])) for one in alternatives]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        return ()
    return tuple(sorted(listed, key=lambda one: -one[1]))


def _finite(value: Any) -> float:
    number = float(value)
    if not number <= ROUNDING:
        raise ValueError("no log-probability")
    return min(max(number, FLOOR), 0.0)
