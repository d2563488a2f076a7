"""The live guard: a frozen monitor and a policy around any agent's loop.

    guard = Guard.load("monitor/", stakes=4)
    with guard.session("how many patients got heparin in 2100?") as session:
        if not session.verdict.stops:                      # t = 0: refused before the agent runs
            for step in my_agent(session.question.text):
                if session.observe(thought=step.thought, sql=step.sql, result=step.result).stops:
                    break
        answer = session.close(final_sql=..., result=...)

A guard may be shared by threads; so may a session. Where the monitor can't judge, the guard
fails closed: it stops, and no answer is delivered, unless it was told otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sentinel_sql.decision.guard_arguments import (
    require_known_world,
    require_on_unavailable,
    require_question,
)
from sentinel_sql.decision.policy import Policy, policy
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Misfit, OnUnavailable
from sentinel_sql.monitor.bundle import load
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.agent_identity import told_apart
from sentinel_sql.trajectory.record import AgentInfo, AskedQuestion, Step


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
    """

    monitor: Monitor
    policy: Policy
    gate: bool = True
    early_stop: bool = False
    exact_bar: bool = False
    on_unavailable: OnUnavailable = "withhold"
    misfit: Misfit | None = None

    @classmethod
    def load(
        cls,
        bundle: str | Path,
        *,
        stakes: float,
        gate: bool = True,
        early_stop: bool = False,
        exact_bar: bool = False,
        on_unavailable: OnUnavailable = "withhold",
        agent: AgentInfo | str | None = None,
        schema: Schema | None = None,
        clock: str | None = None,
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

        Raises:
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        require_known_world(agent=agent, schema=schema, clock=clock)
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

    @contextmanager
    def session(
        self,
        question: str | AskedQuestion,
        *,
        stakes: float | None = None,
        clock: str | None = None,
    ) -> Iterator[GuardSession]:
        """Watch one run; on leaving, a session that wasn't closed withholds.

        Args:
            question: in words, or a record.
            stakes: λ ≥ 0 of this run; None takes the guard's.
            clock: the database's current time, where the question is in words; as in `over`.

        Raises:
            InputError: stakes that make no sense, or an argument of a wrong type.
        """
        require_question(question)
        require_known_world(clock=clock)
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
            question = AskedQuestion(id="live", text=question, clock=clock)
        misfit = self.misfit or _misfit(self.monitor, clock=question.clock)
        session = GuardSession(
            monitor=self.monitor,
            policy=rules,
            question=question,
            on_unavailable=self.on_unavailable,
            misfit=misfit,
        )
        try:
            yield session
        finally:
            session.close()


def guarded(steps: Iterable[Step], session: GuardSession) -> Iterator[Step]:
    """Yield an agent's steps for as long as the guard lets it go on, then close the session.

    No step is asked for once the run is over: none at all where the question was refused. A
    generator that isn't used up is closed, so that its agent can clean up. The outcome is
    `session.answer`.

    Args:
        steps: in native form, as the agent makes them.
        session: freshly opened.

    Raises:
        InputError: steps out of order.
    """
    source = iter(steps)
    try:
        while not session.stops:
            step = next(source, None)
            if step is None:
                break
            session.observe_step(step)
            yield step
        session.close()
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()


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
            f"[{fingerprint}]; {told_apart(monitor.agent, fingerprint)}: guard that agent, or fit "
            "a monitor on this one's runs",
        )
    return None
