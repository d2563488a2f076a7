"""The generator of the synthetic hospital in SQLite. Equal seeds give equal bytes."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital import catalog, events, measurements, schema
from sentinel_sql.hospital.draws import (
    FIRST_ITEM,
    Draws,
    insert,
)
from sentinel_sql.hospital.patients import admit, stay_in_icu, transfer

_MOST_PATIENTS = 1_000_000
"""Ours: more patients would need identifiers of more than eight digits."""


def build_hospital(path: Path | str, *, patients: int = 100, seed: int = 42) -> Path:
    """Write the hospital to a SQLite file, replacing an older one.

    Args:
        path: The file to write.
        patients: How many patients, 1 to 1,000,000.
        seed: Seed of all draws. With one version of SQLite, equal seeds and sizes give equal bytes.

    Returns:
        The path of the file.

    Raises:
        InputError: `patients` is out of its range.
        DatabaseError: The file can't be written.
    """
    if not 1 <= patients <= _MOST_PATIENTS:
        raise InputError(f"a hospital has 1 to {_MOST_PATIENTS:,} patients, not {patients:,}")
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        connection = sqlite3.connect(part, isolation_level=None)
        try:
            for pragma in ("page_size = 4096", "journal_mode = OFF", "synchronous = OFF"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN")
            for statement in schema.ddl():
                connection.execute(statement)
            _fill(connection, Draws(seed), patients)
            connection.execute("COMMIT")
            connection.execute("VACUUM")
        finally:
            connection.close()
        part.replace(path)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise DatabaseError(
            f"can't write the hospital to {path}: {error}; check the folder"
        ) from None
    return path


def _fill(connection: sqlite3.Connection, draws: Draws, patients: int) -> None:
    _dictionaries(connection)
    admissions = admit(connection, draws, patients)
    stays = stay_in_icu(connection, draws, admissions)
    transfer(connection, admissions, stays, draws)
    diagnoses = events.diagnose(connection, draws, admissions)
    costs = [
        diagnoses.cost,
        events.operate(connection, draws, admissions),
        measurements.examine(connection, draws, admissions),
        events.prescribe(connection, draws, admissions, diagnoses.present),
    ]
    events.charge(connection, admissions, costs)
    measurements.chart(connection, draws, admissions, stays)
    for table, flows in (("inputevents", catalog.INPUTS), ("outputevents", catalog.OUTPUTS)):
        measurements.flow(connection, draws, admissions, stays, table, flows)
    events.culture(connection, draws, admissions)


def _dictionaries(connection: sqlite3.Connection) -> None:
    for table, codes in (
        ("d_icd_diagnoses", catalog.DIAGNOSES),
        ("d_icd_procedures", catalog.PROCEDURES),
    ):
        insert(connection, table, [c.code for c in codes], [c.title for c in codes])
    labs = [lab.label for lab in catalog.LABS] + list(catalog.UNUSED_LABS)
    insert(connection, "d_labitems", [FIRST_ITEM["lab"] + i for i in range(len(labs))], labs)
    items = [
        (FIRST_ITEM[kind] + i, label, f"{kind}events")
        for kind, labels in (
            ("chart", [v.label for v in catalog.VITALS]),
            ("input", [f.label for f in catalog.INPUTS]),
            ("output", [f.label for f in catalog.OUTPUTS]),
        )
        for i, label in enumerate(labels)
    ]
    insert(
        connection,
        "d_items",
        [item for item, _, _ in items],
        [label for _, label, _ in items],
        [_abbreviation(label) for _, label, _ in items],
        [table for _, _, table in items],
    )


def _abbreviation(label: str) -> str:
    words = label.replace("(", "").replace(")", "").replace(",", "").split()
    return words[0] if len(words) == 1 else " ".join(word[:4] for word in words)
