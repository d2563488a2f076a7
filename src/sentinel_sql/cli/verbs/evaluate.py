"""`sentinel evaluate`: replays every system over the held-out pool and prints the exhibits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.kept_tables import say_gone
from sentinel_sql.cli.options import LabelsFile, MonitorFolder, PoolsFile, Store
from sentinel_sql.cli.output import AsJson, emit, progress
from sentinel_sql.errors import InputError, SentinelError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sentinel_sql.evaluation.exhibit_record import Exhibit


class Pool(StrEnum):
    """The pools, as written on the command line."""

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
        Pool,
        typer.Option(help="heldout is the pool of the final figures; its reading is recorded."),
    ] = Pool.heldout,
    exact_bar: Annotated[
        bool, typer.Option(help="Deliver at (λ+ε)/(1+λ) instead of Chow's λ/(1+λ).")
    ] = False,
    strict: Annotated[
        bool, typer.Option(help="Score the same decisions by the strict labels.")
    ] = False,
    question_only: Annotated[
        bool, typer.Option(help="Evaluate a rival that reads only the question.")
    ] = False,
    reweight: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Weigh every figure to this share of unanswerable questions, such as 0.2.",
        ),
    ] = None,
    rivals: Annotated[
        bool,
        typer.Option("--rivals", help="Compare other ways to doubt an answer with the monitor."),
    ] = False,
    confidences: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --rivals: also compare the folder of `sentinel rivals collect`.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Also fit N monitors that differ only in their seed, and show how figures vary.",
        ),
    ] = None,
    prices: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="PROMPT COMPLETION",
            help="Prices of a million tokens, such as 0.15 0.60, for the table of costs.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Save the evaluation here: columns, and every table as CSV."
        ),
    ] = None,
    no_runs: Annotated[
        bool,
        typer.Option("--no-runs", help="With --out: save no sample of single runs for the report."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes that score a long store.  [as many as cores]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replay every system over the held-out pool, and print the exhibits."""
    from sentinel_sql.decision.payoff import STAKES_OF_RECORD
    from sentinel_sql.evaluation_store.folder import check_place, save
    from sentinel_sql.evaluation_store.sources import EVALUATE, Source
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.monitor.bundle import load
    from sentinel_sql.pipeline.evaluate import evaluate as evaluate_monitor
    from sentinel_sql.pipeline.run_views import sample
    from sentinel_sql.pipeline.vary_seed import seed_exhibits
    from sentinel_sql.questions.pools import Pools
    from sentinel_sql.rivals.confidences import read_confidences
    from sentinel_sql.rivals.exhibits import rival_exhibits, rival_scores
    from sentinel_sql.rivals.score_rivals import score_rivals
    from sentinel_sql.trajectory.store import read_trajectories

    if confidences is not None and not rivals:
        raise InputError("--confidences is for the comparison with rivals: give --rivals, too")
    if rivals and question_only:
        raise InputError("--rivals compares whole runs, and --question-only reads none: give one")
    # Inputs are checked before the held-out pool is spent.
    if out is not None:
        check_place(out)
    source = Source.of(EVALUATE, store=store, pools=pools, labels=[labels])
    confidence_records = None if confidences is None else read_confidences(confidences)
    header, labels_by_run = read_labels(labels)
    with progress("prefix scores") as advance:
        made = evaluate_monitor(
            load(monitor),
            read_trajectories(store),
            Pools.read(pools),
            labels_by_run,
            stakes=tuple(stakes or STAKES_OF_RECORD),
            pool=pool.value,
            exact_bar=exact_bar,
            strict=strict,
            question_only=question_only,
            reweight=reweight,
            prices=prices,
            schema=header.schema,
            header=header,
            bundle=monitor,
            workers=workers or os.cpu_count() or 1,
            on_progress=advance,
        )
    further: dict[str, Exhibit[Any]] = {}  # written with --out, but too long for the document
    failed: list[SentinelError | KeyboardInterrupt] = []
    if rivals:
        with _put_off(failed):
            frozen_on, scored = score_rivals(
                load(monitor),
                made,
                read_trajectories(store),
                Pools.read(pools),
                labels_by_run,
                confidences=confidence_records,
            )
            rival_tables_by_name = rival_exhibits(made.evidence, frozen_on, scored)
            further = {"rival_scores": rival_scores(made.evidence, frozen_on, scored)}
            made = replace(made, exhibits={**made.exhibits, **rival_tables_by_name})
    if seeds is not None and not failed:
        with _put_off(failed), progress("seeds") as advance:
            varied = seed_exhibits(
                load(monitor),
                made,
                list(read_trajectories(store)),
                Pools.read(pools),
                labels_by_run,
                header,
                seeds=seeds,
                on_progress=advance,
            )
            made = replace(made, exhibits={**made.exhibits, **varied})
    if out is not None:
        if not no_runs and not question_only:  # its confidences aren't those of a run's steps
            with _put_off(failed):
                views = sample(made, load(monitor), read_trajectories(store), labels_by_run)
                made = replace(made, views=tuple(views))
        # Saved last, so that the folder is complete. The pool is spent by now, so figures are kept
        # even if a later part failed.
        say_gone(out, save(made, out, source=source, further=further))
    document = made.to_json()
    emit(document, as_json=as_json, tables=lambda: _tables(document))
    if failed:
        raise failed[0]


@contextmanager
def _put_off(failed: list[SentinelError | KeyboardInterrupt]) -> Iterator[None]:
    """Put off a failure, so that the figures before it are saved and shown first."""
    try:
        yield
    except (SentinelError, KeyboardInterrupt) as error:
        failed.append(error)


def _tables(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from sentinel_sql.report.terminal.evaluation import screen
    from sentinel_sql.report.terminal.rivals import rival_tables
    from sentinel_sql.report.terminal.seed_variance import seed_tables

    yield from screen(document)
    yield from rival_tables(document["exhibits"])
    yield from seed_tables(document["exhibits"])
