"""What a fit learns on the train pool: both heads, towards a prior's weights, and the hybrid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.crossfit import assign_folds, out_of_fold
from sentinel_sql.monitor.delivery_estimator import FittedHybrid, fit_hybrid, hybrid_inputs
from sentinel_sql.monitor.head import FittedHead, Head
from sentinel_sql.monitor.heads.linear import FittedLinearHead, LinearHead, prior_of
from sentinel_sql.monitor.heads.ridge import Prior
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.monitor.snapshots import Task, fit_heads
from sentinel_sql.pipeline.learning.labelled_pool import LabelledPool, auroc

LearnFrom = Literal["better", "all", "answerable"]
"""Which answers the correctness head learns from: those to answerable questions, as in the paper;
all, where one to a question without an answer is wrong; or what ranks delivery better."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """What the train pool taught: both heads, the hybrid if one was fitted, and facts."""

    answerability: FittedHead[Any]
    correctness: FittedHead[Any]
    hybrid: FittedHybrid | None
    facts: Mapping[str, Any]


def learn_heads(
    kind: Head[Any],
    train: LabelledPool,
    other: Monitor | None,
    *,
    learn_from: LearnFrom,
    seed: int,
) -> Learned:
    """Fit both heads and the hybrid on the train pool.

    Args:
        kind: of both heads.
        train: the pool.
        other: the monitor to draw the weights of committed answers towards.
        learn_from: the answers that the correctness head learns from.
        seed: of folds, heads and hybrid.

    Raises:
        CannotFitError: the templates can't be split.
    """
    folds = assign_folds(
        templates=train.templates,
        strata=train.answerable + 2 * train.answered + 4 * train.correct,
        needed=(train.answerable, ~train.answerable, train.correct, train.judged & ~train.correct),
        seed=seed,
    )
    of_answerability = of_correctness = kind
    if other is not None and isinstance(kind, LinearHead):
        of_answerability, of_correctness = (
            replace(kind, prior=_prior(other, fitted))
            for fitted in (other.estimators.answerability, other.estimators.correctness)
        )
    if learn_from == "better" and not isinstance(kind, LinearHead):
        learn_from = "answerable"
    pools_of_answers = {"answerable": train.judged, "all": train.answered}
    if learn_from != "better":
        pools_of_answers = {learn_from: pools_of_answers[learn_from]}
    tasks = [
        Task(
            targets=~train.answerable,
            trained_on=np.ones(len(train.runs), np.bool_),
            head=of_answerability,
        ),
        *(
            Task(targets=train.correct, trained_on=on, head=of_correctness)
            for on in pools_of_answers.values()
        ),
    ]
    unanswerable_oof, *correct_oof = out_of_fold(
        kind, train.runs, tasks, templates=train.templates, folds=folds, seed=seed
    )
    ranked = {
        name: auroc(train.correct[train.answered], scores[train.last][train.answered])
        for name, scores in zip(pools_of_answers, correct_oof, strict=True)
    }
    # Of two that rank alike, the paper's comes first.
    chosen = max(ranked, key=lambda name: ranked[name] or 0.0)
    at = list(ranked).index(chosen)
    answerability, correctness = fit_heads(
        kind, train.runs, [tasks[0], tasks[1 + at]], templates=train.templates, seed=seed
    )
    hybrid = fit_hybrid(
        hybrid_inputs(correct_oof[at][train.last], train.features)[train.answered],
        train.correct[train.answered],
        seed=seed,
    )
    return Learned(
        answerability=answerability,
        correctness=correctness,
        hybrid=hybrid,
        facts={
            "folds": int(folds.max()) + 1,
            "learned_from": chosen,
            "delivery_auroc_out_of_fold": ranked,
            "train_auroc_out_of_fold": train.aurocs(unanswerable_oof, correct_oof[at]),
        },
    )


def prior_monitor(
    prior: str | PathLike[str] | None, kind: Head[Any], agent: str, *, required: bool
) -> tuple[Monitor | None, str]:
    """Return the prior's monitor, or None and why there is none."""
    why = ""
    other: Monitor | None = None
    if prior is None:
        why = "none was asked for"
    elif not isinstance(kind, LinearHead):
        why = f"the head {kind.name} takes none"
    else:
        other = load(prior)
        if not isinstance(other.estimators.head, LinearHead):
            raise InputError(f"{prior} can't be a prior: its head isn't linear, name another")
        if agent in (other.agent, *other.facts.get("agents", ())):
            other, why = None, "it learned from this agent's runs"
    if required and other is None:
        raise InputError(
            f"there is no prior to calibrate ({why}): name one with `--from`, or fit without "
            "`--only-calibrate`"
        )
    return other, why


def _prior(other: Monitor, fitted: FittedHead[Any]) -> Prior | None:
    head = other.estimators.head
    if isinstance(fitted, FittedLinearHead) and isinstance(head, LinearHead):
        return prior_of(fitted, head)
    return None
