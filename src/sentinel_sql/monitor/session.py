"""A frozen monitor, and the session that assesses one run of an agent step by step.

Live assessment and replay share one code path: a replay observes the steps of a recorded run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sentinel_sql.monitor.calibration import CalibrationMap
from sentinel_sql.monitor.delivery_estimator import Delivery
from sentinel_sql.monitor.families.accounted import AccountState
from sentinel_sql.monitor.families.step_reading import view_question, view_step
from sentinel_sql.monitor.features.keys import keys_of
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
    """A monitor's estimates for one prefix, all in [0, 1]; a higher confidence is better.

    Attributes:
        t: steps taken.
        committed: whether the newest step commits to an answer or abstains; None while open.
        p_answerable: 1 − raw score of the answerability head.
        raw_correct: raw score of the correctness head.
        p_correct: calibrated probability that the run ends in a delivered correct answer.
        delivery_score: raw score of the delivery estimator; None unless an answer is committed.
        delivery: calibrated p = P(a = 1, y = 1) of the committed answer, or None.
        p_unanswerable: calibrated probability ε that the question is unanswerable, for the exact
            bar; or None.
        unaccounted: the question's phrases that nothing in the committed query accounts for.
    """

    t: int
    committed: Commitment | None
    p_answerable: float
    raw_correct: float
    p_correct: float
    delivery_score: float | None = None
    delivery: float | None = None
    p_unanswerable: float | None = None
    unaccounted: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Estimators:
    """Everything that turns a prefix into confidences: heads, delivery estimator and maps.

    Attributes:
        head: the kind of both heads.
        answerability: fitted head; unanswerable is its positive class.
        correctness: fitted head; its positive class is correct, among answerable questions.
        delivery: the chosen delivery estimator.
        prefix_map: raw correctness of a prefix → probability of a delivered correct answer.
        delivery_map: raw delivery score → probability that the committed answer is correct.
        unanswerable_map: raw answerability score at a committed answer → ε.
        schema: the database's schema; if None, the grounding features keep their defaults.
        clock: the database's own current time, for questions without one.
        dialect: the SQL of the database, for questions without one; None for SQLite's.
        time_zone: the fixed time zone of the database's sessions; None if it has none.
        commit_on_error: the agent's setting: a final SQL that fails counts as an answer.
        max_steps: the agent's step cap, or None if it is unknown.
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
    dialect: str | None = None
    time_zone: str | None = None

    @cached_property
    def surroundings(self) -> Surroundings:
        """The database of the fit in the form that heads and features read."""
        return Surroundings(keys=keys_of(self.schema), clock=self.clock, dialect=self.dialect)

    def open(self, question: AskedQuestion) -> MonitorSession:
        """Start assessing a run, at t = 0."""
        return MonitorSession(self, question)

    def replay(self, trajectory: Trajectory) -> Iterator[Assessment]:
        """Assess the prefixes t = 0 … T of a recorded run, exactly as a live session would."""
        session = self.open(trajectory.question)
        yield session.assess()
        for step in trajectory.steps:
            session.observe(step)
            yield session.assess()


@dataclass(frozen=True, kw_only=True)
class Monitor:
    """Estimators, and the thresholds frozen on the calibration pool.

    Attributes:
        estimators: heads, delivery estimator and maps.
        agent: fingerprint of the agent that made the training runs.
        thresholds: gate, early stops and the stakes served.
        calibration: the calibration pool's columns, from which thresholds for other stakes are
            computed. Their only text is question ids.
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
        """Assess the prefixes t = 0 … T of a recorded run, exactly as a live session would."""
        return self.estimators.replay(trajectory)


class MonitorSession:
    """The assessment of one run. It sees the question and the steps so far, and nothing else."""

    def __init__(self, estimators: Estimators, question: AskedQuestion) -> None:
        self._estimators = estimators
        surroundings = estimators.surroundings.of(question)
        self._reading = estimators.head.read(question, surroundings)
        self._features = FeatureState(question, surroundings)
        self._account = AccountState(view_question(question, surroundings))
        self._surroundings = surroundings
        coverage = question.coverage
        self._unread = coverage is not None and not coverage.readable
        self._t = 0
        self._committed: Commitment | None = None
        self._assessment: Assessment | None = None

    def observe(self, step: Step) -> None:
        """Read the next step. The time depends on that step only.

        Raises:
            ValueError: the step's index isn't the next one.
        """
        if step.index != self._t + 1:
            raise ValueError(f"expected step {self._t + 1}, got step {step.index}")
        self._committed = commitment(step, commit_on_error=self._estimators.commit_on_error)
        self._reading.observe(step, self._committed)
        self._features.observe(step, self._committed)
        self._account.observe(view_step(step, self._committed, self._surroundings))
        self._t = step.index
        self._assessment = None

    def assess(self) -> Assessment:
        """Return the monitor's estimates for the prefix observed so far."""
        if self._assessment is None:
            self._assessment = self._estimate()
        return self._assessment

    def features(self) -> Mapping[str, float]:
        """Return the ten features of the prefix observed so far, by name."""
        return dict(zip(FEATURES, self._features.vector().tolist(), strict=True))

    def _estimate(self) -> Assessment:
        its = self._estimators
        snapshot = self._reading.snapshot(SCORING_TOKENS)
        unanswerable = its.answerability.score([snapshot])
        correct = its.correctness.score([snapshot])
        open_run = Assessment(
            t=self._t,
            committed=self._committed,
            # words that can't be read speak for nothing, so that no gate stops them
            p_answerable=1.0 if self._unread else float(1.0 - unanswerable[0]),
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
            unaccounted=self._account.unaccounted,
        )
