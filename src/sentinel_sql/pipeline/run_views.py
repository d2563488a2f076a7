"""Runs as a report shows them: every state with its confidences, and why they are what they are.

An evaluation keeps a telling sample of them, made by a second pass over the store: only the chosen
runs are ever held.
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

KEPT = 4_000
"""Characters of a thought, a query or a result that a view keeps (ours: more isn't read)."""


def view(
    trajectory: Trajectory,
    monitor: Monitor,
    *,
    label: Label | None = None,
    calibration: PrefixScores | None = None,
) -> dict[str, Any]:
    """Return a run with all that the monitor says of it, whatever the stakes; JSON-ready.

    Args:
        trajectory: the run.
        monitor: frozen.
        label: what is true of it, where that is known.
        calibration: the monitor's calibration columns, if they are already read.
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
                **_said(step),
                "p_answerable": seen.p_answerable,
                "p_correct": seen.p_correct,
                "delivery": seen.delivery,
                "p_unanswerable": seen.p_unanswerable,
                "neighbours": _neighbours(seen, calibration),
                "contributions": weights(monitor, trajectory.prefix(t)),
                # The hybrid weighs them beside the head's score; the head alone never reads them.
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
    """Yield the views of a telling sample, the most telling first.

    Args:
        evaluation: what was found; the sample covers the decisions at its stakes.
        monitor: that was evaluated.
        trajectories: the store's runs again; all but the chosen ones are passed over.
        labels: by run id.
        most: views to make.
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


def _said(step: Step | None) -> dict[str, Any]:
    if step is None:
        return {"action": None, "thought": None, "sql": None, "result": None, "kind": None}
    seen = step.observation
    return {
        "action": step.action,
        "thought": _kept(step.thought),
        "sql": _kept(step.sql),
        "result": _kept(seen.text or seen.error),
        "kind": seen.kind,
    }


def _kept(text: str | None) -> str | None:
    if text is None or len(text) <= KEPT:
        return text
    return f"{text[:KEPT]}… ({len(text) - KEPT:,} characters more)"


def _neighbours(seen: Assessment, calibration: PrefixScores) -> list[dict[str, Any]]:
    found = [
        nearest_runs(calibration, seen.p_answerable, asked="answerable", t=seen.t),
        nearest_runs(calibration, seen.raw_correct, asked="ends-correct", t=seen.t),
    ]
    if seen.delivery_score is not None:
        found.append(nearest_answers(calibration, seen.delivery_score))
    return [each.to_json() for each in found]
