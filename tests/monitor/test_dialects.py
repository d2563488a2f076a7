"""References, literals and facts of queries in PostgreSQL's and DuckDB's SQL."""

from __future__ import annotations

import pytest

from sentinel_sql.monitor.families.query_facts import query_facts
from sentinel_sql.monitor.features.grounding import analyse_sql
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.features.query_parser import parse_query
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.schema import ForeignKey, Schema
from sentinel_sql.trajectory.record import AskedQuestion

SCHEMA = Schema(
    tables={
        "patients": {"subject_id": "integer", "name": "text", "dob": "timestamp"},
        "admissions": {"hadm_id": "integer", "subject_id": "integer", "admittime": "timestamp"},
        "stay.ward": {"id": "integer", "label": "text"},
        "patient visits": {"visit no": "integer", "plain": "integer"},
    },
    foreign_keys=(
        ForeignKey(
            table="admissions", column="subject_id", to_table="patients", to_column="subject_id"
        ),
    ),
    table_sql={"patient visits": '"Patient Visits"', "stay.ward": "stay.ward"},
    column_sql={"patient visits": {"visit no": '"Visit No"'}},
)
KEYS = keys_of(SCHEMA)
BOTH = ("postgres", "duckdb")


def around(dialect: str | None) -> Surroundings:
    return Surroundings(keys=KEYS, clock="2100-12-31 23:59:00", dialect=dialect)


def failed(sql: str, dialect: str | None) -> int:
    assert parse_query(sql, dialect) is not None
    return analyse_sql(sql, around(dialect)).references.failed


@pytest.mark.parametrize("dialect", BOTH)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT p.name::text FROM patients AS p WHERE p.dob > now() - INTERVAL '3 months'",
        "SELECT EXTRACT(YEAR FROM dob), date_trunc('month', dob), date_part('year', dob) "
        "FROM patients",
        "SELECT count(p) FROM patients p",
        "SELECT w.label FROM stay.ward w",
        "SELECT ward.label FROM stay.ward",
        'SELECT "name" FROM "patients"',
        'SELECT "Visit No", plain FROM "Patient Visits"',
        "SELECT q.n FROM (SELECT count(*) FROM patients) AS q(n)",
        "SELECT x FROM generate_series(1, 3) AS g(x)",
        "SELECT table_name FROM information_schema.tables",
        "SELECT name FROM patients WHERE name ILIKE 'a%' ORDER BY 1 LIMIT 3",
        "SELECT DISTINCT ON (subject_id) subject_id, admittime FROM admissions ORDER BY 1, 2 DESC",
        "SELECT a.hadm_id, l.name FROM admissions a JOIN LATERAL "
        "(SELECT name FROM patients p WHERE p.subject_id = a.subject_id) l ON TRUE",
        "SELECT count(*) FILTER (WHERE name IS NULL) FROM patients",
        "WITH t(a) AS (SELECT name FROM patients) SELECT a FROM t",
    ],
)
def test_valid_queries_of_a_dialect_have_no_failed_reference(sql: str, dialect: str) -> None:
    assert failed(sql, dialect) == 0


@pytest.mark.parametrize("dialect", BOTH)
@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ('SELECT "phone" FROM patients', 1),
        ("SELECT p.phone::text FROM patients p", 1),
        ("SELECT EXTRACT(YEAR FROM born) FROM patients", 1),
        ("SELECT name FROM persons WHERE born > now() - INTERVAL '1 year'", 1),
        ("SELECT ward.phone FROM stay.ward", 1),
        ("SELECT label FROM ward", 1),
        ("SELECT name FROM stay.persons", 1),
    ],
)
def test_names_that_the_schema_lacks_are_counted(sql: str, count: int, dialect: str) -> None:
    assert failed(sql, dialect) == count


@pytest.mark.parametrize(
    ("sql", "dialect", "count"),
    [
        ('SELECT "Name" FROM patients', "postgres", 1),
        ('SELECT "Name" FROM patients', "duckdb", 0),
        ("SELECT plain FROM PATIENTS, admissions", "postgres", 1),
        ('SELECT "visit no" FROM "Patient Visits"', "postgres", 1),
        ('SELECT "visit no" FROM "patient visits"', "duckdb", 0),
        ('SELECT plain FROM "patient visits"', "postgres", 1),
        ("SELECT NAME FROM Patients", "postgres", 0),
        ("SELECT ctid FROM patients", "postgres", 0),
        ("SELECT rowid FROM patients", "duckdb", 0),
        ("FROM patients SELECT name", "duckdb", 0),
        ("FROM patients WHERE phone IS NULL", "duckdb", 1),
        ('SELECT "phone" FROM patients', None, 0),
        ('SELECT "phone" FROM patients', "no dialect of any database", 0),
    ],
)
def test_case_quotes_and_row_ids_follow_the_dialect(
    sql: str, dialect: str | None, count: int
) -> None:
    assert failed(sql, dialect) == count


@pytest.mark.parametrize("dialect", BOTH)
def test_joins_are_judged_by_the_same_keys_in_every_dialect(dialect: str) -> None:
    good = "SELECT 1 FROM patients p JOIN admissions a ON a.subject_id = p.subject_id"
    bad = "SELECT p.dob::date FROM patients p JOIN admissions a ON a.hadm_id = p.subject_id"
    assert analyse_sql(good, around(dialect)).references.bad_joins == 0
    assert analyse_sql(bad, around(dialect)).references.bad_joins == 1


@pytest.mark.parametrize("dialect", BOTH)
@pytest.mark.parametrize(
    "condition",
    [
        "dob > now() - INTERVAL '3 months'",
        "date_trunc('month', dob) = date_trunc('month', now())",
        "EXTRACT(YEAR FROM dob) = date_part('year', now())",
        "dob >= DATE '2100-12-31'",
        "dob AT TIME ZONE 'UTC' < localtimestamp",
    ],
)
def test_units_and_spans_of_time_need_no_grounding(condition: str, dialect: str) -> None:
    sql = f"SELECT name FROM patients WHERE {condition}"
    assert analyse_sql(sql, around(dialect)).literals == ()


@pytest.mark.parametrize("dialect", BOTH)
def test_facts_of_a_query_are_read_in_its_dialect(dialect: str) -> None:
    sql = (
        "SELECT date_trunc('month', dob), EXTRACT(YEAR FROM dob), dob::date FROM patients "
        "WHERE dob > localtimestamp AND name ILIKE 'a%'"
    )
    facts = query_facts(sql, around(dialect))
    assert facts is not None
    assert facts.returned == ("time", "number", "time")
    assert facts.now
    assert [item.operator for item in facts.filters] == ["like"]
    spent = query_facts("SELECT a.admittime - a.admittime FROM admissions a", around(dialect))
    assert spent is not None
    assert not spent.subtracts_times


def test_a_qualified_table_counts_under_its_own_key() -> None:
    facts = query_facts("SELECT label FROM stay.ward, public.patients", around("postgres"))
    assert facts is not None
    assert facts.tables == ("stay.ward", "patients")


def test_what_a_run_says_of_its_database_comes_before_what_the_fit_says() -> None:
    known = Surroundings(clock="2100-01-01 00:00:00", dialect="postgres")
    old = AskedQuestion(id="q", text="?")
    new = AskedQuestion(id="q", text="?", clock="2105-01-01 00:00:00", dialect="duckdb")
    assert known.of(old) == known
    assert known.of(new) == Surroundings(clock="2105-01-01 00:00:00", dialect="duckdb")
