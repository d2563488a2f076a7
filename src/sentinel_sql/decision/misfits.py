"""Whether a monitor fits an agent and its database, and how it is put in its place."""

from __future__ import annotations

from dataclasses import replace

from sentinel_sql.decision.verdict import Misfit
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.agent_identity import difference
from sentinel_sql.trajectory.record import AgentInfo


def in_place(
    monitor: Monitor,
    *,
    agent: AgentInfo | str | None,
    schema: Schema | None,
    clock: str | None,
    dialect: str | None,
    time_zone: str | None,
) -> Monitor:
    """Return a monitor that was fitted for no one place, for this agent and database."""
    estimators = replace(
        monitor.estimators, schema=schema, clock=clock, dialect=dialect, time_zone=time_zone
    )
    if isinstance(agent, AgentInfo):
        estimators = replace(
            estimators, commit_on_error=agent.commit_on_error, max_steps=agent.max_steps
        )
        agent = agent.fingerprint
    return replace(monitor, estimators=estimators, agent=agent or monitor.agent)


def find_misfit(
    monitor: Monitor,
    *,
    agent: AgentInfo | str | None = None,
    schema: Schema | None = None,
    clock: str | None = None,
    dialect: str | None = None,
    time_zone: str | None = None,
) -> Misfit | None:
    """Return why the monitor can't judge runs of this agent or database; None if it can.

    What isn't given isn't compared.
    """
    # Schema, clock and dialect may be part of the agent's prompt, so the agent comes last: the
    # message then names what differs instead of only saying that the prompt does.
    fitted = monitor.estimators
    known = fitted.dialect or "sqlite"
    if dialect is not None and dialect != known:
        return Misfit(
            reason="other-dialect",
            words=f"the monitor was fitted on runs over a database that reads {known}, and this "
            f"one reads {dialect}: guard runs over such a database, or fit a monitor on runs over "
            "this one",
        )
    if None not in (schema, fitted.schema) and schema.sha256 != fitted.schema.sha256:  # type: ignore[union-attr]
        return Misfit(
            reason="other-schema",
            words="the monitor was fitted on runs over a database of another schema: guard runs "
            "over that one, or fit a monitor on runs over this one",
        )
    if None not in (clock, fitted.clock) and clock != fitted.clock:
        return Misfit(
            reason="other-clock",
            words=f"the monitor was fitted on runs at the database's time {fitted.clock}, and this "
            f"one is at {clock}: open the database at that time, or, if it uses the machine's "
            "time, don't give the guard a clock",
        )
    if None not in (time_zone, fitted.time_zone) and time_zone != fitted.time_zone:
        return Misfit(
            reason="other-time-zone",
            words=f"the monitor was fitted on runs in the time zone {fitted.time_zone}, and this "
            f"one is in {time_zone}: open the database in that zone",
        )
    fingerprint = agent.fingerprint if isinstance(agent, AgentInfo) else agent
    if fingerprint is not None and fingerprint != monitor.agent:
        return Misfit(
            reason="other-agent",
            words=f"the monitor was fitted on runs of the agent [{monitor.agent}], and this agent "
            f"is [{fingerprint}]; {difference(monitor.agent, fingerprint)}: guard that agent, or "
            "fit a monitor on this one's runs",
        )
    return None
