"""`sentinel import`: imports the logs of another agent into a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sentinel_sql.cli.output import AsJson, emit, facts, progress, write_lines

EXAMPLE = "Example: sentinel import logs/*.json.gz --store runs/theirs"


def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Logs, plain or gzip.")],
    store: Annotated[
        Path, typer.Option(metavar="DIR", help="Made if absent; runs already there are skipped.")
    ],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="openai-messages, openai-responses, anthropic, langchain, react, or auto, which "
            "recognises the format of each record.",
        ),
    ] = "auto",
    questions_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the questions with gold SQL in the logs (JSONL)."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model of these runs, if the logs don't name it.  [the file's name]",
        ),
    ] = None,
    sql_tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:ARGUMENT]",
            help="A tool that runs SQL, and the argument that holds it; repeat for more.  "
            "[common names, and tools that get SQL]",
        ),
    ] = None,
    final_tool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A further tool that ends a run, like final_answer or submit_answer; repeat for "
            "more.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import the logs of an agent that Sentinel never ran into a store."""
    from sentinel_sql.pipeline.import_runs import import_runs, questions_in
    from sentinel_sql.trajectory.formats.tools import tools

    known = tools(sql=tuple(sql_tool or ()), final=tuple(final_tool or ()))
    with progress("runs") as advance:
        summary = import_runs(
            files, store=store, format=format_, model=model, tools=known, on_progress=advance
        )
    document: dict[str, object] = {**asdict(summary), "store": str(summary.store)}
    if questions_out is not None:
        found = questions_in(files, format=format_)
        write_lines(questions_out, found)
        document["questions"] = len(found)
    shown = {**document, "forgotten": summary.forgotten or None}
    emit(document, as_json=as_json, tables=lambda: [facts("Imported", shown)])
