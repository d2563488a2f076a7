"""Which runs of a pool to show people: every kind of decision and mistake, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from sentinel_sql.decision.policy import KINDS, REASONS, Policy
from sentinel_sql.monitor.prefix_scores import Floats, PrefixScores

MOST = 200
"""Runs that a report shows (ours: what a person can look through)."""


def telling(
    scores: PrefixScores, policies: Sequence[Policy], *, most: int = MOST
) -> tuple[int, ...]:
    """Choose at most `most` runs to look at, and put the most telling first.

    Runs are sorted into groups by what each policy does with them and by what is true: a right
    answer, a wrong one, an answer to an unanswerable question, none. Groups take turns, mistakes
    before what went well, so that the smallest group is seen, too. Within a group of mistakes
    the most confident stands first: the wrong answer that looked surest, the right one that was
    kept back with the least confidence. Of equals, the longer run, then the first by id.

    Args:
        scores: the pool's columns.
        policies: what is decided, for instance one for each λ, the most important first.
        most: runs to choose.

    Returns:
        Indices of runs, none twice.
    """
    groups: dict[tuple[int, int, str, str, str], list[int]] = {}
    for number, policy in enumerate(policies):
        verdicts = policy.replay(scores)
        certainty = _certainty(scores)
        truth = _truth(scores)
        wrong = (verdicts.delivered & ~scores.correct) | (~verdicts.delivered & scores.correct)
        # A mistake of a delivery is worse the surer it was, of a stop the less sure.
        order = np.where(verdicts.delivered, -certainty, certainty)
        ranked = sorted(
            range(len(scores)),
            key=lambda i, order=order: (  # type: ignore[misc]
                order[i],
                -int(scores.steps[i]),
                scores.question_ids[i],
            ),
        )
        for i in ranked:
            name = (
                0 if wrong[i] else 1,
                number,
                KINDS[verdicts.kinds[i]],
                REASONS[verdicts.reasons[i]],
                truth[i],
            )
            groups.setdefault(name, []).append(i)
    turns = zip_longest(*(groups[name] for name in sorted(groups)))
    chosen = dict.fromkeys(i for turn in turns for i in turn if i is not None)
    return tuple(list(chosen)[:most])


def _certainty(scores: PrefixScores) -> Floats:
    """Return how sure the monitor was of each run's end; shape (N,), in [0, 1]."""
    last = scores.offsets[1:] - 1
    return np.where(scores.answered, scores.delivery, scores.p_correct[last])


def _truth(scores: PrefixScores) -> list[str]:
    said = np.select(
        [scores.correct, scores.answered & scores.answerable, scores.answered],
        ["right", "wrong", "fabricated"],
        "none",
    )
    return [
        f"{what} {'answerable' if able else 'unanswerable'}"
        for what, able in zip(said.tolist(), scores.answerable.tolist(), strict=True)
    ]
