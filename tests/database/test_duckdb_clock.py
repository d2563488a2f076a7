"""DuckDB's current time is the database's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.database.statements.clock import DUCKDB_CLOCK, with_clock
from sentinel_sql.database.statements.statement import read_statement

duckdb = pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")

from sentinel_sql.database.duckdb.database import DuckdbDatabase  # noqa: E402

CLOCK = "2100-12-31 23:59:00"
STAMP = "2100-12-31 23:59:00+00:00"
PLAIN = "2100-12-31 23:59:00"

ASKING = {
    "now()": STAMP,
    "NOW ( )": STAMP,
    '"now"()': STAMP,
    "now(/* comment */)": STAMP,
    "now -- comment\n()": STAMP,
    "transaction_timestamp()": STAMP,
    "get_current_timestamp()": STAMP,
    "current_timestamp": STAMP,
    "CURRENT_TIMESTAMP": STAMP,
    "(Current_Timestamp)": STAMP,
    "localtimestamp": PLAIN,
    "current_localtimestamp()": PLAIN,
    "current_date": "2100-12-31",
    "current_date()": "2100-12-31",
    "CURRENT_DATE": "2100-12-31",
    "today()": "2100-12-31",
    "TODAY()": "2100-12-31",
    "current_time": "23:59:00+00",
    "get_current_time()": "23:59:00+00",
    "localtime": "23:59:00",
    "current_localtime()": "23:59:00",
    "now()::DATE": "2100-12-31",
    "now()::TIMESTAMP": PLAIN,
    "CAST(now() AS TIMESTAMP)": PLAIN,
    "TRY_CAST(current_timestamp AS DATE)": "2100-12-31",
    "now() AT TIME ZONE 'Europe/Berlin'": "2101-01-01 00:59:00",
    "current_date - 1": "2100-12-30",
    "current_date - INTERVAL 1 DAY": "2100-12-30 00:00:00",
    "today() + 1": "2101-01-01",
    "now() - INTERVAL '1 day'": "2100-12-30 23:59:00+00:00",
    "date_trunc('month', now())": "2100-12-01 00:00:00+00:00",
    "date_trunc('year', current_date)": "2100-01-01 00:00:00",
    "EXTRACT(year FROM now())": 2100,
    "EXTRACT(YEAR FROM current_date)": 2100,
    "year(today())": 2100,
    "month(now())": 12,
    "dayname(current_date)": "Friday",
    "last_day(today())": "2100-12-31",
    "strftime(now(), '%Y-%m-%d')": "2100-12-31",
    "strftime(current_date, '%d/%m/%Y')": "31/12/2100",
    "epoch(now())": 4133980740.0,
    "epoch_ms(now())": 4133980740000,
    "to_timestamp(epoch(now()))": STAMP,
    "date_diff('year', DATE '2090-01-01', current_date)": 10,
    "date_diff('day', today(), today() + 3)": 3,
    "date_part('hour', now())": 23,
    "make_date(year(now())::INT, 1, 1)": "2100-01-01",
    "age(DATE '2090-12-31')": "10 years",
    "age(TIMESTAMP '2100-12-30 12:00:00')": "12:00:00",
    "age(make_date(2090, 12, 31))": "10 years",
    "age(DATE '2100-01-02', DATE '2100-01-01')": "1 day",
    "age((SELECT DATE '2099-12-31'))": "1 year",
    "(SELECT max(now()))": STAMP,
    "(SELECT t FROM (SELECT current_date AS t))": "2100-12-31",
    "(WITH c AS (SELECT today() AS t) SELECT t FROM c)": "2100-12-31",
    "CASE WHEN now() > TIMESTAMP '2100-01-01' THEN 'after' ELSE 'before' END": "after",
    "coalesce(NULL, now())": STAMP,
    "greatest(current_date, DATE '2000-01-01')": "2100-12-31",
    "[current_date]": '["2100-12-31"]',
    "[today() FOR x IN [1]]": '["2100-12-31"]',
    "list_transform([1], lambda x: today())": '["2100-12-31"]',
    "{'t': today()}": '{"t": "2100-12-31"}',
    "MAP {'t': current_date}": '{"t": "2100-12-31"}',
    "(SELECT count(*) FROM range(current_date, current_date + INTERVAL 3 DAY, INTERVAL 1 DAY))": 3,
    "count(*) FILTER (WHERE now() > TIMESTAMP '2100-01-01')": 1,
    "first_value(today()) OVER (ORDER BY 1)": "2100-12-31",
    "concat('on ', current_date)": "on 2100-12-31",
    "current_date::VARCHAR || '!'": "2100-12-31!",
    "current_date = DATE '2100-12-31'": 1,
    "current_date BETWEEN DATE '2100-12-31' AND DATE '2100-12-31'": 1,
    "time_bucket(INTERVAL 1 DAY, localtimestamp)": "2100-12-31 00:00:00",
    "isodow(now())": 5,
    "yearweek(current_date)": 210052,
}
NOT_ASKING = {
    "'now'": "now",
    "'today()'": "today()",
    "'current_date'": "current_date",
    "$$now()$$": "now()",
    '(SELECT "current_date" FROM (SELECT 1 AS "current_date") t)': 1,
    "(SELECT t.now FROM (SELECT 2 AS now) t)": 2,
    "(SELECT today FROM (SELECT 3 AS today) t)": 3,
    "'tomorrow'": "tomorrow",
    "DATE '2000-01-01'": "2000-01-01",
}
REFUSED = {
    "ago(INTERVAL 1 DAY)": "ago",
    "uuid_extract_timestamp(uuidv7())": "uuid_extract_timestamp",
    "uuidv7()": "uuidv7",
    "txid_current()": "txid_current",
    "pg_postmaster_start_time()": "pg_postmaster_start_time",
    "pg_conf_load_time()": "pg_conf_load_time",
    "system.now()": "now",
    "main.today()": "today",
    "DATE '2000-01-01'.age()": "",
}


@pytest.fixture(scope="module")
def database(duckdb_clinic: Path) -> Iterator[DuckdbDatabase]:
    with DuckdbDatabase.open(duckdb_clinic, clock=CLOCK) as opened:
        yield opened


def test_at_least_sixty_forms_are_tried() -> None:
    assert len(ASKING) >= 60


@pytest.mark.parametrize(("expression", "value"), [*ASKING.items(), *NOT_ASKING.items()])
def test_the_time_is_the_databases_own(
    expression: str, value: object, database: DuckdbDatabase
) -> None:
    result = database.execute(f"SELECT {expression}")
    assert result.rows == ((value,),), result.error


@pytest.mark.parametrize("expression", ASKING)
def test_no_form_sees_the_machines_time(expression: str, duckdb_clinic: Path) -> None:
    """What runs holds no request for the time: a second clock changes nothing in it."""
    timed = with_clock(read_statement(f"SELECT {expression}", "duckdb"), CLOCK, DUCKDB_CLOCK)
    again = with_clock(read_statement(timed, "duckdb"), "2000-01-01 00:00:00", DUCKDB_CLOCK)
    assert again == timed


@pytest.mark.parametrize(("expression", "name"), REFUSED.items())
def test_what_cant_be_covered_is_refused_by_its_name(
    expression: str, name: str, database: DuckdbDatabase
) -> None:
    result = database.execute(f"SELECT {expression}")
    assert result.kind == "refused"
    assert name in str(result.error)


@given(
    st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)).map(lambda t: t.replace(microsecond=0))
)
@settings(max_examples=25)
def test_any_clock_is_read_back(database: DuckdbDatabase, now: datetime) -> None:
    clock = now.isoformat(sep=" ")
    sql = "SELECT now(), localtimestamp, current_date, localtime, today()"
    timed = with_clock(read_statement(sql, "duckdb"), clock, DUCKDB_CLOCK)
    day, time = clock.split()
    assert database._run(timed, 0.0).rows == ((f"{clock}+00:00", clock, day, time, day),)


def test_a_view_that_asks_for_the_time_is_refused_and_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "views.duckdb"
    asking = {
        "a": "SELECT now() AS t",
        "b": "SELECT current_date - 1 AS t",
        "c": "SELECT localtimestamp AS t",
        "d": "SELECT age(DATE '2000-01-01') AS t",
        "e": "SELECT t FROM a",
        "f": "SELECT e.t FROM e JOIN plain ON true",
        "g": "SELECT ago(INTERVAL 1 DAY) AS t",
        "h": "SELECT today() AS t",
        "i": "SELECT this_year() AS t",
        '"Odd Name"': "SELECT get_current_timestamp() AS t",
        "j": 'SELECT t FROM "Odd Name"',
    }
    plain = {
        "plain": "SELECT 1 AS t",
        "two": "SELECT age(DATE '2000-01-01', DATE '1999-01-01') AS t",
        "known": "SELECT 'nothing new' AS t",
    }
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE MACRO this_year() AS year(today())")
        made.execute("CREATE SCHEMA other; CREATE VIEW other.plain2 AS SELECT 1 AS t")
        for views in (plain, asking):
            for view, query in views.items():
                made.execute(f"CREATE VIEW {view} AS {query}")
        made.execute("CREATE VIEW other.a AS SELECT now() AS t")
        made.execute("CREATE VIEW other.plain AS SELECT 1 AS t")
    with DuckdbDatabase.open(path, clock=CLOCK) as database:
        for view in [*asking, "other.a", "main.a", "views.a", "A", '"A"', "views.main.a"]:
            result = database.execute(f"SELECT * FROM {view}")
            assert result.kind == "refused", view
            assert "machine's time" in str(result.error)
        for view in [*plain, "other.plain", "other.plain2"]:
            assert database.execute(f"SELECT * FROM {view}").kind == "rows", view
