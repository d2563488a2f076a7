"""The choice of runs to show people: every kind of decision and mistake, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from sentinel_sql.decision.policy import KINDS, REASONS, Policy
from sentinel_sql.monitor.prefix_scores import Floats, PrefixScores

MOST = 200
"""Runs that a report shows (ours: as many as a person can read)."""


def choose_runs(
    scores: PrefixScores, policies: Sequence[Policy], *, most: int = MOST
) -> tuple[int, ...]:
    """Choose at most `most` runs to show, the most instructive first.

    Runs are grouped by policy, by its decision, and by the truth: a right answer, a wrong answer,
    an answer to an unanswerable question, or no answer. The groups take turns, mistakes first, so
    that small groups are shown, too. Within a group, delivered answers are sorted by descending
    confidence and stopped runs by ascending confidence. Of equals, the longer run comes first,
    then the first by id.

    Args:
        scores: the pool's columns.
        policies: for instance one for each λ, the most important first.
        most: runs to choose.

    Returns:
        Indices of runs, each at most once.
    """
    groups: dict[tuple[int, int, str, str, str], list[int]] = {}
    for number, policy in enumerate(policies):
        verdicts = policy.replay(scores)
        certainty = _certainty(scores)
        truth = _truth(scores)
        wrong = (verdicts.delivered & ~scores.correct) | (~verdicts.delivered & scores.correct)
        # A wrong delivery is worse with a high confidence, a wrong stop with a low one.
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
    """Return the monitor's confidence at the end of each run, shape (N,), in [0, 1]."""
    last = scores.offsets[1:] - 1
    return np.where(scores.answered, scores.delivery, scores.p_correct[last])


def _truth(scores: PrefixScores) -> list[str]:
    answers = np.select(
        [scores.correct, scores.answered & scores.answerable, scores.answered],
        ["right", "wrong", "fabricated"],
        "none",
    )
    return [
        f"{answer} {'answerable' if able else 'unanswerable'}"
        for answer, able in zip(answers.tolist(), scores.answerable.tolist(), strict=True)
    ]
