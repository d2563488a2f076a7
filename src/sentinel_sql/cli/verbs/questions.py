"""`sentinel questions`: checks question files against a database, and splits them into pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.options import (
    Clock,
    DatabaseAddress,
    MemoryMegabytes,
    OptionalMode,
    ResultMegabytes,
    ResultRows,
    Seconds,
    limits_of,
)
from sentinel_sql.cli.output import AsJson, emit, facts, progress

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(
    help="Check question files, and split them into pools.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

QuestionFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="QUESTIONS…",
        help="Question files, plain or gzip: EHRSQL v1, EHRSQL-2024 (data.json with label.json "
        "beside it), JSON Lines, or your own JSONL or CSV.",
    ),
]


@app.command(
    epilog="Example: sentinel questions check valid.jsonl.gz --database mimic_iv.sqlite "
    "--mode ehrsql-2024"
)
def check(
    questions: QuestionFiles,
    database: DatabaseAddress,
    mode: OptionalMode = None,
    clock: Clock = None,
    seconds: Seconds = 30.0,
    result_rows: ResultRows = 10_000,
    result_mb: ResultMegabytes = 64,
    memory_mb: MemoryMegabytes = 1_000,
    as_json: AsJson = False,
) -> None:
    """Run every gold query and compare its result with the answer in the data set."""
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.pipeline.check_questions import check_questions
    from sentinel_sql.questions.read import read_questions

    records = read_questions(questions)
    with (
        open_database(
            database,
            clock=clock,
            limits=limits_of(
                seconds=seconds, rows=result_rows, megabytes=result_mb, memory=memory_mb
            ),
        ) as opened,
        progress("gold queries") as advance,
    ):
        report = check_questions(records, opened, mode, on_progress=advance)
    document = report.to_json()
    emit(document, as_json=as_json, tables=lambda: _check_tables(document))


def _check_tables(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(document["summary"], style="bold")
    ids = ("mismatched_ids", "empty_gold_ids")
    apart = ("summary", "error_ids", "undetermined_ids")
    counts: dict[str, object] = {name: it for name, it in document.items() if name not in apart}
    yield facts("Questions", counts | {name: document[name] or None for name in ids})
    for name, message in document["undetermined_ids"].items():
        yield Text(f"question {name}: {message}", style="yellow", overflow="fold")
    for name, message in document["error_ids"].items():
        yield Text(f"question {name}: {message}", style="red", overflow="fold")


@app.command(epilog="Example: sentinel questions pools train.jsonl valid.jsonl --out pools.json")
def pools(
    questions: QuestionFiles,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the manifest is written.")],
    seed: Annotated[int, typer.Option(help="Another seed gives another split.")] = 42,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Earlier pools: known templates keep their pool, new ones are assigned.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Split questions into train, calibration and held-out pools that share no template."""
    from sentinel_sql.questions.pools import Pools, make_pools
    from sentinel_sql.questions.read import read_questions

    known = None if like is None else Pools.read(like)
    made = make_pools(read_questions(questions), seed=seed, like=known)
    made.write(out)
    document = made.summary()
    if known is not None:
        kept = len(made.pools.keys() & known.pools.keys())
        document |= {"templates kept": kept, "templates new": len(made.pools) - kept}
    emit(document, as_json=as_json, tables=lambda: [facts("Pools", document)])
