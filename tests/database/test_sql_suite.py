"""Hundreds of hostile and honest queries, as data: nothing changes, nothing runs away."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_sql.database.executor import Limits
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.database.worker.process import WorkerProcess

FOLDER = Path(__file__).resolve().parents[1] / "sql"
CLOCK = "2100-12-31 23:59:00"
HOSTILE_LIMITS = Limits(seconds=0.5, memory=200_000_000)
ENDS = {
    "refused": {"refused"},
    "error": {"error"},
    "bounded": {"error", "rows", "empty"},
    "rows": {"rows", "empty"},
}


def queries(name: str) -> list[tuple[str, str]]:
    """Return (query, how it ends) of one file."""
    content = tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
    found = [
        (query, group.get("ends", "rows"))
        for group in content["group"]
        for query in group["queries"]
    ]
    for shape in content["shape"]:
        for count in shape["counts"]:
            parts = [shape["each"].format(n=n, before=n - 1) for n in range(1, count + 1)]
            end = shape["end"].format(last=count)
            query = shape["start"] + shape["between"].join(parts) + end
            found.append((query, shape.get("ends", "rows")))
    return found


HOSTILE = queries("sqlite_hostile.toml")
HONEST = queries("sqlite_honest.toml")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clinic") / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, gender TEXT, born TEXT,
                died TEXT);
            CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT,
                patient INT REFERENCES patients, day TEXT, note TEXT);
            CREATE INDEX visits_patient ON visits (patient);
            CREATE TABLE readings (id INTEGER PRIMARY KEY, kind TEXT, value REAL);
            CREATE TABLE wards (ward TEXT);
            CREATE TABLE long_texts (body TEXT);
            CREATE TABLE "order details" ("unit price" REAL, "a,b" TEXT);
            CREATE VIEW adults AS SELECT * FROM patients WHERE born < date('now', '-18 years');
            CREATE VIRTUAL TABLE notes USING fts5(body);
            INSERT INTO notes VALUES ('acute kidney injury'), ('sepsis');
            INSERT INTO wards VALUES ('a'), ('b');
            INSERT INTO "order details" VALUES (1.5, 'x'), (2.5, 'y');
            """
        )
        connection.executemany(
            "INSERT INTO patients VALUES (?, ?, ?, ?, NULL)",
            [(n, f"p{n}", "fm"[n % 2], f"20{n:02}-01-01") for n in range(1, 40)],
        )
        connection.executemany(
            "INSERT INTO visits (patient, day, note) VALUES (?, ?, 'n')",
            [(n % 39 + 1, f"2100-01-{n % 28 + 1:02}") for n in range(200)],
        )
        connection.executemany(
            "INSERT INTO readings VALUES (?, ?, ?)",
            [(n, f"k{n % 7}", n * 0.37) for n in range(21_000)],
        )
        connection.execute("INSERT INTO long_texts VALUES (?)", ("x" * 2_000_000 + "end",))
        for table in range(10):
            columns = ", ".join(f"c{table}_{n} INT" for n in range(15))
            connection.execute(f"CREATE TABLE t{table} (id INT, {columns})")
            marks = ", ".join(["?"] * 16)
            connection.execute(f"INSERT INTO t{table} VALUES ({marks})", range(16))
    return path


@pytest.fixture(scope="module")
def tight(clinic: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(clinic, clock=CLOCK, limits=HOSTILE_LIMITS) as database:
        yield database


@pytest.fixture(scope="module")
def usual(clinic: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(clinic, clock=CLOCK) as database:
        yield database


@pytest.fixture(scope="module")
def digest(clinic: Path) -> str:
    return hashlib.sha256(clinic.read_bytes()).hexdigest()


def test_there_are_at_least_150_of_each_and_none_stands_twice() -> None:
    for suite in (HOSTILE, HONEST):
        assert len({query for query, _ in suite}) == len(suite) >= 150


def peak_bytes(database: SqliteDatabase) -> int:
    """Return the largest memory that the idle worker has had, 0 where it was replaced."""
    for worker in database._idle:
        if isinstance(worker, WorkerProcess) and sys.platform == "linux":
            try:
                status = Path(f"/proc/{worker._process.pid}/status").read_text()
            except OSError:
                return 0
            lines = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
            return int(lines[0]) * 1024 if lines else 0
    return 0


@pytest.mark.parametrize(("sql", "ends"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_query_changes_nothing_and_stays_within_its_bounds(
    sql: str, ends: str, tight: SqliteDatabase, clinic: Path, digest: str
) -> None:
    tight.execute("SELECT 1")  # a worker that the query before ended has started again
    result = tight.execute(sql)
    assert result.kind in ENDS[ends], (result.error, sql[:100])
    # What else runs on the machine can only make it longer, so the quickest of three tries counts.
    seconds = result.seconds
    for _ in range(2):
        if seconds > 1.5 * HOSTILE_LIMITS.seconds:
            seconds = min(seconds, tight.execute(sql).seconds)
    assert seconds <= 1.5 * HOSTILE_LIMITS.seconds
    assert peak_bytes(tight) <= HOSTILE_LIMITS.memory + 50_000_000  # its files in memory as well
    assert hashlib.sha256(clinic.read_bytes()).hexdigest() == digest
    assert [entry.name for entry in clinic.parent.iterdir()] == [clinic.name]


@pytest.mark.parametrize(("sql", "ends"), HONEST, ids=range(len(HONEST)))
def test_an_honest_query_is_answered_as_by_the_bare_driver(
    sql: str, ends: str, usual: SqliteDatabase, clinic: Path
) -> None:
    result = usual.execute(sql)
    assert result.kind in ENDS[ends], (result.error, sql[:100])
    if any(word in sql.lower() for word in ("now", "current_", "adults")):
        return  # the bare driver has another clock
    with closing(sqlite3.connect(f"{clinic.as_uri()}?mode=ro", uri=True)) as bare:
        rows = bare.execute(sql).fetchmany(usual.limits.rows)
    longest = usual.limits.cell
    assert len(result.rows) == len(rows)
    assert result.rows == tuple(
        tuple(cell[:longest] if isinstance(cell, str) else cell for cell in row) for row in rows
    )
