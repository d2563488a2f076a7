"""One guarded run: each step gets a verdict, and the end of the run gets an `Answer`."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from sentinel_sql.decision.asking import Ask
from sentinel_sql.decision.judgement import Judgement
from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.live_step import LiveStep, whole_step
from sentinel_sql.decision.policy import Policy
from sentinel_sql.decision.sentence.claims import Claims
from sentinel_sql.decision.verdict import Answer, Misfit, OnUnavailable, Verdict
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.trajectory.record import AskedQuestion, Seconds, Step, Usage


class GuardSession:
    """One run under a guard, made by `Guard.session`.

    Every method may be called from any thread or coroutine. The end of a `with` or `async with`
    block closes the session, and an answer that wasn't handed to `close` before is withheld. No
    method waits for input or output, except to read a cursor.

    Attributes:
        question: the question that the agent gets.
        notes: sentences about parts of the run that were left out, and why.
    """

    def __init__(
        self,
        *,
        monitor: Monitor,
        policy: Policy,
        question: AskedQuestion,
        on_unavailable: OnUnavailable,
        misfit: Misfit | None,
        check_text: bool = True,
        ask: Ask | None = None,
    ) -> None:
        self.question = question
        self.notes: tuple[str, ...] = ()
        self._check_text = check_text
        self._lock = threading.RLock()
        self._answer: Answer | None = None
        self._judgement = Judgement(
            monitor=monitor,
            policy=policy,
            question=question,
            on_unavailable=on_unavailable,
            misfit=misfit,
            ask=ask,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def verdict(self) -> Verdict:
        """The newest verdict; before any step, that of the question alone (t = 0)."""
        return self._judgement.verdict

    @property
    def fault(self) -> Exception | None:
        """Why the monitor couldn't judge, or None.

        Either the exception that it raised, which is never logged or shown, or a `BundleError` that
        says how the run differs from those of the fit.
        """
        return self._judgement.fault

    @property
    def stops(self) -> bool:
        """True if the run is over."""
        return self.verdict.stops

    @property
    def answer(self) -> Answer | None:
        """The result of `close`, or None before."""
        return self._answer

    def observe(
        self,
        *,
        thought: str | None = None,
        sql: str | None = None,
        result: Any = None,
        result_text: str | None = None,
        columns: Iterable[str] | None = None,
        truncated: bool = False,
        logprobs: Iterable[float] | None = None,
        entropies: Iterable[float] | None = None,
        usage: Usage | None = None,
        seconds: Seconds | None = None,
    ) -> Verdict:
        """Judge the run after one more exploratory step; the arguments are those of `LiveStep`.

        After a verdict that stops the run, further steps don't change it. A blank query ran
        nothing, so its rows are left out.

        Raises:
            InputError: an argument is of a wrong type, or the session is closed.
        """
        return self._observe(
            LiveStep(
                thought=thought,
                sql=sql,
                result=result,
                result_text=result_text,
                columns=columns,
                truncated=truncated,
                logprobs=logprobs,
                entropies=entropies,
                usage=usage,
                seconds=seconds,
            )
        )

    def observe_step(self, step: Step) -> Verdict:
        """Judge the run after one more recorded step. A final step commits the run to its answer.

        Raises:
            InputError: the argument is no step, isn't the next step, or the session is closed.
        """
        if not isinstance(step, Step):
            raise InputError(
                f"a step can't be of type {type(step).__name__}: give a LiveStep, or a Step of a "
                "recorded run"
            )
        with self._lock:
            return self._advance(whole_step(step))

    def take(self, step: LiveStep | Step) -> Verdict:
        """Observe one step of either form; a last `LiveStep` also closes the session.

        Raises:
            InputError: as in `observe`, `observe_step` and `close`, or the step is of another type.
        """
        if isinstance(step, LiveStep):
            if not (step.final or step.abstained):
                return self._observe(step)
            self._close(None if step.says_nothing else step)
            return self.verdict
        return self.observe_step(step)

    def close(
        self,
        *,
        final_sql: str | None = None,
        result: Any = None,
        result_text: str | None = None,
        text: str | None = None,
        abstained: bool = False,
        thought: str | None = None,
        columns: Iterable[str] | None = None,
        truncated: bool = False,
        logprobs: Iterable[float] | None = None,
        entropies: Iterable[float] | None = None,
        p_true: float | None = None,
    ) -> Answer:
        """End the run, and judge the answer if it has one.

        After a verdict that stops the run, the arguments don't change the decision, with one
        exception: the sentence may still withhold the answer of a recorded final step. Without
        arguments, the run ends without an answer. The reason is then `no-answer` before the
        agent's step cap, and `step-cap` at the cap or if no cap is known. A stored run has one
        outcome for both, `cap`. Closing again returns the same answer.

        Args:
            final_sql: the query that is the agent's answer. A blank query is no answer, and the
                reason is `not-executed` for any result.
            result: result of that query; see `LiveStep`. If the answer is delivered, it is
                `Answer.value`; for a cursor, that is a list of its rows.
            result_text: the result as a tool printed it, instead of `result`.
            text: the agent's sentence for the user. If it states something that the result
                doesn't hold, the answer is withheld (`text-differs`). None: only the result is
                judged.
            abstained: True if the agent says that the question can't be answered.
            thought: the agent's words at its last step.
            columns: names of the result's columns.
            truncated: True if the full result has more rows.
            logprobs: log-probabilities of the tokens of the last step.
            entropies: entropies of the same tokens.
            p_true: the chance in [0, 1] that the agent's own model gives this answer.

        Raises:
            InputError: an argument is of a wrong type, a result has no query, or both an answer
                and an abstention are given. The session stays open.
        """
        step = LiveStep(
            thought=thought,
            sql=final_sql,
            result=result,
            result_text=result_text,
            columns=columns,
            truncated=truncated,
            logprobs=logprobs,
            entropies=entropies,
            final=not abstained,
            abstained=abstained,
            text=text,
            p_true=p_true,
        )
        return self._close(None if step.says_nothing else step)

    def _observe(self, live: LiveStep) -> Verdict:
        seen = live.read()
        with self._lock:
            before = self._judgement.steps
            step, notes = live.to_step(before + 1, seen.observation)
            verdict = self._advance(step)
            if self._judgement.steps > before:
                self.notes += (*seen.notes, *notes)
            return verdict

    def _advance(self, step: Step) -> Verdict:
        if self._answer is not None:
            raise InputError("this session is closed: open another one for the next run")
        if not self.verdict.stops:
            self._judgement.advance(step, over=False)
        return self.verdict

    def _close(self, live: LiveStep | None) -> Answer:
        if live is not None:
            _require_one_ending(live)
        with self._lock:
            if self._answer is not None:
                return self._answer
            seen, claims = None, None
            stopped = self.verdict.stops
            if live is None:
                if not stopped:
                    self._judgement.end()
            elif not stopped or self.verdict.decision == "deliver":
                # A recorded final step is judged already; its rows and sentence come with `close`.
                seen = live.read()
                claims = Claims.read(live.text) if live.text is not None else None
                notes = seen.notes
                if not stopped:
                    step, further_notes = live.to_step(self._judgement.steps + 1, seen.observation)
                    self._judgement.advance(step, over=True)
                    notes += further_notes
                self.notes += notes
            self._answer = self._make_answer(seen, claims)
            return self._answer

    def _make_answer(self, seen: LiveResult | None, claims: Claims | None) -> Answer:
        final = self._judgement.final
        differs: tuple[str, ...] = ()
        judges_text = False
        if self.verdict.decision == "deliver" and self._check_text and claims and seen:
            judges_text = True
            try:
                differs = claims.missing_in(
                    seen, question=self.question.text, sql=final.sql if final else None
                )
            except Exception:
                # A sentence that couldn't be compared is not delivered.
                differs = (claims.text,)
                self.notes += ("the sentence couldn't be compared with the result",)
            if differs:
                self._judgement.verdict = replace(
                    self.verdict, decision="withhold", reason="text-differs"
                )
        last = self.verdict
        delivered = last.decision == "deliver"
        return Answer(
            decision=last.decision,
            reason=last.reason,
            status=last.status,
            confidence=last.confidence,
            value=seen.value if delivered and seen else None,
            final_sql=final.sql if delivered and final else None,
            text=claims.text if delivered and claims else None,
            t=last.t,
            monitor_seconds=self._judgement.seconds,
            text_judged=judges_text,
            differs=differs,
            notes=self.notes,
            fault=self.fault,
        )


def _require_one_ending(live: LiveStep) -> None:
    has_result = live.result is not None or live.result_text is not None
    if live.abstained and not (live.sql is None and not has_result):
        raise InputError(
            "the agent can't answer and abstain at once: give close() either final_sql= and "
            "result=, or abstained=True"
        )
    if not live.abstained and live.sql is None:
        raise InputError(
            "a result without its query can't be judged: give close() the query as final_sql= too; "
            "or abstained=True if the agent says that there is no answer; or no argument if it "
            "ended without one"
        )
