"""`sentinel drift`: says whether recorded runs still look like those of the calibration."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sentinel_sql.cli.options import MonitorFolder, Store
from sentinel_sql.cli.output import AsJson, emit, facts

EXAMPLE = "Example: sentinel drift runs/march --monitor monitors/qwen"


def drift(
    store: Store,
    monitor: MonitorFolder,
    chance: Annotated[
        float,
        typer.Option(help="Largest chance of a false alarm, over all runs and all that is tested."),
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the ranks among equal numbers.")] = 42,
    as_json: AsJson = False,
) -> None:
    """Test whether runs still look like those that a monitor was calibrated on.

    The runs are read in the order of the store. Give whole runs that the monitor didn't learn from;
    runs of its calibration pool are left out. The stated chance holds where the questions come
    from the same mix as those of the calibration.
    """
    from sentinel_sql.evaluation.drift import find_drift
    from sentinel_sql.monitor.bundle import load
    from sentinel_sql.trajectory.store import read_trajectories

    found = find_drift(read_trajectories(store), load(monitor), chance=chance, seed=seed)
    emit(
        asdict(found),
        as_json=as_json,
        tables=lambda: [
            facts(
                "Drift" if found.since is not None else "No drift found",
                {
                    "runs": found.runs,
                    "left out, of the calibration": found.left_out or None,
                    "compared with": f"{found.calibrated_on:,} runs of the calibration",
                    "false alarms": f"at most {found.chance:g}, over {found.streams} streams",
                    "alarm at run": found.since,
                    "runs until then": found.after,
                    "what moved": found.moved,
                    "where to": found.direction,
                },
            )
        ],
    )
