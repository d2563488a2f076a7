"""`sentinel label`: say of every recorded run whether its answer was correct."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentinel_sql.cli.options import DatabasePath, Mode, Store
from sentinel_sql.cli.output import AsJson, emit, facts, progress, say

if TYPE_CHECKING:
    from sentinel_sql.database.sqlite import SqliteDatabase
    from sentinel_sql.trajectory.record import Trajectory


class Judge(StrEnum):
    """The judges, as the command line spells them."""

    strict = "strict"
    rules = "rules"


EXAMPLE = (
    "Example: sentinel label runs/qwen --questions valid.jsonl --database mimic_iv.sqlite "
    "--judge rules --out labels.jsonl"
)


def label(
    store: Store,
    questions: Annotated[
        list[Path],
        typer.Option("--questions", metavar="FILE", help="A question file; repeat for more."),
    ],
    database: DatabasePath,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the labels are written.")],
    judge: Annotated[
        Judge,
        typer.Option(
            help="strict: the data set's own comparison. rules: strict, and what a careful reader "
            "would also accept."
        ),
    ] = Judge.rules,
    mode: Mode = "ehrsql-2024",
    clock: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The database's own current time.  [that of the runs]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say of every recorded run whether its answer was correct, by running gold and answer."""
    from sentinel_sql.database.sqlite import SqliteDatabase
    from sentinel_sql.labels.file import write_labels
    from sentinel_sql.pipeline.label import label_runs
    from sentinel_sql.questions.read import read_questions
    from sentinel_sql.trajectory.store import read_trajectories

    asked = read_questions(questions)
    runs = list(read_trajectories(store))
    clocks = {run.question.clock for run in runs} - {None}
    if clock is None and len(clocks) == 1:
        clock = clocks.pop()  # an answer is judged at the time at which it was given
    with SqliteDatabase.open(database, clock=clock) as opened, progress("runs") as advance:
        _check_database(opened, store, runs)
        made = label_runs(runs, asked, opened, judge.value, mode, on_progress=advance)
    write_labels(out, made.header, made.labels)
    document = {**made.to_json(), "out": str(out)}
    emit(document, as_json=as_json, tables=lambda: [facts("Labels", document)])


def _check_database(opened: SqliteDatabase, store: Path, runs: Sequence[Trajectory]) -> None:
    """Refuse a database of another schema than the store's; speak up where the name differs."""
    from sentinel_sql.errors import LabelsError
    from sentinel_sql.trajectory.store import read_manifest

    manifest = read_manifest(store)
    if manifest is not None and manifest.schema_sha256 not in (None, opened.schema.sha256):
        raise LabelsError(
            f"the runs in {store} were made over a database of another schema than "
            f"{opened.name}'s: name the one that they were made over with --database"
        )
    names = {run.question.database for run in runs} - {None, opened.name}
    if names:
        say(
            f"sentinel: the runs were made over {', '.join(sorted(map(str, names)))} and are "
            f"judged over {opened.name}: the labels hold only if the content is the same"
        )
