"""The table of all exhibits of an evaluation, by name, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.exhibits.auroc_by_step import by_step
from sentinel_sql.evaluation.exhibits.cost import cost
from sentinel_sql.evaluation.exhibits.early_stopping import early_stopping
from sentinel_sql.evaluation.exhibits.exact_bar import exact_bars
from sentinel_sql.evaluation.exhibits.gain import gain
from sentinel_sql.evaluation.exhibits.head_ranking import heads
from sentinel_sql.evaluation.exhibits.operating_characteristics import operating
from sentinel_sql.evaluation.exhibits.question_baseline import question_only
from sentinel_sql.evaluation.exhibits.reliability import confidence_bins, reliability
from sentinel_sql.evaluation.exhibits.resources import resources
from sentinel_sql.evaluation.exhibits.reweighting import reweighted
from sentinel_sql.evaluation.exhibits.risk_coverage import risk_coverage_sweep, selective
from sentinel_sql.evaluation.exhibits.stakes_sweep import stakes_sweep
from sentinel_sql.evaluation.exhibits.step_economics import step_economics
from sentinel_sql.evaluation.exhibits.strict_scoring import strict_scoring
from sentinel_sql.evaluation.exhibits.system_ladder import ladder
from sentinel_sql.evaluation.exhibits.warnings import open_prefixes, warnings
from sentinel_sql.evaluation.exhibits.withholding import withhold_roc, withholding

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
    "warnings": warnings,
    "open_prefixes": open_prefixes,
    "exact_bar": exact_bars,
    "reweighting": reweighted,
    "strict": strict_scoring,
    "question_only": question_only,
    "resources": resources,
    "cost": cost,
}
