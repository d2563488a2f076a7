"""A monitor that learned from probes judges no answer of which no query was probed."""

from __future__ import annotations

from dataclasses import replace

from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.verdict import Answer
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import Observation, Probes
from small_runs import fitted


def ended(*, learned: bool, probes: Probes | None) -> Answer:
    monitor = fitted()[0]
    guard = Guard.over(replace(monitor, facts={**monitor.facts, "probed": learned}), stakes=1)
    with guard.session("how many patients got heparin") as session:
        seen = Observation(kind="rows", rows=1, columns=1, text="…", probes=probes)
        session.observe_step(make_step(action="final_sql", observation=seen))
        return session.close()


def test_without_probes_it_withholds_and_says_why() -> None:
    assert ended(learned=True, probes=None).reason == "missing-probes"
    assert ended(learned=True, probes=None).decision == "withhold"
    assert ended(learned=True, probes=Probes(chain=(1,))).status == "judged"
    assert ended(learned=False, probes=None).status == "judged"
