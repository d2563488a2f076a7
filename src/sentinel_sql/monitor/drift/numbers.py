"""The numbers of one run that are watched for drift, and their counts in a monitor's bundle."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sentinel_sql.errors import BundleError
from sentinel_sql.monitor.drift.watch import Reference, count_reference
from sentinel_sql.monitor.features.ten_features import FEATURES
from sentinel_sql.monitor.head import Floats
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.trajectory.record import Trajectory

STREAMS: Mapping[str, str] = MappingProxyType(
    {
        "answerability": "the score that the question is answerable, before the first step",
        "correctness": "the score that the answer is correct, after the last step",
        "answered": "whether the agent gave an answer",
        **{name: feature.meaning for name, feature in FEATURES.items()},
    }
)
"""The streams by name, each with its meaning in words."""

FACT = "drift"
"""Where the facts of a monitor hold the counts of the ten features."""


def count_features(features: Floats) -> dict[str, list[list[float]]]:
    """Count the ten features of calibration runs, JSON-ready: pairs of a coarse number and a count.

    Args:
        features: of each run's last prefix, shape (n, 10).
    """
    counted = count_reference(dict(zip(FEATURES, row, strict=True)) for row in features.tolist())
    return {
        name: [[it, count] for it, count in sorted(its.items())] for name, its in counted.items()
    }


def reference_of(monitor: Monitor) -> Reference:
    """Return the counts of a monitor's calibration pool; the features' only where it holds them.

    Raises:
        BundleError: the monitor was calibrated on no run, or its counts can't be read.
    """
    scores = monitor.calibration
    if not len(scores):
        raise BundleError(
            "this monitor was calibrated on no run, so nothing can be compared with it: fit one "
            "with `sentinel fit`"
        )
    columns = {
        "answerability": scores.p_answerable[scores.offsets[:-1]],
        "correctness": scores.raw_correct[scores.offsets[1:] - 1],
        "answered": scores.answered.astype(float),
        "n_steps": scores.steps.astype(float),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    counted = count_reference(dict(zip(columns, row, strict=True)) for row in rows)
    return {**counted, **_stored_counts(monitor.facts.get(FACT, {}))}


def _stored_counts(stored: Any) -> Reference:
    try:
        return {
            name: {float(it): int(count) for it, count in stored[name]}
            for name in FEATURES
            if name in stored
        }
    except (TypeError, ValueError) as error:
        raise BundleError(
            "the monitor's counts for drift can't be read: fit it again with `sentinel fit`"
        ) from error


def read_numbers(monitor: Monitor, run: Trajectory) -> Mapping[str, float]:
    """Return the numbers of a whole run by stream, as the monitor sees it."""
    session = monitor.open(run.question)
    start = session.assess()
    for step in run.steps:
        session.observe(step)
    end = session.assess()
    return {
        "answerability": start.p_answerable,
        "correctness": end.raw_correct,
        "answered": float(end.committed == "answer"),
        **session.features(),
    }
