"""Replays a store of runs through the drift test of a monitor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sentinel_sql.monitor.drift.numbers import STREAMS, read_numbers, reference_of
from sentinel_sql.monitor.drift.watch import DriftWatch
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.trajectory.record import Trajectory


@dataclass(frozen=True, kw_only=True)
class DriftFound:
    """What a replay found.

    Attributes:
        runs: how many runs were observed.
        left_out: how many were left out, because the monitor was calibrated on them.
        calibrated_on: how many runs the monitor was calibrated on.
        streams: how many streams were watched.
        chance: the stated chance of a false alarm.
        since: id of the run that raised the alarm, or None.
        after: how many runs were observed until the alarm, or None.
        moved: what moved, in words, or None.
        direction: `higher` or `lower`, or None.
    """

    runs: int
    left_out: int
    calibrated_on: int
    streams: int
    chance: float
    since: str | None = None
    after: int | None = None
    moved: str | None = None
    direction: str | None = None


def find_drift(
    runs: Iterable[Trajectory], monitor: Monitor, *, chance: float = 0.05, seed: int = 42
) -> DriftFound:
    """Test runs, in their order, for a change against the runs of a monitor's calibration.

    Args:
        runs: whole runs that the monitor's heads didn't learn from; those that it was calibrated
            on are left out.
        monitor: frozen.
        chance: the largest chance of a false alarm, in (0, 1); see `DriftWatch`.
        seed: of the ranks among equal numbers.

    Raises:
        BundleError: the monitor was calibrated on no run.
        InputError: the chance lies outside (0, 1).
    """
    reference = reference_of(monitor)
    watch = DriftWatch(reference, chance=chance, seed=seed)
    calibrated_on = frozenset(monitor.calibration.question_ids)
    observed = left_out = 0
    since: str | None = None
    for run in runs:  # after the alarm they are only counted
        if run.question.id in calibrated_on:
            left_out += 1
            continue
        observed += 1
        if since is None and watch.observe(read_numbers(monitor, run)) is not None:
            since = run.question.id
    alarm = watch.alarm
    return DriftFound(
        runs=observed,
        left_out=left_out,
        calibrated_on=len(calibrated_on),
        streams=len(reference),
        chance=chance,
        since=since,
        after=alarm.runs if alarm else None,
        moved=STREAMS[alarm.stream] if alarm else None,
        direction=alarm.direction if alarm else None,
    )
