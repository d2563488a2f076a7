"""PostgreSQL's current time is the database's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postgres_cluster import PostgresCluster
from sentinel_sql.database.statements.clock import POSTGRES_CLOCK, with_clock
from sentinel_sql.database.statements.statement import RefusedError, read_statement
from sql_suites import queries

CLOCK = "2100-12-31 23:59:00"
STAMP = "2100-12-31 23:59:00+00:00"
YEARS = "EXTRACT(year FROM {})::int"

ASKING = {
    "now()": STAMP,
    "NOW ( )": STAMP,
    "pg_catalog.now()": STAMP,
    '"now"()': STAMP,
    "now(/* comment */)": STAMP,
    "transaction_timestamp()": STAMP,
    "statement_timestamp()": STAMP,
    "clock_timestamp()": STAMP,
    "current_timestamp": STAMP,
    "CURRENT_TIMESTAMP(0)": STAMP,
    "localtimestamp": "2100-12-31 23:59:00",
    "LOCALTIMESTAMP (3)": "2100-12-31 23:59:00",
    "current_date": "2100-12-31",
    "(CURRENT_DATE)": "2100-12-31",
    "current_time": "23:59:00+00",
    "current_time(2)": "23:59:00+00",
    "localtime": "23:59:00",
    "timeofday()": "Fri Dec 31 23:59:00.000000 2100 UTC",
    "'now'::timestamptz": STAMP,
    "'now'::date": "2100-12-31",
    "'NOW'::timestamp": "2100-12-31 23:59:00",
    "' today '::date": "2100-12-31",
    "'today'::timestamp": "2100-12-31 00:00:00",
    "'tomorrow'::date": "2101-01-01",
    "'yesterday'::date": "2100-12-30",
    "'today 08:30'::timestamp": "2100-12-31 08:30:00",
    "DATE 'today'": "2100-12-31",
    "TIMESTAMP 'now'": "2100-12-31 23:59:00",
    "TIMESTAMP WITH TIME ZONE 'now'": STAMP,
    "TIMESTAMPTZ 'tomorrow'": "2101-01-01 00:00:00+00:00",
    "TIME 'now'": "23:59:00",
    "CAST('now' AS date)": "2100-12-31",
    "CAST('now' AS timestamp without time zone)": "2100-12-31 23:59:00",
    "$$today$$::date": "2100-12-31",
    "current_date - 1": "2100-12-30",
    "date_trunc('month', now())::date": "2100-12-01",
    "now() - INTERVAL '1 day'": "2100-12-30 23:59:00+00:00",
    "now() AT TIME ZONE 'Europe/Berlin'": "2101-01-01 00:59:00",
    "EXTRACT(year FROM now())::int": 2100,
    "age(DATE '2090-12-31')": "10 years",
    "age(TIMESTAMP '2100-12-30 12:00')": "12:00:00",
    "age(TIMESTAMPTZ '2100-12-30 12:00+00')": "12:00:00",
    "age(DATE '2100-01-02', DATE '2100-01-01')": "1 day",
    "age(make_date(2090, 12, 31))": "10 years",
}
NOT_ASKING = {
    "'now'::text": "now",
    "'it is now'": "it is now",
    "'nowhere'": "nowhere",
    "'today''s'": "today's",
    "'a' || 'now'": "anow",
    "'now' LIKE 'now%'": 1,
    '(SELECT "now" FROM (SELECT 1 AS "now") t)': 1,
    "(SELECT t.now FROM (SELECT 2 AS now) t)": 2,
    "DATE '2000-01-01'": "2000-01-01",
    "'tomorrow never dies'": "tomorrow never dies",
}
REFUSED = [
    "SELECT count(*) FROM patients WHERE born < 'today'",
    "SELECT count(*) FROM patients WHERE born IN ('yesterday')",
    "SELECT coalesce(died, 'now') FROM patients",
    "SELECT count(*) FROM patients WHERE died BETWEEN 'now' AND 'tomorrow'",
    "SELECT date('today')",
    "SELECT count(*) FROM patients WHERE born < 'to'\n'day'",
]


def timed(sql: str) -> str:
    return with_clock(read_statement(sql, "postgres"), CLOCK, POSTGRES_CLOCK)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_cant_be_covered_is_refused_with_its_name(sql: str) -> None:
    with pytest.raises(RefusedError, match=r"'(now|today|tomorrow|yesterday)' as a time"):
        timed(sql)


@pytest.mark.parametrize("expression", NOT_ASKING)
def test_what_doesnt_ask_for_the_time_stays_letter_for_letter(expression: str) -> None:
    assert timed(f"SELECT {expression}") == f"SELECT {expression}"


def test_most_honest_queries_stay_letter_for_letter() -> None:
    changed = []
    for sql, _ in queries("postgres_honest.toml"):
        statement = read_statement(sql, "postgres")
        if with_clock(statement, CLOCK, POSTGRES_CLOCK) != statement.sql:
            changed.append(sql)
    assert all("now()" in sql or "current_date" in sql.lower() for sql in changed)
    assert len(changed) == 3


@pytest.fixture(scope="module")
def database(postgres_cluster: PostgresCluster, postgres_clinic: str) -> Iterator[object]:
    from sentinel_sql.database.opening import open_database

    address = postgres_cluster.address(postgres_clinic, "reader")
    with open_database(address, clock=CLOCK) as opened:
        yield opened


@pytest.mark.parametrize(("expression", "value"), [*ASKING.items(), *NOT_ASKING.items()])
def test_the_time_is_the_databases_own(expression: str, value: object, database: object) -> None:
    result = database.execute(f"SELECT {expression}")  # type: ignore[attr-defined]
    assert result.rows == ((value,),), result.error


def test_a_view_that_asks_for_the_time_is_refused_and_others_are_not(
    postgres_cluster: PostgresCluster,
) -> None:
    import psycopg

    from sentinel_sql.database.opening import open_database

    asking = {
        "a": "SELECT now() AS t",
        "b": "SELECT CURRENT_DATE - 1 AS t",
        "c": "SELECT LOCALTIMESTAMP AS t",
        "d": "SELECT age(DATE '2000-01-01') AS t",
        "e": "SELECT t FROM a",
        "f": "SELECT e.t FROM e JOIN plain ON true",
        "g": "SELECT date_trunc('day', clock_timestamp()) AS t",
        "h": "SELECT timeofday() AS t",
    }
    plain = {
        "plain": "SELECT 1 AS t",
        "two": "SELECT age(DATE '2000-01-01', DATE '1999-01-01') AS t",
        "words": "SELECT 'now is the time' AS t",
    }
    with psycopg.connect(postgres_cluster.create("views")) as made:
        made.execute("CREATE SCHEMA other; CREATE VIEW other.a AS SELECT now() AS t")
        for views in (plain, asking):
            for name, sql in views.items():
                made.execute(f"CREATE VIEW {name} AS {sql}".encode())
    with open_database(postgres_cluster.address("views"), clock=CLOCK) as opened:
        for name in (*asking, "public.a", '"a"', "other.a"):
            result = opened.execute(f"SELECT * FROM {name}")
            assert (result.kind, "machine's time" in str(result.error)) == ("refused", True), name
        for name in plain:
            assert opened.execute(f"SELECT * FROM {name}").kind == "rows"
