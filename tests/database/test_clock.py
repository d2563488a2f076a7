"""In SQL, the current time is the database's, wherever SQL asks for it and nowhere else."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.clock import KNOWN_CLOCKS, check_clock, default_clock
from sentinel_sql.database.sqlite.clock_calls import may_ask_time, with_clock
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import InputError

CLOCK = "2100-12-31 23:59:00"

BLANKS = st.sampled_from(["", " ", "\n", "/* now */", " -- 'now'\n", "\t "])
MODIFIERS = st.lists(
    st.sampled_from(
        [
            "'-1 year'",
            "'+3 days'",
            "'start of month'",
            "'start of year'",
            "'weekday 0'",
            "'-90 minutes'",
            "'+1.5 days'",
            "'-' || 2 || ' months'",
        ]
    ),
    max_size=3,
)
FORMATS = st.sampled_from(["'%Y'", "'%Y-%m'", "'%J'", "'%s'", "'%j %w %H:%M:%S now'"])


@st.composite
def time_calls(draw: st.DrawFn) -> tuple[str, str]:
    """A call on the current time, and the same call on the clock as plain SQLite reads it."""
    name = draw(st.sampled_from(["date", "time", "datetime", "julianday", "strftime", "unixepoch"]))
    name = draw(st.sampled_from([name, name.upper(), name.title(), f'"{name}"']))
    before, after = draw(BLANKS), draw(BLANKS)
    leading = [draw(FORMATS)] if "strftime" in name.lower() else []
    modifiers = draw(MODIFIERS)
    now = draw(st.sampled_from(["'now'", "'NOW'", "'nOw'"]))
    if not modifiers and draw(st.booleans()):
        given_value: list[str] = []
    else:
        given_value = [now]

    def call(value: list[str]) -> str:
        arguments = f"{after},{before}".join([*leading, *value, *modifiers])
        return f"{name}{before}({after}{arguments}{before})"

    return call(given_value), call([f"'{CLOCK}'"])


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    path = tmp_path_factory.mktemp("clock") / "clock.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (x TEXT, current_time TEXT); INSERT INTO t VALUES ('now', 'mine');"
        )
    with SqliteDatabase.open(path, clock=CLOCK) as opened:
        yield opened


def plain(sql: str) -> tuple[tuple[object, ...], ...]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE t (x TEXT, current_time TEXT); INSERT INTO t VALUES ('now', 'mine');"
        )
        return tuple(connection.execute(sql).fetchall())


@given(st.lists(time_calls(), min_size=1, max_size=3), st.booleans())
def test_the_current_time_is_the_clock_in_every_time_function(
    database: SqliteDatabase, calls: list[tuple[str, str]], hidden: bool
) -> None:
    asked, told = (", ".join(column) for column in zip(*calls, strict=True))
    # a literal elsewhere makes the executor look at running values; nothing may change by it
    extra = ", 'now', x FROM t WHERE x = 'now'" if hidden else ""
    result = database.execute(f"SELECT {asked}{extra}")
    assert result.error is None
    assert result.rows == plain(f"SELECT {told}{extra}")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT CURRENT_TIMESTAMP", f"SELECT '{CLOCK}'"),
        ("SELECT current_date, Current_Time", "SELECT '2100-12-31', '23:59:00'"),
        ("SELECT date(CURRENT_TIMESTAMP, '-1 year')", "SELECT '2099-12-31'"),
        ("SELECT strftime('%Y', CURRENT_DATE)", "SELECT '2100'"),
        ("SELECT date(coalesce(NULL, 'now'))", "SELECT '2100-12-31'"),
        ("SELECT date(CASE WHEN x = 'now' THEN 'now' ELSE x END) FROM t", "SELECT '2100-12-31'"),
        ("WITH c AS (SELECT 'now' AS n) SELECT datetime(n), n FROM c", f"SELECT '{CLOCK}', 'now'"),
        ("SELECT date('no' || 'w'), 'now'", "SELECT '2100-12-31', 'now'"),
        ("SELECT date(('now'))", "SELECT '2100-12-31'"),
        ("SELECT date(\"now\") FROM (SELECT '2099-02-03' AS now)", "SELECT '2099-02-03'"),
        ("SELECT strftime('%Y')", "SELECT '2100'"),
        ("SELECT date(date(date('now', '-1 day'), '-1 day'), '-1 day')", "SELECT '2100-12-28'"),
        ("SELECT julianday() - julianday('now')", "SELECT 0.0"),
        (
            "SELECT datetime('now', 'localtime'), time('now', 'UTC')",
            f"SELECT '{CLOCK}', '23:59:00'",
        ),
        ("WITH date(d) AS (SELECT 'now') SELECT d FROM date", "SELECT 'now'"),
    ],
)
def test_each_way_to_ask_for_the_time_is_answered_by_the_clock(
    database: SqliteDatabase, sql: str, told: str
) -> None:
    result = database.execute(sql)
    assert result.error is None
    assert result.rows == plain(told)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM t WHERE x = 'now'",
        "SELECT 'now', \"x\", 'date(''now'')' FROM t",
        "SELECT 1 -- date('now')",
        "SELECT /* CURRENT_TIMESTAMP */ 'CURRENT_TIMESTAMP'",
        "SELECT t.current_time FROM t",
        'SELECT "current_time" FROM t',
        "SELECT x AS current_time FROM t",
        "SELECT upper('now'), length('now')",
        "SELECT date('2099-01-01', '+1 day'), datetime(0, 'unixepoch')",
        "SELECT strftime('now %Y', '2099-01-01')",
        "SELECT 'localtime' WHERE 'utc' = 'utc'",
        "SELECT x FROM t WHERE x IN ('now', 'later') AND date('2099-01-01') > '2000'",
    ],
)
def test_what_only_looks_like_the_current_time_stays(database: SqliteDatabase, sql: str) -> None:
    assert database.execute(sql).rows == plain(sql)


@given(
    st.lists(
        st.sampled_from(
            [
                "now",
                "'now'",
                '"now"',
                "date",
                "strftime",
                "(",
                ")",
                ",",
                "'",
                '"',
                "--",
                "/*",
                "*/",
                "\n",
                " ",
                "current_date",
                "'utc'",
                ".",
                "as",
                "x",
                "'%Y'",
                ";",
                "time",
                "[",
                "]",
            ]
        ),
        max_size=25,
    ).map("".join)
)
def test_the_cheap_look_never_overlooks_what_the_full_one_would_change(sql: str) -> None:
    if not may_ask_time(sql):
        forced = f"{sql}\n-- now"  # has the full look taken
        assert with_clock(forced, CLOCK) == forced


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_a_text_of_any_content_comes_back_as_it_is(database: SqliteDatabase, text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    assert database.execute(f"SELECT {quoted}, date('now')").rows == ((text, "2100-12-31"),)


def test_a_value_of_the_data_that_is_now_means_the_clock_only_beside_a_now_in_the_sql(
    database: SqliteDatabase,
) -> None:
    assert database.execute("SELECT date(x) FROM t WHERE x = 'now'").rows == (("2100-12-31",),)
    # without one, the executor doesn't look at values: the documented gap
    assert database.execute("SELECT date(x) FROM t").rows != (("2100-12-31",),)


def test_deep_nesting_costs_no_more_than_its_length() -> None:
    def seconds(depth: int) -> float:
        started = time.process_time()
        with_clock("SELECT " + "date(" * depth + "'now'" + ")" * depth, CLOCK)
        return time.process_time() - started

    short, long = (min(seconds(depth) for _ in range(3)) for depth in (2_000, 16_000))
    assert long / short < 24  # 8 where the cost is the length's, 64 where its square's


def test_the_machines_time_zone_changes_nothing(ward_file: Path) -> None:
    script = (
        "import sys; from sentinel_sql.database.sqlite.database import SqliteDatabase\n"
        f"with SqliteDatabase.open(sys.argv[1], clock={CLOCK!r}) as database:\n"
        "    print(database.execute(\"SELECT datetime('now', 'localtime'), "
        "datetime('2099-01-01', 'utc'), date(coalesce(NULL, 'now'), 'localtime')\").rows)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ward_file)],
        env=os.environ | {"TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(((CLOCK, "2099-01-01 00:00:00", "2100-12-31"),))


def test_views_of_the_file_are_read_at_the_clock_too(ward: SqliteDatabase) -> None:
    assert ward.execute("SELECT seen, at FROM present WHERE id = 1").rows == (
        ("2100-12-31", CLOCK),
    )
    assert set(ward.execute("SELECT at FROM nested").rows) == {(CLOCK,)}


@pytest.mark.parametrize(
    "clock", ["", "now", "2100-12-31", "2100-13-01 00:00:00", "2100-12-31T23:59:00"]
)
def test_a_clock_that_is_no_time_is_refused_by_name(clock: str, ward_file: Path) -> None:
    with pytest.raises(InputError, match="YYYY-MM-DD HH:MM:SS"):
        SqliteDatabase.open(ward_file, clock=clock)


def test_known_databases_have_the_data_sets_clock_and_others_the_machines_time() -> None:
    assert all(check_clock(clock) for clock in KNOWN_CLOCKS.values())
    assert default_clock("MIMIC_IV") == CLOCK
    machine = datetime.fromisoformat(default_clock("elsewhere"))
    assert abs(machine - datetime.now()) < timedelta(seconds=5)
    assert re.fullmatch(r"[\d-]{10} [\d:]{8}", default_clock("elsewhere"))
