"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sentinel_sql.database.executor import Limits

MB = 1_000_000

Store = Annotated[
    Path,
    typer.Argument(
        metavar="STORE",
        help="A store folder, or one recordings file (.jsonl or .jsonl.gz).",
    ),
]
QuestionFiles = Annotated[
    list[Path],
    typer.Option("--questions", metavar="FILE", help="A question file; repeat for more."),
]
DATABASE_KINDS = "a SQLite file, duckdb:///FILE or postgresql://USER@HOST/NAME"
DatabaseAddress = Annotated[
    str,
    typer.Option(
        "--database", metavar="DB", help=f"The database, opened read-only: {DATABASE_KINDS}."
    ),
]
Clock = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="The database's own current time, 'YYYY-MM-DD HH:MM:SS'. Known databases have their "
        "own; others use this machine's time.",
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        "--mode", help="How two answers are compared: ehrsql-2024, ehrsql-v1 or sentinel-1."
    ),
]
RunsClock = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="The database's own current time.  [that of the runs]"),
]
OptionalMode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="How two answers are compared: ehrsql-2024, ehrsql-v1 or sentinel-1.  [the data "
        "set's own for EHRSQL over mimic_iv, mimic_iii and eicu, else sentinel-1]",
    ),
]
Seconds = Annotated[
    float,
    typer.Option("--seconds", min=0.001, help="Most wall time of one query."),
]
ResultRows = Annotated[
    int, typer.Option("--result-rows", min=1, help="Most rows kept of one result.")
]
ResultMegabytes = Annotated[
    int, typer.Option("--result-mb", min=1, help="Most megabytes kept of one result.")
]
MemoryMegabytes = Annotated[
    int,
    typer.Option("--memory-mb", min=50, help="Most megabytes of memory for one query."),
]
PoolsFile = Annotated[
    Path, typer.Option("--pools", metavar="FILE", help="Made by `sentinel questions pools`.")
]
LabelsFile = Annotated[
    Path, typer.Option("--labels", metavar="FILE", help="Made by `sentinel label`.")
]
MonitorFolder = Annotated[
    Path, typer.Option("--monitor", metavar="DIR", help="A bundle made by `sentinel fit`.")
]


def limits_of(*, seconds: float, rows: int, megabytes: int, memory: int) -> Limits:
    """Return the bounds of one query from the options of a verb."""
    from sentinel_sql.database.executor import Limits

    return Limits(seconds=seconds, rows=rows, total=megabytes * MB, memory=memory * MB)
