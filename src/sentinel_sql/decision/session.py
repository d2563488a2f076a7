"""One guarded run: steps go in, verdicts come out, and an answer at the end, or none."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from sentinel_sql.decision.observation import observed
from sentinel_sql.decision.policy import Ending, Kind, Policy
from sentinel_sql.decision.verdict import (
    Answer,
    GuardReason,
    Misfit,
    OnUnavailable,
    Unavailable,
    Verdict,
)
from sentinel_sql.errors import BundleError, InputError
from sentinel_sql.monitor.session import Assessment, Monitor, MonitorSession
from sentinel_sql.trajectory.record import (
    Action,
    AskedQuestion,
    Observation,
    Seconds,
    Step,
    Telemetry,
    Usage,
    commitment,
    states_query,
)


class GuardSession:
    """Made by `Guard.session`. Every method may be called from any thread.

    Attributes:
        question: as it was put to the agent.
        fault: why the monitor couldn't judge: what it raised, which is never logged and never
            shown, or a `BundleError` that says what of the run doesn't fit it.
    """

    def __init__(
        self,
        *,
        monitor: Monitor,
        policy: Policy,
        question: AskedQuestion,
        on_unavailable: OnUnavailable,
        misfit: Misfit | None,
    ) -> None:
        self.question = question
        self._monitor = monitor
        self._policy = policy
        self._on_unavailable = on_unavailable
        self._unavailable: Unavailable | None = misfit.reason if misfit else None
        self._lock = threading.Lock()
        self._steps = 0
        self._seconds = 0.0
        self._telemetry: set[str] = set()
        self._probed = False
        self._final_sql: str | None = None
        self._answer: Answer | None = None
        self.fault: Exception | None = BundleError(misfit.words) if misfit else None
        self._run: MonitorSession | None = None
        self._verdict = self._judged(None, over=False)

    @property
    def verdict(self) -> Verdict:
        """The newest verdict; at first that of t = 0, the question alone."""
        return self._verdict

    @property
    def stops(self) -> bool:
        """True if the run is over."""
        return self._verdict.stops

    @property
    def answer(self) -> Answer | None:
        """What `close` gave, or None before."""
        return self._answer

    def observe(
        self,
        *,
        thought: str | None = None,
        sql: str | None = None,
        result: Any = None,
        columns: Sequence[str] | None = None,
        truncated: bool = False,
        logprobs: Sequence[float] | None = None,
        entropies: Sequence[float] | None = None,
        usage: Usage | None = None,
        seconds: Seconds | None = None,
    ) -> Verdict:
        """Judge the run after one more exploratory step.

        Once a verdict stops the run it stays, whatever else is observed.

        Args:
            thought: the agent's own words.
            sql: the query that it ran, or None. A blank one ran nothing, so rows beside it are
                left out.
            result: of the query; see `observing.observed`.
            columns: names of the result's columns.
            truncated: more rows were there.
            logprobs: of the generated tokens.
            entropies: over the top 5 alternatives of each token, in nats.
            usage: tokens of the model call.
            seconds: wall time of model and database.

        Raises:
            InputError: the result can't be read, or the session is closed.
        """
        observation = observed(result, columns=columns, truncated=truncated)
        if isinstance(sql, str) and not states_query(sql):
            sql = None
            if observation.kind in ("rows", "empty"):
                observation = Observation(kind="none")
        telemetry = _telemetry(logprobs, entropies)
        with self._lock:
            step = self._step(
                "invalid" if sql is None else "sql",
                thought=thought,
                sql=sql,
                observation=observation,
                telemetry=telemetry,
                usage=usage,
                seconds=seconds,
            )
            return self._observed(step)

    def observe_step(self, step: Step) -> Verdict:
        """Judge the run after one more step in native form; a final one commits the run.

        Raises:
            InputError: the step isn't the next one, or the session is closed.
        """
        with self._lock:
            return self._observed(step)

    def close(
        self,
        *,
        final_sql: str | None = None,
        result: Any = None,
        abstained: bool = False,
        thought: str | None = None,
        columns: Sequence[str] | None = None,
        truncated: bool = False,
        logprobs: Sequence[float] | None = None,
        entropies: Sequence[float] | None = None,
    ) -> Answer:
        """End the run, and judge the answer if it has one.

        After a verdict that stops, the arguments change nothing. Without arguments the run
        ended without a commitment: `no-answer` before the agent's step cap, `step-cap` where it
        has none that is known. A record has one outcome for both, `cap`. Closing again returns
        the same answer.

        Args:
            final_sql: the query that is the agent's answer. A blank one is no answer:
                `not-executed`, whatever the result.
            result: of that query; see `observing.observed`. It comes back as `Answer.value`
                if it is delivered.
            abstained: the agent says that the question can't be answered.
            thought: the agent's words at its last step.
            columns: names of the result's columns.
            truncated: more rows were there.
            logprobs: of the generated tokens of the last step.
            entropies: of the same.

        Raises:
            InputError: the result can't be read, it comes without its query, or the agent is said
                both to answer and to abstain. The session stays open.
        """
        _require_one_ending(final_sql, result, abstained=abstained)
        with self._lock:
            if self._answer is not None:
                return self._answer
            if not self._verdict.stops:
                if final_sql is None and not abstained:
                    self._verdict = self._judged(None, over=True)
                else:
                    step = self._step(
                        "final_null" if abstained else "final_sql",
                        thought=thought,
                        sql=None if abstained else final_sql,
                        observation=observed(
                            None if abstained else result, columns=columns, truncated=truncated
                        ),
                        telemetry=_telemetry(logprobs, entropies),
                    )
                    self._advance(step, over=True)
            last = self._verdict
            delivered = last.decision == "deliver"
            self._answer = Answer(
                decision=last.decision,
                reason=last.reason,
                status=last.status,
                confidence=last.confidence,
                value=result if delivered else None,
                final_sql=self._final_sql if delivered else None,
                t=last.t,
                monitor_seconds=self._seconds,
            )
            return self._answer

    def _observed(self, step: Step) -> Verdict:
        if self._answer is not None:
            raise InputError("this session is closed: open another one for the next run")
        if not self._verdict.stops:
            self._advance(step, over=False)
        return self._verdict

    def _step(
        self,
        action: Action,
        *,
        thought: str | None,
        sql: str | None,
        observation: Observation,
        telemetry: Telemetry | None,
        usage: Usage | None = None,
        seconds: Seconds | None = None,
    ) -> Step:
        try:
            return Step(
                index=self._steps + 1,
                thought=thought,
                action=action,
                sql=sql,
                observation=observation,
                telemetry=telemetry,
                usage=usage,
                seconds=seconds,
            )
        except ValidationError as error:
            field = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
            raise InputError(
                f"the step's {field} can't be read: thought and sql are text, usage and seconds "
                "their records"
            ) from error

    def _advance(self, step: Step, *, over: bool) -> None:
        if step.index != self._steps + 1:
            raise InputError(
                f"this is step {step.index} of the run, but step {self._steps + 1} was expected: "
                "observe every step once, in order"
            )
        self._steps = step.index
        if step.telemetry is not None:
            self._telemetry |= {"lp"} if step.telemetry.logprobs else set()
            self._telemetry |= {"ent"} if step.telemetry.entropies else set()
        self._probed |= step.observation.probes is not None
        if step.action == "final_sql":
            self._final_sql = step.sql
        self._verdict = self._judged(step, over=over)

    def _judged(self, step: Step | None, *, over: bool) -> Verdict:
        """Judge the prefix that `step` completes; `over`: the agent will do no more."""
        started = time.perf_counter()
        its = self._monitor.estimators
        at_cap = its.max_steps is not None and self._steps >= its.max_steps
        ending: Ending | None = "cap" if over or at_cap else None
        if step is not None:
            ending = commitment(step, commit_on_error=its.commit_on_error) or ending
        seen, kind, reason = self._decided(step, ending)
        if reason == "step-cap" and over:
            if step is not None:
                reason = "not-executed"
            elif its.max_steps is not None and not at_cap:
                reason = "no-answer"
        bar = None
        if seen is not None and seen.delivery is not None:
            bar = self._policy.delivery_bar(seen.p_unanswerable)
        elapsed = time.perf_counter() - started
        self._seconds += elapsed
        return Verdict(
            t=self._steps,
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
        )

    def _decided(
        self, step: Step | None, ending: Ending | None
    ) -> tuple[Assessment | None, Kind, GuardReason]:
        if self._unavailable is None and ending == "answer" and self._lacks_telemetry():
            self._unavailable = "missing-telemetry"
        if self._unavailable is None and ending == "answer" and self._lacks_probes(step):
            self._unavailable = "missing-probes"
        if self._unavailable is None:
            try:
                seen = self._assessed(step)
                decision = self._policy.decide(seen, ending)
            except Exception as error:
                # Whatever a head does wrong, an answer that nobody judged must not look judged.
                self.fault = error
                self._unavailable = "monitor-error"
            else:
                return seen, decision.kind, decision.reason
        return None, *self._undecided(ending, self._unavailable)

    def _assessed(self, step: Step | None) -> Assessment:
        if self._run is None:
            self._run = self._monitor.open(self.question)
        if step is not None:
            self._run.observe(step)
        seen = self._run.assess()
        told = (seen.p_answerable, seen.p_correct, seen.delivery, seen.p_unanswerable)
        if not all(value is None or math.isfinite(value) for value in told):
            raise ValueError("the monitor gave a confidence that is no number")
        return seen

    def _undecided(self, ending: Ending | None, why: Unavailable) -> tuple[Kind, GuardReason]:
        """Decide without a monitor."""
        if self._on_unavailable == "withhold" or not self._policy.served:
            return ("withhold" if ending else "exit" if self._steps else "refuse"), why
        if ending is None:
            return "continue", why
        if ending == "answer":
            return "deliver", why
        return "withhold", "agent-abstained" if ending == "abstention" else "step-cap"

    def _lacks_telemetry(self) -> bool:
        """Tell whether the delivery estimator splits on telemetry that no step had."""
        needed = self._monitor.estimators.delivery.telemetry
        return any(name.split("_")[0] not in self._telemetry for name in needed)

    def _lacks_probes(self, step: Step | None) -> bool:
        """Tell whether the monitor learned from probes, and no query of this run was probed."""
        ran = step is not None and step.observation.kind in ("rows", "empty")
        return ran and not self._probed and bool(self._monitor.facts.get("probed"))


def _require_one_ending(final_sql: str | None, result: Any, *, abstained: bool) -> None:
    if abstained and not (final_sql is None and result is None):
        raise InputError(
            "the agent can't answer and abstain at once: give close() either final_sql= and "
            "result=, or abstained=True"
        )
    if final_sql is None and result is not None:
        raise InputError(
            "a result without its query can't be judged: give close() the query as final_sql= "
            "beside result=; abstained=True where the agent says that there is no answer; nothing "
            "where it ended without one"
        )


def _telemetry(
    logprobs: Sequence[float] | None, entropies: Sequence[float] | None
) -> Telemetry | None:
    if logprobs is None and entropies is None:
        return None
    try:
        return Telemetry(logprobs=tuple(logprobs or ()), entropies=tuple(entropies or ()))
    except ValidationError as error:
        raise InputError(
            "log-probabilities and entropies must be finite numbers, one a token: leave the others "
            "out"
        ) from error
