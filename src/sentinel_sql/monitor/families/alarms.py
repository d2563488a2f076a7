"""Alarms: how many features speak against the committed answer.

Each single disagreement is too rare to get a weight from a few hundred runs. Their number is
frequent enough, and the sign of its weight is known beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sentinel_sql.monitor.families.step_view import UNSEEN

ALARMING: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "intent": frozenset(
            {
                "kind_differs",
                "cell_differs",
                "time_not_returned",
                "time_unasked",
                "count_not_returned",
                "count_unasked",
                "truth_not_returned",
                "truth_as_count",
                "amount_not_returned",
                "average_missing",
                "extreme_missing",
                "difference_missing",
                "distinct_missing",
                "group_missing",
                "average_unasked",
                "extreme_unasked",
                "order_missing",
                "wrong_end",
            }
        ),
        "slots": frozenset(
            {
                "any_number_missing",
                "id_missing",
                "id_on_other_key",
                "years_missing",
                "months_missing",
                "year_invented",
                "span_missing",
                "since_as_equality",
                "bound_missing",
                "counted_elsewhere",
                "rows_for_things",
                "filters_short",
            }
        ),
        "structure": frozenset(
            {
                "idle_tables",
                "mixed_or",
                "contradicts",
                "subtracts_times",
                "bare_beside_aggregate",
                "limit_unordered",
                "label_as_code",
                "code_as_label",
                "unfiltered",
            }
        ),
        "shape": frozenset({"void"}),
    }
)
"""By family, the features that speak against an answer (ours: chosen by reasoning, not by data)."""

FEATURES: Mapping[str, str] = MappingProxyType(
    {f"of_{family}": f"alarms among {family}" for family in ALARMING if family != "shape"}
    | {"in_all": "alarms of every family", "any": "1 if there is one"}
)
"""Meanings by name; a share counts as a share. Unknown unless an answer is committed."""


def find_alarms(names: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Return (index, family) of each alarm among these names."""
    parts = [name.partition(".") for name in names]
    return tuple(
        (at, family)
        for at, (family, _, feature) in enumerate(parts)
        if feature in ALARMING.get(family, ())
    )


def count_alarms(where: Sequence[tuple[int, str]], values: Sequence[float]) -> list[float]:
    """Return the features in the order of `FEATURES`, from the values of the other families.

    Args:
        where: what `find_alarms` returned for the names of the values.
        values: an unknown value counts 0, and so does a family that isn't among them.
    """
    counts: dict[str, float] = {}
    for at, family in where:
        value = values[at]
        if value == value:
            counts[family] = counts.get(family, 0.0) + min(1.0, value)
    if not counts:
        return [UNSEEN] * len(FEATURES)
    total = sum(counts.values())
    single = [counts.get(family, 0.0) for family in ALARMING if family != "shape"]
    return [*single, total, float(total > 0)]
