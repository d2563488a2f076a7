"""`sentinel evaluate`: replay every system over the held-out pool, and print the exhibits."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sentinel_sql.cli.options import LabelsFile, MonitorFolder, PoolsFile, Store
from sentinel_sql.cli.output import AsJson, emit, progress


class Pool(StrEnum):
    """The pools, as the command line spells them."""

    train = "train"
    calibration = "calibration"
    heldout = "heldout"


EXAMPLE = (
    "Example: sentinel evaluate runs/qwen --pools pools.json --labels labels.jsonl "
    "--monitor monitor/ --out evaluation/"
)


def evaluate(
    store: Store,
    pools: PoolsFile,
    labels: LabelsFile,
    monitor: MonitorFolder,
    stakes: Annotated[
        list[float] | None,
        typer.Option(min=0.0, help="λ, what a wrong answer costs; repeat for more.  [1, 4 and 9]"),
    ] = None,
    pool: Annotated[
        Pool, typer.Option(help="heldout is the pool of record; reading it is written down.")
    ] = Pool.heldout,
    exact_bar: Annotated[
        bool, typer.Option(help="Deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).")
    ] = False,
    strict: Annotated[
        bool, typer.Option(help="Score the same decisions by the strict labels.")
    ] = False,
    question_only: Annotated[
        bool, typer.Option(help="The rival that reads the question and never the run.")
    ] = False,
    reweight: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Every figure for that share of unanswerable questions, such as 0.2.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep it here: columns, and every table as CSV."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replay every system over the held-out pool, and print the exhibits."""
    from sentinel_sql.decision.payoff import STAKES_OF_RECORD
    from sentinel_sql.evaluation.options import Options
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.monitor.bundle import load
    from sentinel_sql.pipeline.evaluate import evaluate as evaluate_monitor
    from sentinel_sql.pipeline.evaluation_folder import save
    from sentinel_sql.questions.pools import Pools
    from sentinel_sql.report.tables import screen
    from sentinel_sql.trajectory.store import read_trajectories

    header, labelled = read_labels(labels)
    with progress("prefix scores") as advance:
        made = evaluate_monitor(
            load(monitor),
            read_trajectories(store),
            Pools.read(pools),
            labelled,
            stakes=tuple(stakes or STAKES_OF_RECORD),
            pool=pool.value,
            options=Options(
                exact_bar=exact_bar, strict=strict, question_only=question_only, reweight=reweight
            ),
            schema=header.schema,
            bundle=monitor,
            on_progress=advance,
        )
    if out is not None:
        save(made, out)
    document = made.to_json()
    emit(document, as_json=as_json, tables=lambda: screen(document))
