"""The table of exhibits: every one that an evaluation makes, by name, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sentinel_sql.evaluation.by_step import by_step
from sentinel_sql.evaluation.exhibit import Evidence, Exhibit
from sentinel_sql.evaluation.gain import gain
from sentinel_sql.evaluation.heads import heads
from sentinel_sql.evaluation.ladder import ladder
from sentinel_sql.evaluation.operating import operating
from sentinel_sql.evaluation.reliability import confidence_bins, reliability
from sentinel_sql.evaluation.selective import risk_coverage_sweep, selective
from sentinel_sql.evaluation.stakes_sweep import stakes_sweep
from sentinel_sql.evaluation.step_economics import step_economics

EXHIBITS: Mapping[str, Callable[[Evidence], Exhibit[Any]]] = {
    "ladder": ladder,
    "heads": heads,
    "operating": operating,
    "gain": gain,
    "stakes": stakes_sweep,
    "reliability": reliability,
    "confidence_bins": confidence_bins,
    "by_step": by_step,
    "step_economics": step_economics,
    "selective": selective,
    "risk_coverage": risk_coverage_sweep,
}
