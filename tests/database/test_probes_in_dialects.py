"""Probes and ties ask each database in its own SQL, and find the same in all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from postgres_cluster import PostgresCluster
from sentinel_sql.database.cells import cell_of
from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.database.opening import open_database
from sentinel_sql.database.probes.probe import PROBE_LIMITS, Prober
from sentinel_sql.labels.answer_form import select_form
from sentinel_sql.labels.ties import inner_cuts, ranks
from sentinel_sql.schema import Schema

SCRIPT = """
CREATE TABLE wards (id INTEGER PRIMARY KEY, label VARCHAR(30));
CREATE TABLE "Patient Visits" ("Visit No" INTEGER, ward INTEGER, drug VARCHAR(30));
INSERT INTO wards VALUES (1, 'cardiology'), (2, 'neurology'), (3, NULL);
INSERT INTO "Patient Visits" VALUES (1, 1, 'heparin sodium'), (2, 1, 'heparin sodium'),
  (3, 2, 'aspirin'), (4, 2, NULL);
"""
VISITS = '"Patient Visits"'
QUERIES = (
    f"SELECT w.label, v.drug FROM wards AS w JOIN {VISITS} AS v ON v.ward = w.id",
    f"SELECT COUNT(*) FROM {VISITS} AS v JOIN wards AS w ON w.id = v.ward "
    "WHERE w.label = 'cardiolgy'",
    f"SELECT \"Visit No\" FROM {VISITS} WHERE drug IN ('aspirine', 'aspirin')",
    "SELECT label FROM wards WHERE label LIKE '%neurolgy%'",
    "SELECT id, label FROM wards WHERE LOWER(label) = 'cardiology' ORDER BY id",
    f"WITH v AS (SELECT ward FROM {VISITS}) SELECT w.label FROM wards w JOIN v ON v.ward = w.id;",
    "SELECT id FROM wards WHERE id > 7",
)


@dataclass(frozen=True, kw_only=True)
class DuckDriver:
    """A DuckDB through its driver alone, with what probes need of a database."""

    connection: Any
    schema: Schema
    name: str = "clinic"
    clock: str = "2100-12-31 23:59:00"
    dialect: str = "duckdb"

    def execute(self, sql: str) -> ExecutionResult:
        try:
            found = self.connection.execute(sql)
            rows = tuple(tuple(map(cell_of, row)) for row in found.fetchall())
        except Exception as error:
            return ExecutionResult(kind="error", error=str(error))
        columns = tuple(column[0] for column in found.description)
        return ExecutionResult(kind="rows" if rows else "empty", columns=columns, rows=rows)


@pytest.fixture(scope="module")
def databases(
    postgres_cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    duckdb = pytest.importorskip("duckdb")
    import psycopg

    file: Path = tmp_path_factory.mktemp("dialects") / "clinic.sqlite"
    with closing(sqlite3.connect(file)) as made:
        made.executescript(SCRIPT)
    address = postgres_cluster.create("clinic_in_dialects")
    with psycopg.connect(address) as connection:
        connection.execute(SCRIPT)  # type: ignore[call-overload]
    duck = duckdb.connect(":memory:")
    duck.execute(SCRIPT)
    with ExitStack() as stack:
        sqlite = stack.enter_context(open_database(file, limits=PROBE_LIMITS))
        postgres = stack.enter_context(open_database(address, limits=PROBE_LIMITS))
        yield {
            "sqlite": sqlite,
            "postgres": postgres,
            "duckdb": DuckDriver(connection=duck, schema=postgres.schema),
        }
        duck.close()


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_probes_find_the_same_as_over_sqlite(
    databases: dict[str, Any], sql: str, dialect: str
) -> None:
    expected = Prober(databases["sqlite"], seconds=30.0).probe(sql)
    found = Prober(databases[dialect], seconds=30.0).probe(sql)
    assert found == expected
    assert expected.chain
    assert expected.lookups is not None


def test_a_near_miss_names_the_stored_value_in_every_dialect(databases: dict[str, Any]) -> None:
    for database in databases.values():
        (miss,) = Prober(database, seconds=30.0).probe(QUERIES[1]).near_misses
        assert (miss.literal, miss.value) == ("cardiolgy", "cardiology")


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "SELECT ward::text FROM \"Patient Visits\" WHERE drug ILIKE '%ASPIRINE%'"),
        ("duckdb", "FROM wards SELECT label WHERE label ILIKE 'CARDIOLGY'"),
        ("postgres", "SELECT 1 FROM wards WHERE label = 'it''s' -- no end"),
    ],
)
def test_sql_that_only_one_dialect_has_is_probed_in_it(
    databases: dict[str, Any], dialect: str, sql: str
) -> None:
    found = Prober(databases[dialect], seconds=30.0).probe(sql)
    assert found.lookups == 1
    assert len(found.near_misses) == 1


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
def test_ties_are_found_in_the_sql_of_the_database(databases: dict[str, Any], dialect: str) -> None:
    database = databases[dialect]
    cast = "drug" if dialect == "sqlite" else "drug::text"
    sql = (
        f'SELECT {cast} FROM "Patient Visits" WHERE drug IS NOT NULL '
        "ORDER BY ward DESC, drug LIMIT 2"
    )
    gold = database.execute(sql)
    assert gold.kind == "rows"
    known = ranks(sql, gold, database.execute, dialect=dialect)
    assert known is not None
    assert [len(tier) for tier in known.tiers] == [1, 2]
    assert select_form(sql, dialect).ordered
    inner = f"SELECT COUNT(*) FROM ({sql}) AS part"
    (cut,) = inner_cuts(inner, dialect=dialect)
    assert database.execute(cut).rows == gold.rows
