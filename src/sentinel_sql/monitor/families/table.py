"""The table of all families of dense features, and the state that reads them from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Protocol

import numpy as np

from sentinel_sql.monitor.families import (
    accounted,
    alarms,
    asked,
    coverage,
    dynamics,
    failures,
    intent,
    probes,
    provenance,
    shape,
    slots,
    structure,
)
from sentinel_sql.monitor.families.step_reading import view_question, view_step
from sentinel_sql.monitor.families.step_view import QuestionView, StepView
from sentinel_sql.monitor.head import Floats
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Step
from sentinel_sql.trajectory.render import Commitment


class FamilyState(Protocol):
    """One family on one run. Observing a step costs time for that step only."""

    def observe(self, seen: StepView) -> None:
        """Read one more step."""
        ...

    def values(self) -> list[float]:
        """Return the family's features in order; NaN where unknown."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """A family of features.

    Attributes:
        features: meanings by name, in the order of the values.
        start: makes the state for a run.
    """

    features: Mapping[str, str]
    start: Callable[[QuestionView], FamilyState]


PROBES = "probes"
"""The family that needs runs with probes of the database."""

COVERAGE = "coverage"
"""The family that needs a coverage record of the question."""

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "dynamics": Family(features=dynamics.FEATURES, start=dynamics.DynamicsState),
        "failures": Family(features=failures.FEATURES, start=failures.FailureState),
        "shape": Family(features=shape.FEATURES, start=shape.ShapeState),
        "provenance": Family(features=provenance.FEATURES, start=provenance.ProvenanceState),
        "intent": Family(features=intent.FEATURES, start=intent.IntentState),
        "slots": Family(features=slots.FEATURES, start=slots.SlotState),
        "structure": Family(features=structure.FEATURES, start=structure.StructureState),
        PROBES: Family(features=probes.FEATURES, start=probes.ProbeState),
        "accounted": Family(features=accounted.FEATURES, start=accounted.AccountState),
        "asked": Family(features=asked.FEATURES, start=asked.AskedState),
        COVERAGE: Family(features=coverage.FEATURES, start=coverage.CoverageState),
    }
)
"""The families that read a run, in the order of the dense vector."""

ALARMS = "alarms"
"""The family that counts the features of the others that speak against an answer."""


def names_of(families: Sequence[str]) -> tuple[str, ...]:
    """Return the features of these families as `family.feature`, in the order of a vector."""
    tables = {name: family.features for name, family in FAMILIES.items()}
    tables[ALARMS] = alarms.FEATURES
    return tuple(f"{name}.{feature}" for name in families for feature in tables[name])


ALL_FAMILIES: tuple[str, ...] = (*FAMILIES, ALARMS)
"""All families in order; `alarms` is always the last."""

DEFAULT_FAMILIES: tuple[str, ...] = tuple(
    name for name in ALL_FAMILIES if name not in ("dynamics", "failures")
)
"""The families that the `linear` head reads by default.

In the feature screen, `dynamics` and `failures` made the head worse on the runs that we have
(docs/explanation/the-linear-head.md). They can still be chosen, and the screen shows them.
"""


class DenseState:
    """The dense features of a growing prefix, from some families."""

    def __init__(
        self,
        question: AskedQuestion,
        surroundings: Surroundings,
        families: tuple[str, ...] = ALL_FAMILIES,
    ) -> None:
        view = view_question(question, surroundings)
        self._surroundings = surroundings
        chosen = [name for name in families if name != ALARMS]
        self._states = [FAMILIES[name].start(view) for name in chosen]
        self._alarms = _find_alarms(tuple(chosen)) if ALARMS in families else None

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step; `committed` says whether it commits to an answer or abstains."""
        seen = view_step(step, committed, self._surroundings)
        for state in self._states:
            state.observe(seen)

    def vector(self) -> Floats:
        """Return the features in the order of `names_of`; NaN where unknown."""
        values = [value for state in self._states for value in state.values()]
        if self._alarms is not None:
            values += alarms.count_alarms(self._alarms, values)
        return np.array(values)


def select(vectors: Floats, families: tuple[str, ...]) -> Floats:
    """Cut vectors of all families, shape (n, d), to some; alarms are counted among those only."""
    names = names_of(ALL_FAMILIES)
    chosen = tuple(name for name in families if name != ALARMS)
    kept = [at for at, name in enumerate(names) if name.partition(".")[0] in chosen]
    cut = vectors[:, kept]
    if ALARMS not in families:
        return cut
    where = _find_alarms(chosen)
    counts = [alarms.count_alarms(where, row) for row in cut.tolist()]
    return np.column_stack([cut, np.array(counts)])


@cache
def _find_alarms(families: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    return alarms.find_alarms(names_of(families))
