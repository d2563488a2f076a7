"""The ten trajectory features, computed at every prefix, one step at a time.

Only the hybrid delivery estimator reads them, at a committed answer. The heads don't.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from sentinel_sql.monitor.features.execution import ExecutionState
from sentinel_sql.monitor.features.grounding import GroundingState
from sentinel_sql.monitor.features.telemetry import TelemetryState
from sentinel_sql.monitor.head import Floats
from sentinel_sql.monitor.surroundings import NOWHERE, Surroundings
from sentinel_sql.trajectory.record import AskedQuestion, Prefix, Step, commitment
from sentinel_sql.trajectory.render import Commitment

Family = Literal["telemetry", "execution", "grounding"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Feature:
    """One feature.

    Attributes:
        family: the group of features that an ablation removes together.
        meaning: what it measures.
        default: its neutral value, where nothing was observed.
    """

    family: Family
    meaning: str
    default: float = 0.0


FEATURES: Mapping[str, Feature] = MappingProxyType(
    {
        "lp_mean": Feature(
            family="telemetry",
            meaning="mean over steps of the step's mean chosen-token log-probability (nats)",
        ),
        "lp_min": Feature(
            family="telemetry", meaning="lowest chosen-token log-probability of all tokens (nats)"
        ),
        "ent_mean": Feature(
            family="telemetry", meaning="mean over steps of the step's mean top-5 entropy (nats)"
        ),
        "ent_max": Feature(
            family="telemetry", meaning="highest top-5 entropy of all tokens (nats)"
        ),
        "empty_rate": Feature(
            family="execution", meaning="share of executed queries that returned no row"
        ),
        "error_rate": Feature(
            family="execution", meaning="share of executed queries that ended in an error"
        ),
        "n_steps": Feature(family="execution", meaning="steps taken so far"),
        "failed_refs": Feature(
            family="grounding",
            meaning="table and column references, over all queries, that the schema doesn't have",
        ),
        "bad_joins": Feature(
            family="grounding",
            meaning="equality joins, over all queries, that no declared foreign key backs",
        ),
        "ungrounded_frac": Feature(
            family="grounding",
            meaning="share of the committed query's literals found neither in the question nor "
            "in an earlier result",
        ),
    }
)
"""The ten, in the order of every feature vector (paper appendix I). The defaults are ours: they
are the values of an unsuspicious run."""


class FeatureState:
    """The features of a growing prefix. Observing a step costs time for that step only."""

    def __init__(self, question: AskedQuestion, surroundings: Surroundings = NOWHERE) -> None:
        self._telemetry = TelemetryState()
        self._execution = ExecutionState()
        self._grounding = GroundingState(question, surroundings)

    def observe(self, step: Step, committed: Commitment | None) -> None:
        """Read one more step; `committed` says whether it commits to an answer or abstains."""
        self._telemetry.observe(step)
        self._execution.observe(step)
        self._grounding.observe(step, committed)

    def vector(self) -> Floats:
        """Return the ten features in the order of `FEATURES`, shape (10,), never NaN."""
        values = self._telemetry.values() | self._execution.values() | self._grounding.values()
        return np.array(
            [
                feature.default if (value := values[name]) is None else value
                for name, feature in FEATURES.items()
            ]
        )


def features(prefix: Prefix, surroundings: Surroundings = NOWHERE) -> Mapping[str, float]:
    """Return the ten features of a prefix by name."""
    state = FeatureState(prefix.question, surroundings)
    for step in prefix.steps:
        state.observe(step, commitment(step, commit_on_error=prefix.commit_on_error))
    return dict(zip(FEATURES, state.vector().tolist(), strict=True))
