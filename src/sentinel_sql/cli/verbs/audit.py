"""`sentinel audit`: checks the labels and the data that all figures rest on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.kept_tables import check_place, keep
from sentinel_sql.cli.options import (
    DatabaseAddress,
    LabelsFile,
    MemoryMegabytes,
    PoolsFile,
    QuestionFiles,
    ResultMegabytes,
    ResultRows,
    Seconds,
    Store,
    limits_of,
)
from sentinel_sql.cli.output import AsJson, emit, facts, progress, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sentinel_sql.evaluation.exhibit_record import Exhibit
    from sentinel_sql.evaluation_store.sources import Source

app = typer.Typer(
    help="Compare judges with people and with each other.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

TablesOut = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Also write the tables here, as CSV.")
]


@app.command(
    epilog="Example: sentinel audit export runs/qwen --labels labels.jsonl --questions valid.jsonl "
    "--database mimic_iv.sqlite --out audit/"
)
def export(
    store: Store,
    labels: LabelsFile,
    questions: QuestionFiles,
    database: DatabaseAddress,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Made if absent.")],
    sample: Annotated[int, typer.Option(min=1, help="Judged answers to draw.")] = 100,
    raters: Annotated[int, typer.Option(min=1, max=20, help="Sheets to write.")] = 2,
    seed: Annotated[int, typer.Option(help="Another seed draws another sample.")] = 42,
    clock: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The database's own current time.  [that of the labels]"),
    ] = None,
    seconds: Seconds = 30.0,
    result_rows: ResultRows = 10_000,
    result_mb: ResultMegabytes = 64,
    memory_mb: MemoryMegabytes = 1_000,
    as_json: AsJson = False,
) -> None:
    """Write a blinded sample of judged answers, one CSV a rater.

    The sheets hold rows of the database. key.json holds the run and the verdict of each case: don't
    show it to the raters before their sheets are back.
    """
    from sentinel_sql.database.opening import open_database
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.pipeline.audit import export_audit
    from sentinel_sql.questions.read import read_questions
    from sentinel_sql.trajectory.store import read_trajectories

    header, labels_by_run = read_labels(labels)
    records = read_questions(questions)
    with (
        open_database(
            database,
            clock=clock or header.clock,
            limits=limits_of(
                seconds=seconds, rows=result_rows, megabytes=result_mb, memory=memory_mb
            ),
        ) as opened,
        progress("cases") as advance,
    ):
        made = export_audit(
            read_trajectories(store),
            records,
            opened,
            (header, labels_by_run),
            folder=out,
            size=sample,
            raters=raters,
            seed=seed,
            on_progress=advance,
        )
    document = {
        "cases": len(made.key.cases),
        "drawn from": made.key.judged,
        "sheets": [str(sheet) for sheet in made.sheets],
        "key, not for raters": str(made.key_file),
        "to fill in": "the column `correct`: 1, 0, or blank if it can't be said",
    }
    emit(
        {
            "cases": len(made.key.cases),
            "judged": made.key.judged,
            "sheets": [str(sheet) for sheet in made.sheets],
            "key": str(made.key_file),
        },
        as_json=as_json,
        tables=lambda: [facts("Audit", document)],
    )


@app.command(epilog="Example: sentinel audit score audit/ ann.csv ben.csv")
def score(
    audit: Annotated[
        Path, typer.Argument(metavar="DIR", help="Made by `sentinel audit export`; holds the key.")
    ],
    sheets: Annotated[
        list[Path], typer.Argument(metavar="SHEET…", help="The sheets that came back.")
    ],
    out: TablesOut = None,
    as_json: AsJson = False,
) -> None:
    """Count how often raters agree, how often the judge is right, and which errors it makes."""
    from sentinel_sql.evaluation.studies.judge_audit import judge_audit, raters_agreement
    from sentinel_sql.evaluation_store.sources import Source
    from sentinel_sql.labels.audit import KEY, read_key, read_sheet
    from sentinel_sql.report.terminal.audit import TABLES

    source = Source.of("sentinel audit score")
    check_place(out, source)
    key = read_key(audit / KEY)
    returned = [read_sheet(sheet, key) for sheet in sheets]
    exhibits: dict[str, Exhibit[Any]] = {
        "judge_audit": judge_audit(key, returned),
        "raters": raters_agreement(returned),
    }
    passed_over = {
        "repeated lines": sum(sheet.repeated for sheet in returned),
        "other columns": sum(sheet.other_columns for sheet in returned),
    }
    rows = {
        "judge": " ".join(filter(None, (key.judge, key.model))),
        "cases": f"{len(key.cases)}, drawn from {key.judged} judged answers",
        **{name: count or None for name, count in passed_over.items()},
    }
    emit(
        {
            "judge": key.judge,
            "mode": key.mode,
            "model": key.model,
            "prompt_sha256": key.prompt_sha256,
            "cases": len(key.cases),
            "judged": key.judged,
            "passed_over": passed_over,
            **_keep_exhibits(out, exhibits, source),
        },
        as_json=as_json,
        tables=lambda: [
            facts("Audit", rows),
            TABLES["judge_audit"].show(exhibits["judge_audit"].to_json()),
            *([TABLES["raters"].show(exhibits["raters"].to_json())] if len(returned) > 1 else []),
        ],
    )


@app.command(epilog="Example: sentinel audit disagreement rules.jsonl llm.jsonl strict-v1.jsonl")
def disagreement(
    labels: Annotated[
        list[Path],
        typer.Argument(
            metavar="LABELS…",
            help="Labels of the same runs; each also holds those of a strict mode.",
        ),
    ],
    out: TablesOut = None,
    as_json: AsJson = False,
) -> None:
    """Show where strict modes, rules and llm disagree, for each pair of judges, and why."""
    from sentinel_sql.evaluation.studies.judge_disagreement import (
        clocks_note,
        disagreement_reasons,
        judges_in,
    )
    from sentinel_sql.evaluation.studies.judge_disagreement import (
        disagreement as compare,
    )
    from sentinel_sql.evaluation_store.sources import Source
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.report.terminal.audit import TABLES

    source = Source.of("sentinel audit disagreement", labels=labels)
    check_place(out, source)
    files = [read_labels(path) for path in labels]
    judges = judges_in(files)
    note = clocks_note(header for header, _ in files)
    if note is not None:
        say(f"sentinel: {note}")
    exhibits: dict[str, Exhibit[Any]] = {
        "disagreement": compare(judges),
        "disagreement_reasons": disagreement_reasons(judges),
    }
    emit(
        {
            "judges": list(judges),
            "notes": [note] if note else [],
            **_keep_exhibits(out, exhibits, source),
        },
        as_json=as_json,
        tables=lambda: [TABLES[name].show(exhibit.to_json()) for name, exhibit in exhibits.items()],
    )


@app.command(
    epilog="Example: sentinel audit leakage runs/qwen --pools pools.json --labels labels.jsonl "
    "--out evaluation/"
)
def leakage(
    store: Store,
    pools: PoolsFile,
    labels: LabelsFile,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HEAD",
            help="Also train this head, such as linear, on shuffled labels; slow.",
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=20, help="How often each control shuffles the labels.")
    ] = 20,
    seed: Annotated[int, typer.Option(help="Seed of folds, readers and shuffles.")] = 42,
    out: TablesOut = None,
    as_json: AsJson = False,
) -> None:
    """Look for leakage: plain readers, shuffled labels, copies across splits.

    It ranks runs of the train and calibration pools; of held-out runs it only compares hashes. It
    fails with code 6 if a control on shuffled labels beats chance, or if the same transcript
    is on two sides of a split.
    """
    from sentinel_sql.errors import LeakageError
    from sentinel_sql.evaluation_store.sources import Source
    from sentinel_sql.labels.file import read_labels
    from sentinel_sql.pipeline.leakage import leakage_battery
    from sentinel_sql.questions.pools import Pools
    from sentinel_sql.report.terminal.leakage import leakage_tables
    from sentinel_sql.trajectory.store import read_trajectories

    source = Source.of("sentinel audit leakage", store=store, pools=pools, labels=[labels])
    check_place(out, source)
    header, labels_by_run = read_labels(labels)
    with progress("fits") as advance:
        made = leakage_battery(
            read_trajectories(store),
            Pools.read(pools),
            labels_by_run,
            header,
            head=head,
            permutations=permutations,
            seed=seed,
            on_progress=advance,
        )
    document = {"faults": list(made.faults), **_keep_exhibits(out, made.exhibits, source)}
    controls = made.exhibits["leakage_controls"].rows
    if untested := sum(row.holds is None for row in controls):
        say(
            f"sentinel: {untested} of {len(controls)} controls on shuffled labels couldn't be run, "
            "because too few runs of a kind are labelled: they show nothing"
        )
    emit(document, as_json=as_json, tables=lambda: leakage_tables(document["exhibits"]))
    if made.faults:
        raise LeakageError("; ".join(made.faults))


def _keep_exhibits(
    out: Path | None, exhibits: Mapping[str, Exhibit[Any]], source: Source
) -> dict[str, Any]:
    """Write the tables if `out` is given, and return the exhibits JSON-ready."""
    keep(out, exhibits, source)
    return {"exhibits": {name: exhibit.to_json() for name, exhibit in exhibits.items()}}
