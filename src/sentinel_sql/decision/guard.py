"""The live guard: a frozen monitor and a policy around any agent's loop.

    guard = Guard.load("monitor/", stakes=4)
    answer = guard.run(my_agent, "how many patients got heparin in 2100?")

A session does the same around a loop of your own:

    with guard.session("how many patients got heparin in 2100?") as session:
        if not session.stops:                              # else refused before the agent runs
            for step in my_loop(session.question.text):
                if session.observe(thought=step.thought, sql=step.sql, result=step.rows).stops:
                    break
        answer = session.close(final_sql=..., result=..., text=...)

A guard may be shared by threads; so may a session. Where the monitor can't judge, the guard
fails closed: it stops, and no answer is delivered, unless it was told otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from os import PathLike
from typing import Self, overload

from sentinel_sql.decision.agent_loop import AsyncAgent, PlainAgent, run_agent
from sentinel_sql.decision.guard_arguments import (
    known_clock,
    require_agent,
    require_on_unavailable,
    require_question,
    require_schema,
)
from sentinel_sql.decision.policy import Policy, policy
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Answer, Misfit, OnUnavailable
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.result_line import whole_characters
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A monitor with the rules by which it stops runs; it never changes, any thread may use it.

    Attributes:
        monitor: frozen.
        policy: thresholds and delivery bar at the chosen stakes.
        gate, early_stop, exact_bar: by which rules a session at other stakes gets its policy.
        on_unavailable: what to do with answers that can't be judged: `withhold` them and stop
            at once, or `deliver` them unjudged.
        misfit: why the monitor can't judge these runs at all, or None.
        check_text: withhold an answer whose sentence states what its result doesn't hold.
    """

    monitor: Monitor
    policy: Policy
    gate: bool = True
    early_stop: bool = False
    exact_bar: bool = False
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
        on_unavailable: OnUnavailable = "withhold",
        agent: AgentInfo | str | None = None,
        schema: Schema | None = None,
        clock: str | None = None,
        check_text: bool = True,
    ) -> Self:
        """Read a bundle; the arguments are those of `over`.

        Raises:
            BundleError: nothing there, damaged, or of another version.
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        return cls.over(
            load(bundle),
            stakes=stakes,
            gate=gate,
            early_stop=early_stop,
            exact_bar=exact_bar,
            on_unavailable=on_unavailable,
            agent=agent,
            schema=schema,
            clock=clock,
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
        on_unavailable: OnUnavailable = "withhold",
        agent: AgentInfo | str | None = None,
        schema: Schema | None = None,
        clock: str | None = None,
        check_text: bool = True,
    ) -> Self:
        """Put a monitor to work.

        Args:
            monitor: frozen.
            stakes: λ ≥ 0, what a wrong answer costs; any, also one that wasn't frozen at fitting.
                Above what the monitor serves nothing is delivered, and `stakes_message` says why.
            gate: False leaves the monitor's gate out, if it has one.
            early_stop: also stop runs mid-run that will hardly end well.
            exact_bar: deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).
            on_unavailable: see the class.
            agent: who is guarded, as a record or its fingerprint; checked if given.
            schema: of the database in use, such as `SqliteDatabase.open(path).schema`; checked if
                given.
            clock: of the database in use, if it has one of its own; checked if given. Left out
                where the database goes by the machine's time, which has gone on since the fit.
            check_text: see the class.

        Raises:
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        require_agent(agent, monitor.agent)
        require_schema(schema)
        clock = known_clock(clock)
        require_on_unavailable(on_unavailable)
        return cls(
            monitor=monitor,
            policy=_policy(
                monitor, stakes=stakes, gate=gate, early_stop=early_stop, exact_bar=exact_bar
            ),
            gate=gate,
            early_stop=early_stop,
            exact_bar=exact_bar,
            on_unavailable=on_unavailable,
            misfit=_misfit(monitor, agent=agent, schema=schema, clock=clock),
            check_text=check_text,
        )

    @property
    def stakes_message(self) -> str | None:
        """Say why this guard delivers nothing at its stakes; None where the monitor serves them."""
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
    ) -> GuardSession:
        """Watch one run, as `with` or `async with`; on leaving, an open session withholds.

        Args:
            question: in words, or a record.
            stakes: λ ≥ 0 of this run; None takes the guard's.
            clock: the database's current time, where the question is in words; as in `over`.

        Raises:
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        require_question(question)
        clock = known_clock(clock)
        rules = self.policy
        if stakes is not None and stakes != rules.stakes:
            rules = _policy(
                self.monitor,
                stakes=stakes,
                gate=self.gate,
                early_stop=self.early_stop,
                exact_bar=self.exact_bar,
            )
        if isinstance(question, str):
            question = AskedQuestion(id="live", text=whole_characters(question), clock=clock)
        else:
            question = question.model_copy(update={"text": whole_characters(question.text)})
        return GuardSession(
            monitor=self.monitor,
            policy=rules,
            question=question,
            on_unavailable=self.on_unavailable,
            misfit=self.misfit or _misfit(self.monitor, clock=question.clock),
            check_text=self.check_text,
        )

    @overload
    def run(
        self,
        agent: PlainAgent,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
    ) -> Answer: ...
    @overload
    def run(
        self,
        agent: AsyncAgent,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
    ) -> Awaitable[Answer]: ...
    def run(
        self,
        agent: PlainAgent | AsyncAgent,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
    ) -> Answer | Awaitable[Answer]:
        """Ask an agent under guard.

        The agent isn't called where the question is refused, and no step is asked for once the
        run is over; a generator that isn't used up is closed.

        Args:
            agent: from the question's text to its steps, each a `LiveStep` (or a `Step`). The
                last one is `final` or `abstained`. An asynchronous agent (`async def`, with or
                without `yield`) makes the call one to await.
            question: as for `session`.
            stakes: as for `session`.
            clock: as for `session`.

        Raises:
            InputError: as `session`; or the agent gives no steps. What the agent itself raises
                comes through, after the run was closed.
        """
        return run_agent(agent, self.session(question, stakes=stakes, clock=clock))


def _policy(
    monitor: Monitor, *, stakes: float, gate: bool, early_stop: bool, exact_bar: bool
) -> Policy:
    return policy(
        "early-stop" if early_stop else "full",
        thresholds=monitor.thresholds if gate else monitor.thresholds.without_gate(),
        stakes=stakes,
        exact=exact_bar,
        calibration=monitor.calibration if early_stop else None,
    )


def _misfit(
    monitor: Monitor,
    *,
    agent: AgentInfo | str | None = None,
    schema: Schema | None = None,
    clock: str | None = None,
) -> Misfit | None:
    # An agent's prompt may state schema and clock: what it differs by is named, not that it does.
    theirs = monitor.estimators
    if None not in (schema, theirs.schema) and schema.sha256 != theirs.schema.sha256:  # type: ignore[union-attr]
        return Misfit(
            reason="other-schema",
            words="the monitor was fitted on runs over a database of another schema: guard runs "
            "over that one, or fit a monitor on runs over this one",
        )
    if None not in (clock, theirs.clock) and clock != theirs.clock:
        return Misfit(
            reason="other-clock",
            words=f"the monitor was fitted on runs at the database's time {theirs.clock}, and this "
            f"one is at {clock}: open the database at that time, or, if it goes by the machine's "
            "time, leave the clock out of what the guard is told",
        )
    fingerprint = agent.fingerprint if isinstance(agent, AgentInfo) else agent
    if fingerprint is not None and fingerprint != monitor.agent:
        return Misfit(
            reason="other-agent",
            words=f"the monitor was fitted on runs of the agent [{monitor.agent}], and this one is "
            f"[{fingerprint}]; {difference(monitor.agent, fingerprint)}: guard that agent, or fit "
            "a monitor on this one's runs",
        )
    return None
