"""The families of dense features in order, and the state that reads them all from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Protocol

import numpy as np

from sentinel_sql.monitor.families import (
    alarms,
    dynamics,
    failures,
    intent,
    provenance,
    shape,
    slots,
    structure,
)
from sentinel_sql.monitor.families import probes as probed
from sentinel_sql.monitor.families.query_facts import query_facts
from sentinel_sql.monitor.families.result_facts import read_result
from sentinel_sql.monitor.families.step_view import Asked, Seen
from sentinel_sql.monitor.families.wording import read_wording
from sentinel_sql.monitor.features.grounding import analyse_sql
from sentinel_sql.monitor.head import Floats
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment


class FamilyState(Protocol):
    """One family on one run. Observing a step costs that step only."""

    def observe(self, seen: Seen) -> None:
        """Take in one more step."""
        ...

    def values(self) -> list[float]:
        """Return the family's features in order; NaN where the prefix doesn't show one."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """A family: its features with their meanings in order, and how to start reading a run."""

    features: Mapping[str, str]
    start: Callable[[Asked], FamilyState]


PROBES = "probes"
"""The family that runs show only where they carry probes of the database."""

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "dynamics": Family(features=dynamics.FEATURES, start=dynamics.DynamicsState),
        "failures": Family(features=failures.FEATURES, start=failures.FailureState),
        "shape": Family(features=shape.FEATURES, start=shape.ShapeState),
        "provenance": Family(features=provenance.FEATURES, start=provenance.ProvenanceState),
        "intent": Family(features=intent.FEATURES, start=intent.IntentState),
        "slots": Family(features=slots.FEATURES, start=slots.SlotState),
        "structure": Family(features=structure.FEATURES, start=structure.StructureState),
        PROBES: Family(features=probed.FEATURES, start=probed.ProbeState),
    }
)
"""The families that read a run, in the order of the dense vector."""

ALARMS = "alarms"
"""The family that counts what the others say against an answer."""


def names_of(families: Sequence[str]) -> tuple[str, ...]:
    """Return every feature of these families as `family.feature`, in the order of a vector."""
    tables = {name: family.features for name, family in FAMILIES.items()}
    tables[ALARMS] = alarms.FEATURES
    return tuple(f"{name}.{feature}" for name in families for feature in tables[name])


EVERY: tuple[str, ...] = (*FAMILIES, ALARMS)
"""Every family, in order; `alarms`, where chosen, stands last."""

EARNED: tuple[str, ...] = tuple(name for name in EVERY if name not in ("dynamics", "failures"))
"""The families that the `linear` head reads: those that the feature screen doesn't speak against.

Trajectory dynamics and failures on the way cost more than they brought on the runs that we have
(docs/explanation/the-linear-head.md); they can be chosen, and the screen shows them.
"""


class DenseState:
    """The dense features of a growing prefix, of the families chosen."""

    def __init__(
        self,
        question: AskedQuestion,
        around: Surroundings,
        families: tuple[str, ...] = EVERY,
    ) -> None:
        asked = Asked(
            question=question, wording=read_wording(question.text, around.clock), around=around
        )
        self._around = around
        chosen = [name for name in families if name != ALARMS]
        self._states = [FAMILIES[name].start(asked) for name in chosen]
        self._alarming = _alarming(tuple(chosen)) if ALARMS in families else None

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Take in one more step; `committed` is what it commits to, if anything."""
        keys, clock = self._around.keys, self._around.clock
        seen = Seen(
            step=step,
            committed=committed,
            query=query_facts(step.sql, keys) if step.sql else None,
            analysis=analyse_sql(step.sql, keys, clock) if step.sql else None,
            result=read_result(step.observation),
        )
        for state in self._states:
            state.observe(seen)

    def vector(self) -> Floats:
        """Return the features in the order of `names_of`; NaN where the prefix doesn't show one."""
        values = [value for state in self._states for value in state.values()]
        if self._alarming is not None:
            values += alarms.count_alarms(self._alarming, values)
        return np.array(values)


def select(vectors: Floats, families: tuple[str, ...]) -> Floats:
    """Return vectors of every family, shape (n, d), cut to some; the alarms are counted anew."""
    names = names_of(EVERY)
    chosen = tuple(name for name in families if name != ALARMS)
    kept = [at for at, name in enumerate(names) if name.partition(".")[0] in chosen]
    cut = vectors[:, kept]
    if ALARMS not in families:
        return cut
    where = _alarming(chosen)
    counted = [alarms.count_alarms(where, row) for row in cut.tolist()]
    return np.column_stack([cut, np.array(counted)])


@cache
def _alarming(families: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    return alarms.alarming(names_of(families))
