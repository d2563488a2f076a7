"""Gold SQL is written once for SQLite and gives the same answers in DuckDB and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from postgres_cluster import PostgresCluster
from sentinel_sql.database.cells import cell_of
from sentinel_sql.database.equivalence import MODES
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import InputError
from sentinel_sql.hospital.copies.copy import copy_hospital
from sentinel_sql.hospital.copies.gold_sql import DIALECTS, in_dialect
from sentinel_sql.labels.answer_form import select_form
from sentinel_sql.questions.record import Question

Run = Callable[[str], Sequence[Sequence[Any]]]


@pytest.fixture(scope="session")
def duckdb_copy(hospital_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")
    file = tmp_path_factory.mktemp("copies") / "hospital.duckdb"
    copy_hospital(hospital_path, f"duckdb:///{file}")
    return file


@pytest.fixture(scope="session")
def postgres_copy(hospital_path: Path, postgres_cluster: PostgresCluster) -> str:
    address = postgres_cluster.create("hospital_copy")
    copy_hospital(hospital_path, address)
    return address


@pytest.fixture
def duckdb_run(duckdb_copy: Path) -> Iterator[Run]:
    import duckdb

    with duckdb.connect(str(duckdb_copy), read_only=True) as connection:
        yield lambda sql: connection.execute(sql).fetchall()


@pytest.fixture
def postgres_run(postgres_copy: str) -> Iterator[Run]:
    import psycopg

    with psycopg.connect(postgres_copy, autocommit=True) as connection:
        yield lambda sql: connection.execute(sql).fetchall()  # type: ignore[call-overload]


def gold_of(benchmark: list[Question]) -> list[str]:
    return sorted({question.gold_sql for question in benchmark if question.gold_sql})


def sample_of(benchmark: list[Question]) -> list[str]:
    """One question of every template."""
    by_template = {q.template: q.gold_sql for q in benchmark if q.gold_sql}
    return sorted(by_template.values())  # type: ignore[type-var,arg-type]


def different(golds: list[str], dialect: str, run: Run, hospital_path: Path) -> list[str]:
    """Return the queries with another answer than SQLite's, in the mode of our own questions."""
    mode = MODES["sentinel-1"]
    found = []
    with SqliteDatabase.open(hospital_path, in_process=True) as database:
        for gold in golds:
            expected = database.execute(gold)
            assert expected.kind in ("rows", "empty")
            rows = [tuple(map(cell_of, row)) for row in run(in_dialect(gold, dialect))]
            ordered = select_form(gold).ordered
            if not mode.equivalent(rows, expected.rows, ordered=ordered):
                found.append(gold)
    return found


def test_a_gold_query_of_each_template_has_the_same_answer_in_duckdb(
    benchmark: list[Question], duckdb_run: Run, hospital_path: Path
) -> None:
    golds = sample_of(benchmark)
    assert len(golds) > 200
    assert different(golds, "duckdb", duckdb_run, hospital_path) == []


def test_a_gold_query_of_each_template_has_the_same_answer_in_postgresql(
    benchmark: list[Question], postgres_run: Run, hospital_path: Path
) -> None:
    assert different(sample_of(benchmark), "postgres", postgres_run, hospital_path) == []


@pytest.mark.slow
def test_all_gold_queries_have_the_same_answers_in_duckdb(
    benchmark: list[Question], duckdb_run: Run, hospital_path: Path
) -> None:
    assert different(gold_of(benchmark), "duckdb", duckdb_run, hospital_path) == []


@pytest.mark.slow
def test_all_gold_queries_have_the_same_answers_in_postgresql(
    benchmark: list[Question], postgres_run: Run, hospital_path: Path
) -> None:
    assert different(gold_of(benchmark), "postgres", postgres_run, hospital_path) == []


def test_the_comparison_notices_one_wrong_answer(
    benchmark: list[Question], hospital_path: Path
) -> None:
    golds = sample_of(benchmark)[:3]
    assert different(golds, "duckdb", lambda _: [("no such answer",)], hospital_path) == golds


def test_sqlite_gold_stays_as_it_is(benchmark: list[Question]) -> None:
    assert all(in_dialect(gold, "sqlite") == gold for gold in gold_of(benchmark))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unreadable_sql_and_unknown_dialects_are_refused_in_one_line(dialect: str) -> None:
    with pytest.raises(InputError, match="can't be translated"):
        in_dialect("SELECT FROM WHERE (", dialect)
    with pytest.raises(InputError, match="choose one of duckdb, postgres"):
        in_dialect("SELECT 1", "oracle")


def test_a_database_with_tables_of_its_own_is_never_overwritten(
    hospital_path: Path, tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb")
    for name, script in {
        "other": "CREATE TABLE patients (name VARCHAR); INSERT INTO patients VALUES ('mine')",
        "beside": "CREATE TABLE invoices (name VARCHAR); INSERT INTO invoices VALUES ('mine')",
        "view": "CREATE VIEW patients AS SELECT 'mine' AS name",
    }.items():
        file = tmp_path / f"{name}.duckdb"
        with closing(duckdb.connect(str(file))) as connection:
            connection.execute(script)
        with pytest.raises(InputError, match="isn't of an earlier hospital"):
            copy_hospital(hospital_path, f"duckdb:///{file}")
        with closing(duckdb.connect(str(file))) as connection:
            table = "invoices" if name == "beside" else "patients"
            assert connection.execute(f"SELECT name FROM {table}").fetchall() == [("mine",)]


def test_an_earlier_copy_is_replaced_and_a_table_added_to_it_is_not(
    hospital_path: Path, tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "again.duckdb"
    for _ in range(2):
        copy_hospital(hospital_path, f"duckdb:///{file}")
    assert file.stat().st_mode & 0o077 == 0
    with closing(duckdb.connect(str(file))) as connection:
        assert connection.execute("SELECT COUNT(*) FROM patients").fetchall() == [(100,)]
        connection.execute("CREATE TABLE mine (x INT)")
    with pytest.raises(InputError, match="the table mine"):
        copy_hospital(hospital_path, f"duckdb:///{file}")


def test_postgresql_refuses_a_database_in_use_and_keeps_every_declared_key(
    hospital_path: Path, postgres_copy: str, postgres_cluster: PostgresCluster
) -> None:
    from sentinel_sql.database.opening import open_database

    with (
        open_database(postgres_copy) as copied,
        SqliteDatabase.open(hospital_path, in_process=True) as original,
    ):
        theirs, ours = copied.schema, original.schema
    assert set(theirs.tables) == set(ours.tables)
    assert all(list(theirs.tables[name]) == list(ours.tables[name]) for name in ours.tables)
    assert set(theirs.foreign_keys) == set(ours.foreign_keys)
    assert theirs.primary_keys == ours.primary_keys
    assert theirs.column_comments["patients"]["dod"] == "date of death"
    import psycopg

    own = postgres_cluster.create("somebodys_own")
    with psycopg.connect(own) as connection:
        connection.execute("CREATE TABLE patients (name text)")
    with pytest.raises(InputError, match="isn't of an earlier hospital"):
        copy_hospital(hospital_path, own)


@pytest.mark.parametrize("address", ["mysql://u:secret@h/x", "hospital.sqlite", "duckdb://"])
def test_a_target_that_is_none_is_refused_without_its_password(
    hospital_path: Path, address: str
) -> None:
    with pytest.raises(InputError) as caught:
        copy_hospital(hospital_path, address)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
