"""Scores recorded runs and puts scores and labels into the columns that replays use."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from sentinel_sql.errors import LabelsError, StoreError
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Estimators
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.pipeline.parallel_scoring import AssessedRun, assess_runs
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.record import Trajectory

_ENDINGS = {"answer": "answered", "abstention": "abstained", None: "cap"}


def surroundings_of(header: LabelsHeader) -> Surroundings:
    """Return what labels say of their runs' database, in the form that a monitor reads."""
    return Surroundings(
        keys=keys_of(header.schema if header.schema.tables else None),
        clock=header.clock,
        dialect=header.dialect,
    )


def label_of(trajectory: Trajectory, labels: Mapping[str, Label]) -> Label:
    """Return the label of a run, after checking that it fits the run.

    Raises:
        LabelsError: the run has no label, a label of another outcome, or an answer without a
            verdict.
        StoreError: the run's outcome isn't what its last step commits to.
    """
    name = trajectory.question.id
    ending = _ENDINGS[trajectory.prefix(len(trajectory.steps)).commitment]
    if ending != trajectory.outcome.kind:
        raise StoreError(
            f"run {name} says it ended as {trajectory.outcome.kind}, but its last step makes it "
            f"{ending}: import or collect it again"
        )
    if trajectory.states_two_answers:
        raise StoreError(
            f"run {name} names another query as its answer (outcome.final_sql) than its last step "
            "ran: import or collect it again"
        )
    label = labels.get(name)
    if label is None:
        raise LabelsError(f"run {name} has no label: label the store with `sentinel label`")
    if label.outcome != ending:
        raise LabelsError(
            f"the label of run {name} says that it ended as {label.outcome}, but the run ended as "
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
    workers: int = 1,
) -> PrefixScores:
    """Score every prefix of every run; only a few runs are in memory at once.

    Args:
        estimators: those of a monitor (`monitor.estimators`).
        trajectories: the runs, in the order of the result.
        pools: gives each run its template.
        labels: labels by run id.
        workers: number of processes; they don't change the scores. See `assess_runs`.

    Raises:
        LabelsError: as in `label_of`.
        StoreError: as in `label_of`.
        PoolsError: the manifest doesn't know the question of a run.
    """
    names: list[str] = []
    templates: list[str] = []
    assessed: list[AssessedRun] = []
    found: list[Label] = []
    clean: list[bool] = []
    tokens = array("d")
    seconds = array("d")

    def with_labels() -> Iterator[Trajectory]:
        for trajectory in trajectories:
            found.append(label_of(trajectory, labels))
            templates.append(pools.template_of(trajectory.question.id))
            yield trajectory

    for trajectory, scored in assess_runs(estimators, with_labels(), workers=workers):
        names.append(trajectory.question.id)
        assessed.append(scored)
        steps = trajectory.steps
        clean.append(scored.committed == "answer" and steps[-1].observation.kind == "rows")
        tokens.extend(
            [
                0.0,
                *(_or_nan(step.usage.completion_tokens if step.usage else None) for step in steps),
            ]
        )
        seconds.extend(
            [0.0, *(_or_nan(step.seconds.model if step.seconds else None) for step in steps)]
        )
    answered = np.array([scored.committed == "answer" for scored in assessed], np.bool_)
    prefixes = np.concatenate([np.empty((0, 3)), *(scored.prefixes for scored in assessed)])
    last = np.array([scored.last for scored in assessed], np.float64).reshape(-1, 3)
    return PrefixScores(
        question_ids=tuple(names),
        templates=tuple(templates),
        offsets=np.cumsum([0, *(len(scored.prefixes) for scored in assessed)], dtype=np.int64),
        p_answerable=prefixes[:, 0].copy(),
        p_correct=prefixes[:, 1].copy(),
        raw_correct=prefixes[:, 2].copy(),
        delivery_score=last[:, 0].copy(),
        delivery=last[:, 1].copy(),
        p_unanswerable=last[:, 2].copy(),
        answered=answered,
        abstained=np.array([scored.committed == "abstention" for scored in assessed], np.bool_),
        answerable=np.array([label.answerable for label in found], np.bool_),
        correct=answered & np.array([label.correct is True for label in found], np.bool_),
        clean=np.array(clean, np.bool_),
        tokens=np.array(tokens, np.float64),
        seconds=np.array(seconds, np.float64),
    )


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)
