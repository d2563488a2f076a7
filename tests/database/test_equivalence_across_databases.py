"""The same answer is the same, whether SQLite, DuckDB or PostgreSQL gives it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.database.cells import cell_of, json_cell
from sentinel_sql.database.equivalence import MODES
from sentinel_sql.database.executor import Cell, Database
from sentinel_sql.database.opening import open_database

duckdb = pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "answer-modes.md"
CLOCK = "2100-12-31 23:59:00"
SAME = MODES["sentinel-1"]

CASES: Mapping[str, tuple[str, str, str]] = {
    "a whole number": ("90", "90", "90"),
    "a large sum of whole numbers": (
        "9007199254740993",
        "sum(x) FROM (VALUES (9007199254740992), (1)) v(x)",
        "sum(x) FROM (VALUES (9007199254740992), (1)) v(x)",
    ),
    "a decimal": ("12.5", "12.50::DECIMAL(10, 2)", "12.50::numeric(10, 2)"),
    "a decimal that is whole": ("12.0", "12.00::DECIMAL(10, 2)", "12.00::numeric(10, 2)"),
    "a whole number, as a decimal elsewhere": ("12", "12.00::DECIMAL(10, 2)", "12.00::numeric"),
    "a third": ("1 / 3.0", "1 / 3", "1 / 3.0"),
    "a sum of fractions": ("0.1 + 0.2", "0.1::DOUBLE + 0.2::DOUBLE", "0.1 + 0.2"),
    "a boolean": ("1 = 1", "1 = 1", "1 = 1"),
    "a false boolean": ("1 = 2", "false", "false"),
    "NULL": ("NULL", "NULL", "NULL"),
    "the text None": ("'None'", "'None'", "'None'"),
    "a date": ("'2100-01-31'", "DATE '2100-01-31'", "DATE '2100-01-31'"),
    "a timestamp": (
        "'2100-01-31 08:00:00'",
        "TIMESTAMP '2100-01-31 08:00:00'",
        "TIMESTAMP '2100-01-31 08:00:00'",
    ),
    "a timestamp with a fraction": (
        "'2100-01-31 08:00:00.5'",
        "TIMESTAMP '2100-01-31 08:00:00.5'",
        "TIMESTAMP '2100-01-31 08:00:00.5'",
    ),
    "a timestamp with a zone": (
        "'2100-01-31 08:00:00'",
        "TIMESTAMPTZ '2100-01-31 10:00:00+02'",
        "TIMESTAMPTZ '2100-01-31 10:00:00+02'",
    ),
    "the current time": ("datetime('now')", "now()", "now()"),
    "the current date": ("date('now')", "current_date", "current_date"),
    "a time of day": ("'10:30:00'", "TIME '10:30:00'", "TIME '10:30:00'"),
    "bytes": ("x'ab00'", "'\\xab\\x00'::BLOB", "'\\xab00'::bytea"),
    "a list": ("'[1,2]'", "[1, 2]", "ARRAY[1, 2]"),
    "a list of texts": ("""'["a","b"]'""", "['a', 'b']", "ARRAY['a', 'b']"),
    "JSON": (
        """'{"b":1.0,"a":[true,null]}'""",
        """'{"b": 1, "a": [true, null]}'::JSON""",
        """'{"a": [true, null], "b": 1.0}'::jsonb""",
    ),
    "a text": ("'Ångström'", "'Ångström'", "'Ångström'"),
}
"""Value → how SQLite, DuckDB and PostgreSQL give it."""

DIFFERENT: Mapping[str, tuple[str, str, str]] = {
    "a number and its text": ("90", "'90'", "'90'"),
    "NULL and the text None": ("NULL", "'None'", "'None'"),
    "a date and its midnight": ("'2100-01-31'", "TIMESTAMP '2100-01-31'", "TIMESTAMP '2100-01-31'"),
    "bytes and their text": ("x'6162'", "'ab'", "'ab'"),
    "a boolean and its word": ("1 = 1", "'true'", "'true'"),
    "two instants an hour apart": (
        "'2100-01-31 08:00:00'",
        "TIMESTAMPTZ '2100-01-31 08:00:00+01'",
        "TIMESTAMPTZ '2100-01-31 08:00:00+01'",
    ),
    "lists in another order": ("'[2,1]'", "[1, 2]", "ARRAY[1, 2]"),
    "an empty list and NULL": ("NULL", "[]", "ARRAY[]::int[]"),
    "two decimals": ("12.51", "12.50::DECIMAL(10, 2)", "12.50::numeric(10, 2)"),
    "0.0001 and 0.0004": ("0.0001", "0.0004::DOUBLE", "0.0004"),
}


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("one") / "one.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE one (x INTEGER)")
    made.close()
    with open_database(path, clock=CLOCK) as database:
        yield database


@pytest.fixture(scope="module")
def duck(duckdb_clinic: Path) -> Iterator[Database]:
    with open_database(f"duckdb:///{duckdb_clinic}", clock=CLOCK) as database:
        yield database


def row(database: Database, expression: str) -> tuple[Cell, ...]:
    result = database.execute(f"SELECT {expression}")
    assert result.error is None, result.error
    return result.rows[0]


@pytest.mark.parametrize("case", CASES)
def test_sqlite_and_duckdb_give_the_same(case: str, sqlite: Database, duck: Database) -> None:
    a, b = row(sqlite, CASES[case][0]), row(duck, CASES[case][1])
    assert SAME.equivalent([a], [b]), (a, b)
    assert SAME.equivalent([a], [b], ordered=True)


@pytest.mark.parametrize("case", DIFFERENT)
def test_sqlite_and_duckdb_differ(case: str, sqlite: Database, duck: Database) -> None:
    a, b = row(sqlite, DIFFERENT[case][0]), row(duck, DIFFERENT[case][1])
    assert not SAME.equivalent([a], [b]), (a, b)


def test_postgres_gives_the_same_and_differs_like_duckdb(
    sqlite: Database, duck: Database, postgres_cluster: Any, postgres_clinic: str
) -> None:
    address = postgres_cluster.address(postgres_clinic, "reader")
    with open_database(address, clock=CLOCK) as postgres:
        for name, (first, second, third) in CASES.items():
            c = row(postgres, third)
            assert SAME.equivalent([row(sqlite, first)], [c]), (name, c)
            assert SAME.equivalent([row(duck, second)], [c]), (name, c)
        for name, (first, _, third) in DIFFERENT.items():
            assert not SAME.equivalent([row(sqlite, first)], [row(postgres, third)]), name


def test_the_page_shows_how_each_mode_errs(sqlite: Database, duck: Database) -> None:
    """The table of docs/reference/answer-modes.md is what the modes do on these values."""
    lines = []
    for truth, cases in ((True, CASES), (False, DIFFERENT)):
        for name, (first, second, _) in cases.items():
            a, b = row(sqlite, first), row(duck, second)
            said = [
                MODES[mode].equivalent([a], [b])
                for mode in ("ehrsql-v1", "ehrsql-2024", "sentinel-1")
            ]
            assert said[2] is truth
            if said != [truth] * 3:
                words = [
                    ("same" if verdict else "differ") + ("" if verdict is truth else " ✗")
                    for verdict in said
                ]
                lines.append(f"| {name} | `{a[0]!r}` | `{b[0]!r}` | {' | '.join(words)} |")
    page = PAGE.read_text(encoding="utf-8")
    missing = [line for line in lines if line not in page]
    assert not missing, "\n".join(["the page lacks:", *lines])
    assert page.count(" ✗ |") == sum(line.count(" ✗ |") for line in lines)


Draw = tuple[str, st.SearchStrategy[Any], Callable[[Any], Any]]
ZONES = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))
TYPES: list[Draw] = [
    ("BIGINT", st.integers(-(2**63), 2**63 - 1), lambda value: value),
    ("DOUBLE", st.floats(allow_nan=False, allow_infinity=False), lambda value: value),
    (
        "DECIMAL(12, 3)",
        st.decimals(-999_999, 999_999, places=3, allow_nan=False),
        lambda value: float(value),
    ),
    ("DECIMAL(15, 0)", st.integers(-(10**14), 10**14).map(Decimal), lambda value: int(value)),
    ("BOOLEAN", st.booleans(), int),
    ("DATE", st.dates(), date.isoformat),
    ("TIMESTAMP", st.datetimes(), lambda value: value.isoformat(sep=" ")),
    (
        "TIMESTAMPTZ",
        st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=ZONES),
        lambda value: value.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" "),
    ),
    (
        "VARCHAR",
        st.text(st.characters(codec="utf-8", exclude_characters="\0")),
        lambda value: value,
    ),
    ("BLOB", st.binary(max_size=8), lambda value: value),
    ("INTEGER[]", st.lists(st.integers(-9, 9), max_size=4), json.dumps),
    ("VARCHAR[]", st.lists(st.text("aé\" '", max_size=3), max_size=3), json.dumps),
    (
        "JSON",
        st.dictionaries(
            st.text("ab", max_size=2), st.integers(-5, 5) | st.none() | st.booleans()
        ).map(json.dumps),
        lambda value: value,
    ),
]
"""DuckDB's type → values of it, and how SQLite holds one."""
ROWS = st.lists(st.tuples(*(st.none() | values for _, values, _ in TYPES)), min_size=1, max_size=4)


@given(ROWS, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_any_table_reads_the_same_from_sqlite_and_duckdb(rows: list[Any], random: Any) -> None:
    with duckdb.connect() as there:
        there.execute("SET TimeZone = 'UTC'")
        columns = ", ".join(f"c{n} {kind}" for n, (kind, _, _) in enumerate(TYPES))
        there.execute(f"CREATE TABLE t ({columns})")
        there.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(TYPES))})", rows)
        read = there.execute("SELECT * FROM t").fetchall()
    convert = [json_cell if kind == "JSON" else cell_of for kind, _, _ in TYPES]
    duckdb_rows = [tuple(to(cell) for to, cell in zip(convert, row, strict=True)) for row in read]
    held = [
        tuple(
            None if value is None else form(value)
            for value, (_, _, form) in zip(row, TYPES, strict=True)
        )
        for row in rows
    ]
    connection = sqlite3.connect(":memory:")
    places = ", ".join("?" * len(TYPES))
    sqlite_rows = [connection.execute(f"SELECT {places}", row).fetchone() for row in held]
    connection.close()
    random.shuffle(sqlite_rows)
    assert SAME.equivalent(sqlite_rows, duckdb_rows)
    changed = [(*sqlite_rows[0][:-1], "another"), *sqlite_rows[1:]]
    assert not SAME.equivalent(changed, duckdb_rows)


@given(st.lists(st.text(max_size=6), max_size=4))
def test_equality_of_texts_is_reflexive_and_no_text_is_another_by_chance(texts: list[str]) -> None:
    rows = [(text,) for text in texts]
    assert SAME.equivalent(rows, rows)
    assert SAME.equivalent(rows, [(f"{text}!",) for text in texts]) is (not texts)
