"""Arguments and options that several verbs share, so that they read and mean the same."""

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
DatabasePath = Annotated[
    Path, typer.Option("--database", metavar="DB", help="The SQLite database; opened read-only.")
]
Clock = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="The database's own current time, 'YYYY-MM-DD HH:MM:SS'. Known databases have theirs; "
        "others take this machine's time.",
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        "--mode", help="How two answers are compared: ehrsql-2024, ehrsql-v1 or sentinel-1."
    ),
]
Seconds = Annotated[
    float,
    typer.Option("--seconds", min=0.001, help="Wall time that one query may take."),
]
ResultRows = Annotated[
    int, typer.Option("--result-rows", min=1, help="Rows of one result that are kept.")
]
ResultMegabytes = Annotated[
    int, typer.Option("--result-mb", min=1, help="Megabytes of one result that are kept.")
]
MemoryMegabytes = Annotated[
    int,
    typer.Option("--memory-mb", min=50, help="Megabytes that the process of one query may take."),
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
    """Return the bounds of one query, as the options of a verb give them."""
    from sentinel_sql.database.executor import Limits

    return Limits(seconds=seconds, rows=rows, total=megabytes * MB, memory=memory * MB)
