"""`sentinel hospital`: builds the synthetic hospital and its benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sentinel_sql.cli.command_name import call_hint
from sentinel_sql.cli.output import AsJson, emit, facts

EXAMPLE = "Example: sentinel hospital hospital/ --patients 1000"


def hospital(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Made if absent; existing parts are replaced.")
    ],
    patients: Annotated[int, typer.Option(help="How many patients.")] = 100,
    seed: Annotated[int, typer.Option(help="Another seed gives another hospital.")] = 42,
    size: Annotated[int, typer.Option(help="How many questions; a fifth is unanswerable.")] = 1000,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Also copy it into duckdb:///FILE or postgresql://USER@HOST/NAME, with questions "
            "and examples in that SQL.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build the synthetic hospital, questions over it, and notes and examples for an agent.

    The same options give the same bytes. The data are invented and show nothing about medicine.
    """
    from rich.text import Text

    from sentinel_sql.address import shown_address
    from sentinel_sql.hospital.copies.copy import dialect_of_address
    from sentinel_sql.hospital.copies.files import CopiedHospital
    from sentinel_sql.hospital.folder import HospitalFolder
    from sentinel_sql.hospital.schema import CLOCK

    if into is not None:
        dialect_of_address(into)
    made = HospitalFolder.write(folder, patients=patients, seed=seed, size=size)
    document: dict[str, Any] = {
        "database": str(made.database),
        "questions": str(made.questions),
        "notes": str(made.notes),
        "examples": str(made.examples),
        "patients": patients,
        "seed": seed,
        "size": size,
    }
    clock = ""
    if into is not None:
        copied = CopiedHospital.write(made, into)
        document |= {
            "database": shown_address(into),
            "questions": str(copied.questions),
            "examples": str(copied.examples),
            "dialect": copied.dialect,
            "sqlite": str(made.database),
        }
        clock = f"    --clock '{CLOCK}' \\\n"
    following = (
        f"Next, run an agent over it:\n"
        f"  sentinel collect --questions {document['questions']} \\\n"
        f"    --database {document['database']} \\\n{clock}"
        f"    --notes {made.notes} --examples {document['examples']} \\\n"
        f"    --base-url URL --model NAME --store runs/mine\n"
        f"and label the runs with `sentinel label`, or see the whole system with\n"
        f"  sentinel demo --runs runs/mine"
    )
    emit(
        document,
        as_json=as_json,
        tables=lambda: [
            facts("Hospital", document),
            Text(following),
            *(Text(line, no_wrap=True, overflow="ignore") for line in call_hint()),
        ],
    )
