"""The table of exhibits: every one that an evaluation makes, by name, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sentinel_sql.evaluation.by_step import by_step
from sentinel_sql.evaluation.cost import cost
from sentinel_sql.evaluation.early_stopping import early_stopping
from sentinel_sql.evaluation.exact import exact_bars
from sentinel_sql.evaluation.exhibit import Evidence, Exhibit
from sentinel_sql.evaluation.gain import gain
from sentinel_sql.evaluation.heads import heads
from sentinel_sql.evaluation.ladder import ladder
from sentinel_sql.evaluation.operating import operating
from sentinel_sql.evaluation.question_only import question_only
from sentinel_sql.evaluation.reliability import confidence_bins, reliability
from sentinel_sql.evaluation.resources import resources
from sentinel_sql.evaluation.reweighted import reweighted
from sentinel_sql.evaluation.selective import risk_coverage_sweep, selective
from sentinel_sql.evaluation.stakes_sweep import stakes_sweep
from sentinel_sql.evaluation.step_economics import step_economics
from sentinel_sql.evaluation.strict_scoring import strict_scoring
from sentinel_sql.evaluation.withholding import withhold_roc, withholding

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
    "withhold": withholding,
    "withhold_roc": withhold_roc,
    "early_stop": early_stopping,
    "exact_bar": exact_bars,
    "reweighting": reweighted,
    "strict": strict_scoring,
    "question_only": question_only,
    "resources": resources,
    "cost": cost,
}
