"""Makes views of runs for a report: every state with its confidences and their reasons.

An evaluation keeps a sample of views. It is made by a second pass over the store, so that only the
chosen runs are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sentinel_sql.decision.neighbours import nearest_answers, nearest_runs
from sentinel_sql.decision.policy import policy
from sentinel_sql.evaluation.sample_runs import MOST, choose_runs
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.views import FORMAT
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Assessment, Monitor
from sentinel_sql.pipeline.score_reasons import weights
from sentinel_sql.trajectory.record import Step, Trajectory

LONGEST_TEXT = 4_000
"""Longest thought, query or result of a view, in characters (our choice)."""


def view(
    trajectory: Trajectory,
    monitor: Monitor,
    *,
    label: Label | None = None,
    calibration: PrefixScores | None = None,
) -> dict[str, Any]:
    """Return a run with the monitor's confidences and their reasons, for any stakes; JSON-ready.

    Args:
        trajectory: the run.
        monitor: the frozen monitor.
        label: the run's label, if known.
        calibration: the monitor's calibration columns, if they were read before.
    """
    if calibration is None:
        calibration = monitor.calibration
    session = monitor.open(trajectory.question)
    hybrid = monitor.estimators.delivery.hybrid is not None
    states = []
    for t in range(len(trajectory.steps) + 1):
        step = trajectory.steps[t - 1] if t else None
        if step is not None:
            session.observe(step)
        seen = session.assess()
        states.append(
            {
                "t": t,
                **_step_texts(step),
                "p_answerable": seen.p_answerable,
                "p_correct": seen.p_correct,
                "delivery": seen.delivery,
                "p_unanswerable": seen.p_unanswerable,
                "unaccounted": list(seen.unaccounted),
                "neighbours": _neighbours(seen, calibration),
                "contributions": weights(monitor, trajectory.prefix(t)),
                # Only the hybrid reads the ten features.
                "features": dict(session.features())
                if hybrid and seen.committed == "answer"
                else None,
            }
        )
    committed = session.assess().committed
    return {
        "format": FORMAT,
        "id": trajectory.question.id,
        "question": trajectory.question.text,
        "ending": committed or "cap",
        "answerable": None if label is None else label.answerable,
        "correct": None if label is None else label.correct is True and label.answerable,
        "judged": None if label is None else label.reason,
        "states": states,
    }


def sample(
    evaluation: Evaluation,
    monitor: Monitor,
    trajectories: Iterable[Trajectory],
    labels: Mapping[str, Label],
    *,
    most: int = MOST,
) -> Iterator[dict[str, Any]]:
    """Yield the views of a sample, the clearest examples first.

    Args:
        evaluation: the evaluation; the sample covers the decisions at its stakes.
        monitor: the evaluated monitor.
        trajectories: the store's runs again; only the chosen ones are used.
        labels: labels by run id.
        most: most views to make.
    """
    scores = evaluation.evidence.recorded
    calibration = monitor.calibration
    policies = [
        policy(
            system,
            thresholds=monitor.thresholds,
            stakes=level,
            exact=evaluation.evidence.options.exact_bar,
            calibration=calibration,
        )
        for system in ("full", "early-stop")
        for level in evaluation.evidence.stakes
    ]
    chosen = [scores.question_ids[i] for i in choose_runs(scores, policies, most=most)]
    wanted = set(chosen)
    made = {
        run.question.id: view(
            run, monitor, label=labels.get(run.question.id), calibration=calibration
        )
        for run in trajectories
        if run.question.id in wanted
    }
    yield from (made[name] for name in chosen if name in made)


def _step_texts(step: Step | None) -> dict[str, Any]:
    if step is None:
        return {"action": None, "thought": None, "sql": None, "result": None, "kind": None}
    seen = step.observation
    return {
        "action": step.action,
        "thought": _shorten(step.thought),
        "sql": _shorten(step.sql),
        "result": _shorten(seen.text or seen.error),
        "kind": seen.kind,
    }


def _shorten(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}… ({len(text) - LONGEST_TEXT:,} characters more)"


def _neighbours(seen: Assessment, calibration: PrefixScores) -> list[dict[str, Any]]:
    found = [
        nearest_runs(calibration, seen.p_answerable, asked="answerable", t=seen.t),
        nearest_runs(calibration, seen.raw_correct, asked="ends-correct", t=seen.t),
    ]
    if seen.delivery_score is not None:
        found.append(nearest_answers(calibration, seen.delivery_score))
    return [each.to_json() for each in found]
