"""Recorded runs through a monitor, beside their labels, into the columns of every replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from sentinel_sql.decision.prefix_scores import PrefixScores
from sentinel_sql.errors import LabelsError, StoreError
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.session import Assessment, Estimators
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.record import Trajectory

_ENDINGS = {"answer": "answered", "abstention": "abstained", None: "cap"}


def label_of(trajectory: Trajectory, labels: Mapping[str, Label]) -> Label:
    """Return the label of a run, after checking that it is of this very run.

    Raises:
        LabelsError: no label, a label of another outcome, or an answer without a verdict.
        StoreError: the run's outcome isn't what its last step commits to.
    """
    name = trajectory.question.id
    ending = _ENDINGS[trajectory.prefix(len(trajectory.steps)).commitment]
    if ending != trajectory.outcome.kind:
        raise StoreError(
            f"run {name} says it ended as {trajectory.outcome.kind}, but its last step makes it "
            f"{ending}: import or collect it again"
        )
    label = labels.get(name)
    if label is None:
        raise LabelsError(f"run {name} has no label: label the store with `sentinel label`")
    if label.outcome != ending:
        raise LabelsError(
            f"the label of run {name} is of a run that ended as {label.outcome}, this one is "
            f"{ending}: label the store again with `sentinel label`"
        )
    if ending == "answered" and label.answerable and label.correct is None:
        raise LabelsError(
            f"the answer of run {name} has no verdict: label the store with another judge"
        )
    return label


def prefix_scores(
    estimators: Estimators,
    trajectories: Iterable[Trajectory],
    *,
    pools: Pools,
    labels: Mapping[str, Label],
) -> PrefixScores:
    """Assess every prefix of every run; one run at a time is in memory.

    Args:
        estimators: of a monitor (`monitor.estimators`).
        trajectories: the runs, in the order of the result.
        pools: gives each run its template.
        labels: by run id.

    Raises:
        LabelsError: as `label_of`.
        StoreError: as `label_of`.
        PoolsError: a run whose question the manifest doesn't know.
    """
    names: list[str] = []
    templates: list[str] = []
    prefixes: list[Assessment] = []
    terminal: list[Assessment] = []
    found: list[Label] = []
    clean: list[bool] = []
    tokens: list[float | None] = []
    seconds: list[float | None] = []
    for trajectory in trajectories:
        names.append(trajectory.question.id)
        templates.append(pools.template_of(trajectory.question.id))
        found.append(label_of(trajectory, labels))
        prefixes += estimators.replay(trajectory)
        terminal.append(prefixes[-1])
        steps = trajectory.steps
        clean.append(prefixes[-1].committed == "answer" and steps[-1].observation.kind == "rows")
        tokens += [0.0, *(step.usage.completion_tokens if step.usage else None for step in steps)]
        seconds += [0.0, *(step.seconds.model if step.seconds else None for step in steps)]
    answered = np.array([last.committed == "answer" for last in terminal], np.bool_)
    return PrefixScores(
        question_ids=tuple(names),
        templates=tuple(templates),
        offsets=np.cumsum([0, *(last.t + 1 for last in terminal)], dtype=np.int64),
        p_answerable=np.array([each.p_answerable for each in prefixes], np.float64),
        p_correct=np.array([each.p_correct for each in prefixes], np.float64),
        raw_correct=np.array([each.raw_correct for each in prefixes], np.float64),
        # None becomes NaN.
        delivery_score=np.array([last.delivery_score for last in terminal], np.float64),
        delivery=np.array([last.delivery for last in terminal], np.float64),
        p_unanswerable=np.array([last.p_unanswerable for last in terminal], np.float64),
        answered=answered,
        abstained=np.array([last.committed == "abstention" for last in terminal], np.bool_),
        answerable=np.array([label.answerable for label in found], np.bool_),
        correct=answered & np.array([label.correct is True for label in found], np.bool_),
        clean=np.array(clean, np.bool_),
        tokens=np.array(tokens, np.float64),
        seconds=np.array(seconds, np.float64),
    )
