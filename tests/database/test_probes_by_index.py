"""Probes that use the value index: nearest texts, other spellings, no person's data, a budget."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from postgres_cluster import PostgresCluster
from sentinel_sql.database.executor import Database, ExecutionResult
from sentinel_sql.database.opening import open_database
from sentinel_sql.database.probes.probe import LEAST_SECONDS, PROBE_LIMITS, MissedSpellings, Prober
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.database.value_index.opening import open_value_index

duckdb = pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")

SCRIPT = (
    "CREATE TABLE items (itemid INTEGER PRIMARY KEY, label TEXT)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, itemid INTEGER REFERENCES items (itemid), "
    "drug TEXT, ward TEXT)",
    "CREATE TABLE patients (id INTEGER PRIMARY KEY, last_name TEXT)",
    *(
        f"INSERT INTO items VALUES ({number}, '{label}')"
        for number, label in enumerate(
            ("urea nitrogen", "creatinine", "potassium, whole blood", "sodium", "Sodium", "SODIUM ")
        )
    ),
    *(
        f"INSERT INTO orders VALUES ({number}, {number % 6}, '{drug}', '{ward}')"
        for number, (drug, ward) in enumerate(
            [
                *[("heparin", "north"), ("Heparin", "north"), ("HEPARIN ", "north")] * 4,
                *[("aspirin", "south"), ("insulin glargine", "south")] * 4,
            ]
        )
    ),
    *(
        f"INSERT INTO patients VALUES ({number}, '{name}')"
        for number, name in enumerate(("Zwetschkenbaum", "Quittenfeld", "zwetschkenbaum"))
    ),
)
KINDS = ("sqlite", "duckdb", "postgres")


@pytest.fixture(scope="module")
def addresses(
    postgres_cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    import psycopg

    folder = tmp_path_factory.mktemp("ward")
    with closing(sqlite3.connect(folder / "ward.sqlite")) as connection:
        connection.executescript(";\n".join(SCRIPT) + ";")
    with closing(duckdb.connect(str(folder / "ward.duckdb"))) as connection:
        for statement in SCRIPT:
            connection.execute(statement)
    server = postgres_cluster.create(f"ward{os.getpid()}")
    with psycopg.connect(server) as connection:
        for statement in SCRIPT:
            connection.execute(statement.encode())
    return {
        "sqlite": str(folder / "ward.sqlite"),
        "duckdb": f"duckdb:///{folder / 'ward.duckdb'}",
        "postgres": server,
    }


@pytest.fixture(params=KINDS)
def prober(
    request: pytest.FixtureRequest, addresses: dict[str, str], tmp_path: Path
) -> Iterator[Prober]:
    limits = replace(PROBE_LIMITS, seconds=60.0)
    with (
        open_database(addresses[request.param], limits=limits) as database,
        open_value_index(database, file=tmp_path / "ward.values") as index,
    ):
        yield Prober(database, index=index, seconds=600.0)


@pytest.mark.parametrize(
    ("condition", "missed"),
    [
        ("drug = 'heparin'", 2),
        ("drug IN ('heparin', 'aspirin')", 2),
        ("drug LIKE 'Hep%'", 0),  # its words are others
        ("LOWER(TRIM(drug)) = 'heparin'", 0),
        ("LOWER(drug) = 'heparin'", 1),
        ("drug = 'aspirin'", 0),
    ],
)
def test_spellings_that_a_condition_leaves_out_are_counted(
    condition: str, missed: int, prober: Prober
) -> None:
    found = prober.probe(f"SELECT COUNT(*) FROM orders WHERE {condition}")
    expected = [MissedSpellings(literal="heparin", column="orders.drug", count=missed)]
    assert list(found.spellings or ()) == (expected if missed else [])


def test_spellings_are_not_known_without_an_index(addresses: dict[str, str]) -> None:
    with open_database(addresses["sqlite"], limits=PROBE_LIMITS) as database:
        found = Prober(database).probe("SELECT COUNT(*) FROM orders WHERE drug = 'heparin'")
    assert (found.lookups, found.spellings) == (1, None)


@pytest.mark.parametrize(
    ("literal", "nearest"),
    [
        ("urea", "urea nitrogen"),
        ("urea nitrogene", "urea nitrogen"),
        ("whole blood potassium", "potassium, whole blood"),
        ("creatinin", "creatinine"),
    ],
)
def test_the_nearest_stored_text_is_found_by_the_index(
    literal: str, nearest: str, prober: Prober
) -> None:
    (miss,) = prober.probe(f"SELECT itemid FROM items WHERE label = '{literal}'").near_misses
    assert miss.value == nearest
    assert miss.similarity is not None
    assert miss.similarity > 0.4


@pytest.mark.parametrize("literal", ["Zwetschkenbau", "Quittenfeldt"])
def test_no_stored_name_of_a_person_enters_a_probe(literal: str, prober: Prober) -> None:
    found = prober.probe(f"SELECT id FROM patients WHERE last_name = '{literal}'")
    (miss,) = found.near_misses
    assert miss.value is None
    assert miss.similarity is not None
    assert miss.similarity > 0.9
    text = json.dumps(asdict(found)).casefold().replace(literal.casefold(), "")
    assert "zwetschken" not in text
    assert "quitten" not in text


class Slow:
    """A database whose every query takes a while."""

    def __init__(self, inner: Database, seconds: float) -> None:
        self._inner, self._seconds = inner, seconds
        self.calls = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def execute(self, sql: str) -> ExecutionResult:
        self.calls += 1
        time.sleep(self._seconds)
        return self._inner.execute(sql)


def test_probes_of_a_live_step_start_only_while_its_query_would_run(
    addresses: dict[str, str],
) -> None:
    sql = "SELECT o.drug FROM orders o JOIN items i ON i.itemid = o.itemid WHERE ward = 'north'"
    with SqliteDatabase.open(addresses["sqlite"], limits=PROBE_LIMITS) as inner:
        calls = {}
        for own in (0.0, 0.3, None):
            slow = Slow(inner, 0.6 * LEAST_SECONDS)
            Prober(slow, seconds=600.0).probe(sql, own_seconds=own)  # type: ignore[arg-type]
            calls[own] = slow.calls
    assert 1 <= calls[0.0] <= 2
    assert calls[0.0] < calls[0.3] <= calls[None]
    assert calls[None] >= 4


def test_an_index_that_fails_fails_no_step(addresses: dict[str, str], tmp_path: Path) -> None:
    with open_database(addresses["sqlite"], limits=PROBE_LIMITS) as database:
        index = open_value_index(database, file=tmp_path / "i.values")
        prober = Prober(database, index=index)
        index.close()  # every lookup fails now
        found = prober.probe("SELECT 1 FROM orders WHERE drug = 'heparin'")
    assert found.near_misses == ()
    assert not found.spellings
