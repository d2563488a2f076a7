"""Arguments and options that several verbs share, so that they read and mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
PoolsFile = Annotated[
    Path, typer.Option("--pools", metavar="FILE", help="Made by `sentinel questions pools`.")
]
LabelsFile = Annotated[
    Path, typer.Option("--labels", metavar="FILE", help="Made by `sentinel label`.")
]
MonitorFolder = Annotated[
    Path, typer.Option("--monitor", metavar="DIR", help="A bundle made by `sentinel fit`.")
]
