"""Token telemetry: from what an endpoint tells of each token to log-probability and entropy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TOP = 5
"""Alternatives asked of an endpoint for every token (paper, section on telemetry)."""

FLOOR = -100.0
"""Smallest log-probability kept, ours: endpoints write -9999 or -Infinity for "never"."""


ROUNDING = 1e-3
"""Largest log-probability above 0 that counts as rounding and becomes 0; ours, of half floats."""


def entropy(logprobs: Iterable[float]) -> float:
    """Return −Σ p ln p over the listed alternatives, in nats, ≥ 0.

    The listed probabilities are taken as they are and not scaled to sum to 1, so that the
    figure is a lower bound on the entropy of the whole vocabulary, as in the paper.
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
        content: one mapping a token with `logprob`, and `top_logprobs` where it was granted.

    Returns:
        Chosen-token log-probabilities and entropies, of equal length; the entropies are empty
        if alternatives are missing for any token. None if the data aren't of that form, or hold a
        log-probability that can't be: above 0, or no number.
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
    """Read the alternatives of the first token, with their log-probabilities, likeliest first.

    Args:
        content: as for `read_tokens`, which has read it.
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
