"""A frozen monitor, and the session that assesses one run of an agent step by step.

Live assessment and replay are one code path: a recorded run is replayed by observing its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sentinel_sql.monitor.calibration import CalibrationMap
from sentinel_sql.monitor.delivery_estimator import Delivery
from sentinel_sql.monitor.features.grounding import keys_of
from sentinel_sql.monitor.features.references import Keys
from sentinel_sql.monitor.features.ten_features import FEATURES, FeatureState
from sentinel_sql.monitor.head import FittedHead, Head
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.monitor.thresholds import Thresholds
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import AskedQuestion, Step, Trajectory, commitment
from sentinel_sql.trajectory.render import SCORING_TOKENS, Commitment


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """What a monitor says of one prefix. All numbers in [0, 1]; confidences: higher is better.

    Attributes:
        t: steps taken.
        committed: what the newest step commits to, or None while the run is open.
        p_answerable: 1 − raw score of the answerability head.
        raw_correct: raw score of the correctness head.
        p_correct: calibrated chance that the run ends in a delivered correct answer.
        delivery_score: raw score of the delivery estimator; None unless an answer is committed.
        delivery: calibrated p = P(a = 1, y = 1) of the committed answer, or None.
        p_unanswerable: calibrated ε of the exact bar, or None.
    """

    t: int
    committed: Commitment | None
    p_answerable: float
    raw_correct: float
    p_correct: float
    delivery_score: float | None = None
    delivery: float | None = None
    p_unanswerable: float | None = None


@dataclass(frozen=True, kw_only=True)
class Estimators:
    """Everything that turns a prefix into confidences: heads, delivery estimator and maps.

    Attributes:
        head: the kind of both heads.
        answerability: fitted head; unanswerable is its positive class.
        correctness: fitted head; correct given answerable.
        delivery: the chosen delivery estimator.
        prefix_map: raw correctness of any prefix → chance of a delivered correct answer.
        delivery_map: raw delivery score → chance that the committed answer is correct.
        unanswerable_map: raw answerability score at a committed answer → ε.
        schema: the database's, or None: the grounding features stay at their defaults.
        clock: the database's own current time, for questions that bring none.
        commit_on_error: the agent's setting: an erring final SQL commits.
        max_steps: the agent's step cap, or None where nobody stated one.
    """

    head: Head[Any]
    answerability: FittedHead[Any]
    correctness: FittedHead[Any]
    delivery: Delivery
    prefix_map: CalibrationMap
    delivery_map: CalibrationMap
    unanswerable_map: CalibrationMap
    schema: Schema | None
    clock: str | None
    commit_on_error: bool = False
    max_steps: int | None = None

    @cached_property
    def keys(self) -> Keys | None:
        """The schema's keys, ready for use by the features."""
        return keys_of(self.schema)

    def open(self, question: AskedQuestion) -> MonitorSession:
        """Start assessing a run, at t = 0."""
        return MonitorSession(self, question)

    def replay(self, trajectory: Trajectory) -> Iterator[Assessment]:
        """Assess the prefixes t = 0 … T of a recorded run, as a live session would have."""
        session = self.open(trajectory.question)
        yield session.assess()
        for step in trajectory.steps:
            session.observe(step)
            yield session.assess()


@dataclass(frozen=True, kw_only=True)
class Monitor:
    """Estimators with the thresholds that were frozen on the calibration pool.

    Attributes:
        estimators: heads, delivery estimator and maps.
        agent: fingerprint of the agent whose runs it was fitted on.
        thresholds: gate, early stops and the stakes served.
        calibration: the calibration pool's columns; thresholds for other stakes follow from
            them. They hold no text but question ids.
        facts: seed, pools hash, judge, versions and calibration metrics, JSON-ready.
    """

    estimators: Estimators
    agent: str
    thresholds: Thresholds
    calibration: PrefixScores
    facts: Mapping[str, Any]

    def open(self, question: AskedQuestion) -> MonitorSession:
        """Start assessing a run, at t = 0."""
        return self.estimators.open(question)

    def replay(self, trajectory: Trajectory) -> Iterator[Assessment]:
        """Assess the prefixes t = 0 … T of a recorded run, as a live session would have."""
        return self.estimators.replay(trajectory)


class MonitorSession:
    """One run under watch. It sees the question and the steps so far, and nothing else."""

    def __init__(self, estimators: Estimators, question: AskedQuestion) -> None:
        self._estimators = estimators
        around = Surroundings(keys=estimators.keys, clock=question.clock or estimators.clock)
        self._reading = estimators.head.read(question, around)
        self._features = FeatureState(question, around.keys, around.clock)
        self._t = 0
        self._committed: Commitment | None = None
        self._assessment: Assessment | None = None

    def observe(self, step: Step) -> None:
        """Take in the next step; costs that step only.

        Raises:
            ValueError: the step's index isn't the next one.
        """
        if step.index != self._t + 1:
            raise ValueError(f"expected step {self._t + 1}, got step {step.index}")
        self._committed = commitment(step, commit_on_error=self._estimators.commit_on_error)
        self._reading.observe(step, self._committed)
        self._features.observe(step, self._committed)
        self._t = step.index
        self._assessment = None

    def assess(self) -> Assessment:
        """Return what the monitor says of the prefix observed so far."""
        if self._assessment is None:
            self._assessment = self._assessed()
        return self._assessment

    def features(self) -> Mapping[str, float]:
        """Return the ten features of the prefix observed so far, by name."""
        return dict(zip(FEATURES, self._features.vector().tolist(), strict=True))

    def _assessed(self) -> Assessment:
        its = self._estimators
        snapshot = self._reading.snapshot(SCORING_TOKENS)
        unanswerable = its.answerability.score([snapshot])
        correct = its.correctness.score([snapshot])
        open_run = Assessment(
            t=self._t,
            committed=self._committed,
            p_answerable=float(1.0 - unanswerable[0]),
            raw_correct=float(correct[0]),
            p_correct=float(its.prefix_map(correct)[0]),
        )
        if self._committed != "answer":
            return open_run
        score = its.delivery.score(correct, self._features.vector()[np.newaxis])
        return Assessment(
            t=open_run.t,
            committed=open_run.committed,
            p_answerable=open_run.p_answerable,
            raw_correct=open_run.raw_correct,
            p_correct=open_run.p_correct,
            delivery_score=float(score[0]),
            delivery=float(its.delivery_map(score)[0]),
            p_unanswerable=float(its.unanswerable_map(unanswerable)[0]),
        )
