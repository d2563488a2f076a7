"""`sentinel report`: writes saved evaluations as one self-contained page with figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentinel_sql.cli.output import AsJson, emit, facts, progress

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLE = "Example: sentinel report evaluations/qwen evaluations/llama --out report/"


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER…", help="Made by `sentinel evaluate … --out`; one for each agent."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for page, figures and tables.")
    ],
    no_runs: Annotated[
        bool,
        typer.Option("--no-runs", help="Leave out single runs, and so all rows of data."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a report: one self-contained HTML page, PNG and SVG figures, CSV and Parquet."""
    from sentinel_sql.report.write import write_report

    with progress("figures") as advance:
        written = write_report(folders, out, runs=not no_runs, on_progress=advance)
    document = {
        "page": str(written.page),
        "agents": list(written.agents),
        "runs": written.runs,
        "evaluated": written.evaluated,
        "figures": written.figures,
        "bytes": written.bytes,
    }
    emit(document, as_json=as_json, tables=lambda: _screen(document))


def _screen(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    rows = dict(document) | {
        "runs": f"{document['runs']:,} of {document['evaluated']:,} shown one by one",
        "evaluated": None,
        "bytes": f"{document['bytes']:,}",
    }
    yield facts("Report", rows)
    # On its own line, because a table's title is wrapped to the width of the table.
    yield Text(f"Open {document['page']} in a browser.", overflow="fold")
