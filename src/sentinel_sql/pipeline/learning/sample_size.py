"""What so many questions can show, said before any run is recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sentinel_sql.decision.exact_bound import cases_needed, lower_bound
from sentinel_sql.decision.gate import TOLERANCE
from sentinel_sql.pipeline.learning.labelled_pool import FEWEST
from sentinel_sql.questions.pools import Pools
from sentinel_sql.questions.record import Question


def what_can_be_shown(questions: Sequence[Question], pools: Pools) -> tuple[str, ...]:
    """Return sentences on what a fit and an evaluation over these questions can show at best.

    Args:
        questions: all of the project.
        pools: their pools.
    """
    in_pool: dict[str, list[Question]] = {"train": [], "calibration": [], "heldout": []}
    for question in questions:
        in_pool[pools.pool_of(question.id)].append(question)
    calibration, heldout = in_pool["calibration"], in_pool["heldout"]
    templates = {pools.template_of(it.id) for it in calibration if it.answerable}
    without = sum(not it.answerable for it in questions)
    best = lower_bound(len(templates), len(templates)) if templates else 0.0
    said = [
        f"{len(questions):,} questions of {len({pools.template_of(it.id) for it in questions}):,} "
        f"kinds, {without:,} of them without an answer: {len(in_pool['train']):,} to learn from, "
        f"{len(calibration):,} to calibrate on, {len(heldout):,} to test on.",
        f"At best, with no wrong answer among them, the {len(templates):,} answerable kinds to "
        f"calibrate on carry stakes up to λ = {best / (1.0 - best):.2g}.",
    ]
    needed = cases_needed(TOLERANCE)
    if without == 0:
        said.append(
            "No question is without an answer, so refusing can't be learned: mark some with "
            "`answerable` = 0, or let --make-unanswerable make some."
        )
    elif len(templates) < needed:
        said.append(
            f"They carry no gate before the first step: that takes {needed} answerable kinds to "
            f"calibrate on, about {math.ceil(4 * needed / 10) * 10} in all."
        )
    if heldout:
        points = 98.0 / math.sqrt(len(heldout))
        said.append(
            f"A share over the {len(heldout):,} questions to test on is known to about ±"
            f"{points:.0f} points, and less well where kinds are few."
        )
    if min(len(in_pool["train"]), len(calibration)) < 2 * FEWEST:
        said.append(
            f"That is too few to fit: learning and calibrating each take at least "
            f"{FEWEST} right and {FEWEST} wrong answers."
        )
    return tuple(said)
