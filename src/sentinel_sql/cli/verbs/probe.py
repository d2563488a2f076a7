"""`sentinel probe`: adds probes of the database to runs that were recorded without them."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from sentinel_sql.cli.agents import index_where_possible
from sentinel_sql.cli.options import (
    MB,
    DatabaseAddress,
    MemoryMegabytes,
    RunsClock,
    Seconds,
)
from sentinel_sql.cli.options import Store as Source
from sentinel_sql.cli.output import AsJson, emit, facts, progress

EXAMPLE = "Example: sentinel probe runs/qwen --database mimic_iv.sqlite --store runs/qwen-probed"


def probe(
    source: Source,
    database: DatabaseAddress,
    store: Annotated[
        Path,
        typer.Option(
            metavar="NEW", help="The new store; made if absent, an existing one is resumed."
        ),
    ],
    clock: RunsClock = None,
    seconds: Seconds = 0.5,
    memory_mb: MemoryMegabytes = 1_000,
    keep_values: Annotated[
        bool,
        typer.Option(
            "--keep-values",
            help="Keep the stored texts that a question's words match, beside their columns.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add probes and coverage to recorded runs, in a new store; the old store stays unchanged.

    Probes are row counts along each query's joins, shares of NULLs, and stored values similar to
    texts that no row has. Like the runs, they hold data of the database.
    """
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.database.probes.probe import PROBE_LIMITS, Prober
    from sentinel_sql.pipeline.probe import probe_store
    from sentinel_sql.trajectory.store import read_trajectories

    if clock is None:
        clocks = {str(at) for run in read_trajectories(source) if (at := run.question.clock)}
        clock = min(
            clocks, default=None
        )  # if there are several, runs at another time are refused with a message
    with (
        open_database(
            database,
            clock=clock,
            limits=replace(PROBE_LIMITS, seconds=seconds, memory=memory_mb * MB),
        ) as opened,
        index_where_possible(opened) as index,
        progress("runs") as advance,
    ):
        made = probe_store(
            source,
            Prober(opened, index=index, keep_values=keep_values),
            store=store,
            on_progress=advance,
        )
    document = {**asdict(made), "store": str(made.store)}
    emit(
        document,
        as_json=as_json,
        tables=lambda: [
            facts(
                f"Probed into {store}",
                {
                    "runs": made.probed,
                    "there before": made.already_there or None,
                    "forgotten, not added": made.forgotten or None,
                    "steps": made.steps,
                    **{f"  {name}": count for name, count in made.found.items()},
                },
            )
        ],
    )
