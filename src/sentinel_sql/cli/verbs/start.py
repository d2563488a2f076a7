"""`sentinel start`: from a file of questions to a report, in one command."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.agents import PromptName, index_where_possible
from sentinel_sql.cli.options import DatabaseAddress
from sentinel_sql.cli.output import AsJson, emit, facts, say
from sentinel_sql.cli.verbs import collect, evaluate, fit, label, probe, report

if TYPE_CHECKING:
    from sentinel_sql.questions.record import Question

EXAMPLE = (
    "Example: sentinel start questions.csv --database ward.sqlite "
    "--base-url http://127.0.0.1:8000/v1 --model qwen2.5-coder-7b --folder project"
)


def start(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS", help="A question file with gold SQL or answers.")
    ],
    database: DatabaseAddress,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="All files go here; an existing one is resumed.")
    ] = Path("sentinel-project"),
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An OpenAI-compatible endpoint, ending in /v1."),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the model.")] = None,
    runs: Annotated[
        Path | None,
        typer.Option(metavar="STORE", help="Runs of your own agent, instead of an endpoint."),
    ] = None,
    prompt: PromptName = "guided",
    workers: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 4,
    clock: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The database's own current time, 'YYYY-MM-DD HH:MM:SS'.  [that of the runs]",
        ),
    ] = None,
    make_unanswerable: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Also ask N questions without an answer, made of yours and marked as made.",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of pools, heads and made questions.")] = 42,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what so many questions can show.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Record, label, split, fit, evaluate and report; says first what so many questions can show.

    It resumes where it stopped: recorded runs are kept, and the rest is made again from them.
    """
    from sentinel_sql.errors import InputError
    from sentinel_sql.pipeline.learning.sample_size import what_can_be_shown
    from sentinel_sql.questions.pools import make_pools
    from sentinel_sql.questions.read import read_questions
    from sentinel_sql.trajectory.manifest import read_manifest

    if not dry_run and (runs is None) == (base_url is None or model is None):
        raise InputError("give --base-url and --model of an endpoint, or --runs with recorded runs")
    if runs is not None and make_unanswerable:
        raise InputError("--runs holds no run of a made question: leave out --make-unanswerable")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is no folder: name another one with --folder")
    store = folder / "runs"
    kept = read_manifest(store) or (read_manifest(runs) if runs is not None else None)
    if clock is None and kept is not None:
        clock = kept.clock
    asked = read_questions([questions])
    files = [questions]
    if make_unanswerable:
        made = _make(asked, database, clock, count=make_unanswerable, seed=seed)
        folder.mkdir(parents=True, exist_ok=True)
        files.append(_write(folder / "made-questions.csv", made))
        asked = [*asked, *made]
    pools = make_pools(asked, seed=seed)
    expected = what_can_be_shown(asked, pools)
    for sentence in expected:
        say(sentence)
    page = folder / "report" / "report.html"
    document: dict[str, Any] = {"folder": str(folder), "expected": list(expected), "page": None}
    if not dry_run:
        folder.mkdir(parents=True, exist_ok=True)
        pools.write(folder / "pools.json")
        # What the steps print is for people, who also get it beside a JSON document.
        with redirect_stdout(sys.stderr if as_json else sys.stdout):
            if runs is not None:
                probe.probe(source=runs, database=database, store=store, clock=clock)
            else:
                collect.collect(
                    questions=files,
                    database=database,
                    base_url=str(base_url),
                    model=str(model),
                    store=store,
                    workers=workers,
                    prompt=prompt,
                    clock=clock,
                    probes=True,
                )
            _judge(folder, files, database, clock, seed=seed)
        document["page"] = str(page)
    emit(document, as_json=as_json, tables=lambda: [facts("Project", _shown(document))])


def _judge(
    folder: Path, files: Sequence[Path], database: str, clock: str | None, *, seed: int
) -> None:
    """Label, fit, evaluate and report what the folder's store holds."""
    store, pools, labels = folder / "runs", folder / "pools.json", folder / "labels.jsonl"
    monitor, evaluation = folder / "monitor", folder / "evaluation"
    label.label(store=store, out=labels, questions=list(files), database=database, clock=clock)
    fit.fit(store=store, pools=pools, labels=labels, out=monitor, seed=seed)
    evaluate.evaluate(
        store=store, pools=pools, labels=labels, monitor=monitor, rivals=True, out=evaluation
    )
    report.report([evaluation], out=folder / "report")


def _make(
    asked: Sequence[Question], database: str, clock: str | None, *, count: int, seed: int
) -> list[Question]:
    """Make questions without an answer; none where the database's index can't be made."""
    from sentinel_sql.database.coverage.cover import DatabaseGrounder
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.pipeline.learning.made_questions import make_unanswerable

    made: list[Question] = []
    with open_database(database, clock=clock) as opened, index_where_possible(opened) as index:
        if index is not None:
            grounder = DatabaseGrounder(opened, index)
            made = make_unanswerable(asked, grounder, count=count, seed=seed)
    if len(made) < count:
        say(f"only {len(made):,} of {count:,} questions without an answer could be made")
    return made


def _write(path: Path, made: Sequence[Question]) -> Path:
    """Write made questions as a question file, which names them as made."""
    import csv
    import io

    from sentinel_sql.storage.whole_file import write_whole

    lines = io.StringIO()
    sheet = csv.writer(lines)
    sheet.writerow(["id", "question", "answerable", "template"])
    sheet.writerows([it.id, it.text, 0, it.template] for it in made)
    write_whole(path, lines.getvalue())
    return path


def _shown(document: Mapping[str, Any]) -> Mapping[str, object]:
    page = document["page"]
    return {
        "folder": document["folder"],
        "report": "none, as this was a dry run" if page is None else page,
    }
