"""Judges one run step by step, and records why it couldn't where the monitor fails."""

from __future__ import annotations

import math
import time

from sentinel_sql.decision.asking import Ask, asked_about
from sentinel_sql.decision.policy import Ending, Kind, Policy
from sentinel_sql.decision.verdict import (
    GuardReason,
    Misfit,
    OnUnavailable,
    Unavailable,
    Verdict,
)
from sentinel_sql.errors import BundleError, InputError
from sentinel_sql.monitor.session import Assessment, Monitor, MonitorSession
from sentinel_sql.trajectory.record import AskedQuestion, Step, commitment


class Judgement:
    """The state of one run that is being judged. Not thread-safe; `GuardSession` holds the lock.

    Attributes:
        verdict: the newest verdict.
        steps: number of steps judged.
        final: the newest step that states the agent's answer, or None.
        seconds: total time that judging took.
        fault: see `GuardSession.fault`.
    """

    def __init__(
        self,
        *,
        monitor: Monitor,
        policy: Policy,
        question: AskedQuestion,
        on_unavailable: OnUnavailable,
        misfit: Misfit | None,
        ask: Ask | None = None,
    ) -> None:
        self._question = question
        self._ask = ask
        self._monitor = monitor
        self._policy = policy
        self._on_unavailable = on_unavailable
        self._unavailable: Unavailable | None = misfit.reason if misfit else None
        self._telemetry: set[str] = set()
        self._probed = False
        self._run: MonitorSession | None = None
        self.fault: Exception | None = BundleError(misfit.words) if misfit else None
        self.steps = 0
        self.seconds = 0.0
        self.final: Step | None = None
        self.verdict = self._judge(None, over=False)

    def advance(self, step: Step, *, over: bool) -> None:
        """Judge the run after one more step. `over`: the agent takes no further step.

        Raises:
            InputError: the step isn't the next one.
        """
        if step.index != self.steps + 1:
            raise InputError(
                f"this is step {step.index} of the run, but step {self.steps + 1} was expected: "
                "observe every step once, in order"
            )
        self.steps = step.index
        if step.telemetry is not None and step.telemetry.possible:
            self._telemetry |= {"lp"} if step.telemetry.logprobs else set()
            self._telemetry |= {"ent"} if step.telemetry.entropies else set()
        self._probed |= step.observation.probes is not None
        if step.action == "final_sql":
            self.final = step
        self.verdict = self._judge(step, over=over)

    def end(self) -> None:
        """Judge a run that ended without an answer or an abstention."""
        self.verdict = self._judge(None, over=True)

    def _judge(self, step: Step | None, *, over: bool) -> Verdict:
        """Judge the prefix that ends with `step`. `over`: the agent takes no further step."""
        started = time.perf_counter()
        estimators = self._monitor.estimators
        at_cap = estimators.max_steps is not None and self.steps >= estimators.max_steps
        ending: Ending | None = "cap" if over or at_cap else None
        if step is not None:
            ending = commitment(step, commit_on_error=estimators.commit_on_error) or ending
            if ending == "answer" and self._ask is not None and step.p_true is None:
                step = asked_about(self._ask, self._question, step)
        seen, kind, reason = self._decide(step, ending)
        if reason == "step-cap" and over:
            if step is not None:
                reason = "not-executed"
            elif estimators.max_steps is not None and not at_cap:
                reason = "no-answer"
        bar = None
        if seen is not None and seen.delivery is not None:
            bar = self._policy.delivery_bar(seen.p_unanswerable)
        elapsed = time.perf_counter() - started
        self.seconds += elapsed
        return Verdict(
            t=self.steps,
            decision=kind,
            reason=reason,
            status="unavailable" if seen is None else "judged",
            p_answerable=seen.p_answerable if seen else None,
            p_correct=seen.p_correct if seen else None,
            confidence=seen.delivery if seen else None,
            theta=self._policy.theta,
            early=self._policy.early,
            bar=bar,
            monitor_seconds=elapsed,
            unaccounted=seen.unaccounted if seen else (),
        )

    def _decide(
        self, step: Step | None, ending: Ending | None
    ) -> tuple[Assessment | None, Kind, GuardReason]:
        if self._unavailable is None and self._question.is_wordless:
            self._unavailable = "empty-question"
        if self._unavailable is None and self._lacks_coverage():
            self._unavailable = "missing-coverage"
        if self._unavailable is None and ending == "answer" and self._lacks_telemetry():
            self._unavailable = "missing-telemetry"
        if self._unavailable is None and ending == "answer" and self._lacks_probes(step):
            self._unavailable = "missing-probes"
        if self._unavailable is None:
            try:
                seen = self._assess(step)
                decision = self._policy.decide(seen, ending)
            except Exception as error:
                # If a head fails, mark the answer as unjudged.
                self.fault = error
                self._unavailable = "monitor-error"
            else:
                return seen, decision.kind, decision.reason
        return None, *self._decide_unjudged(ending, self._unavailable)

    def _assess(self, step: Step | None) -> Assessment:
        if self._run is None:
            self._run = self._monitor.open(self._question)
        if step is not None:
            self._run.observe(step)
        seen = self._run.assess()
        confidences = (seen.p_answerable, seen.p_correct, seen.delivery, seen.p_unanswerable)
        if not all(value is None or math.isfinite(value) for value in confidences):
            raise ValueError("the monitor gave a confidence that is no number")
        return seen

    def _decide_unjudged(self, ending: Ending | None, why: Unavailable) -> tuple[Kind, GuardReason]:
        """Decide without a monitor."""
        if self._on_unavailable == "withhold" or not self._policy.served:
            return ("withhold" if ending else "exit" if self.steps else "refuse"), why
        if ending is None:
            return "continue", why
        if ending == "answer":
            return "deliver", why
        return "withhold", "agent-abstained" if ending == "abstention" else "step-cap"

    def _lacks_telemetry(self) -> bool:
        """Return whether the delivery estimator needs telemetry that no step had."""
        needed = self._monitor.estimators.delivery.telemetry
        return any(name.split("_")[0] not in self._telemetry for name in needed)

    def _lacks_coverage(self) -> bool:
        """Return whether the monitor was fitted on coverage, but this question has no record."""
        return self._question.coverage is None and bool(self._monitor.facts.get("covered"))

    def _lacks_probes(self, step: Step | None) -> bool:
        """Return whether the monitor was fitted on probes, but no query of this run was probed."""
        ran = step is not None and step.observation.kind in ("rows", "empty")
        return ran and not self._probed and bool(self._monitor.facts.get("probed"))
