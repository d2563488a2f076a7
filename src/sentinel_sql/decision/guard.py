"""The live guard: a frozen monitor and a policy around any agent's loop.

    guard = Guard.load("monitor/", stakes=4)
    answer = guard.run(my_agent, "how many patients got heparin in 2100?")

A session does the same around a loop of your own:

    with guard.session("how many patients got heparin in 2100?") as session:
        if not session.stops:                              # a refused question runs no agent
            for step in my_loop(session.question.text):
                if session.observe(thought=step.thought, sql=step.sql, result=step.rows).stops:
                    break
        answer = session.close(final_sql=..., result=..., text=...)

Threads may share a guard, and a session too. If the monitor can't judge, the guard stops the run
and delivers no answer, unless `on_unavailable="deliver"`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import Self, overload

from sentinel_sql.arguments import checked
from sentinel_sql.decision.agent_loop import AsyncAgent, PlainAgent, run_agent
from sentinel_sql.decision.asking import Ask
from sentinel_sql.decision.certificate import certify_frozen
from sentinel_sql.decision.grounder import Grounder
from sentinel_sql.decision.guard_arguments import (
    known_clock,
    require_agent,
    require_ask,
    require_flag,
    require_on_unavailable,
    require_question,
    require_schema,
    require_text,
    turns,
)
from sentinel_sql.decision.misfits import find_misfit, in_place
from sentinel_sql.decision.policy import Policy, policy
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Answer, Misfit, OnUnavailable
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.result_line import whole_characters
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A frozen monitor and the rules by which it stops runs. Threads may share it.

    Attributes:
        monitor: frozen.
        policy: thresholds and delivery bar at the chosen stakes.
        gate, early_stop, exact_bar, certified: the rules, also of sessions at other stakes.
        on_unavailable: what happens if the monitor can't judge: `withhold` stops the run at once,
            `deliver` delivers its answer unjudged.
        misfit: why the monitor can't judge these runs at all, or None.
        check_text: withhold an answer if its sentence states what the result doesn't hold.
    """

    monitor: Monitor
    policy: Policy
    gate: bool = True
    early_stop: bool = False
    exact_bar: bool = False
    certified: bool = False
    on_unavailable: OnUnavailable = "withhold"
    misfit: Misfit | None = None
    check_text: bool = True

    @classmethod
    def load(
        cls,
        bundle: str | PathLike[str],
        *,
        stakes: float,
        gate: bool = True,
        early_stop: bool = False,
        exact_bar: bool = False,
        certified: bool = False,
        on_unavailable: OnUnavailable = "withhold",
        agent: AgentInfo | str | None = None,
        schema: Schema | None = None,
        clock: str | None = None,
        dialect: str | None = None,
        time_zone: str | None = None,
        check_text: bool = True,
    ) -> Self:
        """Read a bundle; the arguments are those of `over`.

        Raises:
            BundleError: the folder is missing, damaged, or written by another version.
            InputError: the stakes make no sense, or an argument is of a wrong type.
        """
        return cls.over(
            load(bundle),
            stakes=stakes,
            gate=gate,
            early_stop=early_stop,
            exact_bar=exact_bar,
            certified=certified,
            on_unavailable=on_unavailable,
            agent=agent,
            schema=schema,
            clock=clock,
            dialect=dialect,
            time_zone=time_zone,
            check_text=check_text,
        )

    @classmethod
    def over(
        cls,
        monitor: Monitor,
        *,
        stakes: float,
        gate: bool = True,
        early_stop: bool = False,
        exact_bar: bool = False,
        certified: bool = False,
        on_unavailable: OnUnavailable = "withhold",
        agent: AgentInfo | str | None = None,
        schema: Schema | None = None,
        clock: str | None = None,
        dialect: str | None = None,
        time_zone: str | None = None,
        check_text: bool = True,
    ) -> Self:
        """Make a guard of a monitor.

        Args:
            monitor: frozen.
            stakes: λ ≥ 0, what a wrong answer costs. Any λ works, not only those of the fit. Above
                the stakes that the monitor serves, nothing is delivered; see `stakes_message`.
            gate: False switches the monitor's gate off.
            early_stop: also stop runs mid-run that are unlikely to end in a correct answer.
            exact_bar: deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).
            certified: deliver only where the calibration pool proves that it earns at least what
                silence earns, at 90 % confidence; see `certificate`. Needs neither of the two rules
                before, and isn't bound by the stakes that the monitor serves.
            on_unavailable: see the class.
            agent: the guarded agent, as a record or a fingerprint. If given, it is checked
                against the agent of the fit.
            schema: schema of the database in use, such as `SqliteDatabase.open(path).schema`.
                If given, it is checked against the schema of the fit.
            clock: the database's own current time. If given, it is checked against the time of
                the fit; leave it out if the database uses the machine's time.
            dialect: the SQL of the database in use, `database.dialect`. If given, it is checked
                against that of the fit; a monitor of an earlier version was fitted on SQLite.
            time_zone: the fixed time zone of the database's sessions, for a server that has one.
                If given, it is checked against that of the fit.
            check_text: see the class.

        Raises:
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        rules = _policy(
            monitor,
            stakes=stakes,
            gate=gate,
            early_stop=early_stop,
            exact_bar=exact_bar,
            certified=certified,
        )
        require_agent(agent, monitor.agent)
        require_schema(schema)
        clock = known_clock(clock)
        require_text("dialect", dialect, 'such as "postgres"')
        require_text("time_zone", time_zone, 'such as "UTC"')
        require_on_unavailable(on_unavailable)
        require_flag("check_text", check_text)
        if not monitor.thresholds.calibrated:
            monitor = in_place(
                monitor,
                agent=agent,
                schema=schema,
                clock=clock,
                dialect=dialect,
                time_zone=time_zone,
            )
        return cls(
            monitor=monitor,
            policy=rules,
            gate=gate,
            early_stop=early_stop,
            exact_bar=exact_bar,
            certified=certified,
            on_unavailable=on_unavailable,
            misfit=find_misfit(
                monitor,
                agent=agent,
                schema=schema,
                clock=clock,
                dialect=dialect,
                time_zone=time_zone,
            ),
            check_text=check_text,
        )

    @property
    def uncalibrated(self) -> bool:
        """Whether the monitor knows no run of this agent: it ranks, and delivers only at λ = 0."""
        return not self.monitor.thresholds.calibrated

    @property
    def stakes_message(self) -> str | None:
        """Why this guard delivers nothing at its stakes; None if it may deliver."""
        if self.uncalibrated and self.policy.stakes > 0:
            return (
                "this monitor is uncalibrated, for it knows no run of this agent: it ranks answers "
                "and names reasons, and delivers nothing where a wrong answer costs anything; "
                "calibrate it on labelled runs with `sentinel fit --only-calibrate`"
            )
        if self.certified and self.policy.certified_at is None:
            found = certify_frozen(
                self.monitor.calibration, self.monitor.thresholds, stakes=self.policy.stakes
            )
            return f"nothing is certified at λ = {self.policy.stakes:g}: {found.why}"
        served = self.monitor.thresholds.served
        if self.policy.served or served is None:
            return None
        return (
            f"this monitor can serve stakes up to λ = {served.limit:.3g}, and these are "
            f"{self.policy.stakes:g}: nothing is delivered; lower the stakes, or fit on more "
            "labelled runs"
        )

    def session(
        self,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
        grounder: Grounder | None = None,
        history: Sequence[str] = (),
        ask: Ask | None = None,
    ) -> GuardSession:
        """Open a session for one run. Leave it by `with` or `async with`; left open, it withholds.

        Args:
            question: its text, or its record.
            stakes: λ ≥ 0 of this run; None for the guard's stakes.
            clock: the database's current time, for a question given as text; see `over`.
            grounder: looks the question's words up in the database, for a monitor that was fitted
                on runs with coverage. One that fails leaves the question without a record.
            history: what was said before in the same chat, oldest first, for a question that leans
                on it ("and women?"). A question given as a record has its own.
            ask: called with the question and the step that commits to an answer; returns the
                chance in [0, 1] that the agent's own model gives it, for a monitor that was fitted
                on runs with it. Its time counts as the monitor's. One that fails says nothing.

        Raises:
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        require_question(question)
        require_ask(ask)
        clock = known_clock(clock)
        rules = self.policy
        if stakes is not None and stakes != rules.stakes:
            rules = _policy(
                self.monitor,
                stakes=stakes,
                gate=self.gate,
                early_stop=self.early_stop,
                exact_bar=self.exact_bar,
                certified=self.certified,
            )
        if isinstance(question, str):
            question = AskedQuestion(
                id="live",
                text=whole_characters(question),
                clock=clock,
                history=turns(history),
            )
        else:
            question = question.model_copy(update={"text": whole_characters(question.text)})
        if grounder is not None and question.coverage is None:
            with suppress(Exception):  # a database that fails is no exception in a user's loop
                said = (question.history,) if question.history else ()
                coverage = grounder.ground(question.text, *said)
                question = question.model_copy(update={"coverage": coverage})
        return GuardSession(
            monitor=self.monitor,
            policy=rules,
            question=question,
            on_unavailable=self.on_unavailable,
            misfit=self.misfit
            or find_misfit(
                self.monitor,
                clock=question.clock,
                dialect=question.dialect,
                time_zone=question.time_zone,
            ),
            check_text=self.check_text,
            ask=ask,
        )

    @overload
    def run(
        self,
        agent: PlainAgent,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
        grounder: Grounder | None = None,
        history: Sequence[str] = (),
        ask: Ask | None = None,
    ) -> Answer: ...
    @overload
    def run(
        self,
        agent: AsyncAgent,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
        grounder: Grounder | None = None,
        history: Sequence[str] = (),
        ask: Ask | None = None,
    ) -> Awaitable[Answer]: ...
    def run(
        self,
        agent: PlainAgent | AsyncAgent,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
        grounder: Grounder | None = None,
        history: Sequence[str] = (),
        ask: Ask | None = None,
    ) -> Answer | Awaitable[Answer]:
        """Run an agent on one question under guard.

        A refused question never calls the agent. Once the run is over, no further step is
        requested, and a generator with steps left is closed.

        Args:
            agent: a function that takes the question's text and yields or returns its steps,
                each a `LiveStep` (or a `Step`). The last step is `final` or `abstained`. With an
                asynchronous agent (`async def`, with or without `yield`), await this call.
            question: as for `session`.
            stakes: as for `session`.
            clock: as for `session`.
            grounder: as for `session`.
            history: as for `session`.
            ask: as for `session`.

        Raises:
            InputError: as in `session`, or the agent gives no steps. An exception of the agent
                itself passes through after the session is closed.
        """
        session = self.session(
            question, stakes=stakes, clock=clock, grounder=grounder, history=history, ask=ask
        )
        return run_agent(agent, session)


@checked
def _policy(
    monitor: Monitor,
    *,
    stakes: float,
    gate: bool,
    early_stop: bool,
    exact_bar: bool,
    certified: bool,
) -> Policy:
    if certified and (early_stop or exact_bar):
        raise InputError("a certified bar stands alone: leave out early_stop and exact_bar")
    return policy(
        "certified" if certified else "early-stop" if early_stop else "full",
        thresholds=monitor.thresholds if gate else monitor.thresholds.without_gate(),
        stakes=stakes,
        exact=exact_bar,
        calibration=monitor.calibration if early_stop or certified else None,
    )
