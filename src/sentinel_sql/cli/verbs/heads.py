"""`sentinel heads`: compares kinds of head, and screens features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.kept_tables import check_place, keep
from sentinel_sql.cli.options import LabelsFile, PoolsFile, Store
from sentinel_sql.cli.output import AsJson, emit, progress, say
from sentinel_sql.cli.verbs.evaluate import Pool
from sentinel_sql.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sentinel_sql.monitor.head import Head

app = typer.Typer(
    help="Compare kinds of head under the same folds, and screen features.", no_args_is_help=True
)

DEFAULT_HEAD = "linear"

COMPARE_EXAMPLE = (
    "Example: sentinel heads compare runs/qwen --pools pools.json --labels labels.jsonl "
    "--heads ngrams,linear"
)


SCREEN_EXAMPLE = "Example: sentinel heads screen runs/qwen --pools pools.json --labels labels.jsonl"


@app.command("compare", epilog=COMPARE_EXAMPLE)
def compare(
    store: Store,
    pools: PoolsFile,
    labels: LabelsFile,
    heads: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Candidates separated by commas, the simplest first."),
    ] = "ngrams,linear",
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds for folds and fits.")] = 3,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The encoder of heads that need one: a name or a folder."
        ),
    ] = None,
    pool: Annotated[
        list[Pool] | None,
        typer.Option(help="Pools whose runs are used; repeat for more.  [train]"),
    ] = None,
    rivals: Annotated[
        bool, typer.Option("--rivals/--no-rivals", help="Also compare rivals on the same folds.")
    ] = True,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the table here, as CSV.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare kinds of head by out-of-fold scores, and say which one should be the default.

    A head replaces a simpler one if its AUROC of correctness is higher by 0.02 or more.
    """
    from sentinel_sql.evaluation_store.sources import Source
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.questions.pools import POOLS, Pools
    from sentinel_sql.rivals.compare_heads import compare_heads
    from sentinel_sql.trajectory.store import read_trajectories

    source = Source.of("sentinel heads compare", store=store, pools=pools, labels=[labels])
    check_place(out, source)
    header, labels_by_run = read_labels(labels)
    wanted = {each.value for each in pool or (Pool.train,)}
    among = [name for name in POOLS if name in wanted]
    if "heldout" in among:
        say("the held-out pool is used here: a head chosen by this table has seen it")
    with progress("candidates") as advance:
        made = compare_heads(
            read_trajectories(store),
            Pools.read(pools),
            labels_by_run,
            header,
            heads=_heads(heads, encoder),
            default=DEFAULT_HEAD,
            seeds=range(1, seeds + 1),
            among=among,
            with_rivals=rivals,
            on_progress=advance,
        )
    keep(out, {"candidates": made}, source)
    document = {"pools": among, "seeds": seeds, "candidates": made.to_json()}
    emit(document, as_json=as_json, tables=lambda: _comparison_tables(document))


@app.command("screen", epilog=SCREEN_EXAMPLE)
def screen(
    store: Store,
    pools: PoolsFile,
    labels: LabelsFile,
    seed: Annotated[int, typer.Option(help="Seed of folds, fits and intervals.")] = 42,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the tables here, as CSV.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what each feature, and each family of the linear head, adds to the n-grams.

    It scores the train pool out of fold, so no held-out pool is spent.
    """
    from sentinel_sql.evaluation_store.sources import Source
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.pipeline.learning.screen_features import screen_features
    from sentinel_sql.questions.pools import Pools
    from sentinel_sql.trajectory.store import read_trajectories

    source = Source.of("sentinel heads screen", store=store, pools=pools, labels=[labels])
    check_place(out, source)
    header, labels_by_run = read_labels(labels)
    with progress("folds") as advance:
        made = screen_features(
            read_trajectories(store),
            Pools.read(pools),
            labels_by_run,
            header,
            seed=seed,
            on_progress=advance,
        )
    keep(out, made, source)
    document = {"seed": seed, **{name: each.to_json() for name, each in made.items()}}
    emit(document, as_json=as_json, tables=lambda: _feature_tables(document))


def _heads(names: str, encoder: str | None) -> Mapping[str, Head[Any]]:
    from sentinel_sql.monitor.bundle import HEADS

    wanted = [name for part in names.split(",") if (name := part.strip())]
    unknown = [name for name in wanted if name not in HEADS]
    if unknown or not wanted:
        raise InputError(
            f"there is no head called {', '.join(unknown) or names!r}: choose from "
            f"{', '.join(HEADS)}"
        )
    if len(set(wanted)) < len(wanted):
        raise InputError(f"--heads {names} names a head twice: name each head once")
    chosen: dict[str, Head[Any]] = {}
    for name in wanted:
        head: Any = HEADS[name]
        if encoder is not None and hasattr(head, "encoder"):
            head = replace(head, encoder=encoder)
        chosen[name] = head
    return chosen


def _comparison_tables(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from sentinel_sql.report.terminal.candidates import candidate_tables

    yield from candidate_tables(document["candidates"])


def _feature_tables(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from sentinel_sql.report.terminal.feature_screen import screen_tables

    yield from screen_tables(document)
