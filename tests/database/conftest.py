"""A small hospital in a file, and the executor over it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_sql.database.sqlite.database import SqliteDatabase

CLOCK = "2100-12-31 23:59:00"


@pytest.fixture
def ward_file(tmp_path: Path) -> Path:
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE Patients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dod TIMESTAMP(0));
            CREATE TABLE stays (
                patient INT REFERENCES Patients,
                drug VARCHAR(20),
                start TEXT,
                FOREIGN KEY (drug) REFERENCES drugs (name)
            );
            CREATE TABLE drugs (name TEXT PRIMARY KEY);
            INSERT INTO Patients VALUES (1, 'ann', NULL), (2, 'bob', '2099-06-01 10:00:00');
            INSERT INTO stays VALUES (1, 'now', '2100-12-30 08:00:00'), (2, 'csf;fluid', 'now');
            CREATE VIEW present AS
                SELECT id, date(coalesce(dod, 'now')) AS seen, datetime('now') AS at FROM Patients;
            CREATE VIEW nested AS SELECT at FROM present;
            """
        )
    return path


@pytest.fixture
def ward(ward_file: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(ward_file, clock=CLOCK) as database:
        yield database
