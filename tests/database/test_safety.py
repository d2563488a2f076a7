"""No SQL changes the file, reaches another, or looks where it shouldn't."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.deadline import Deadlines
from sentinel_sql.database.executor import ExecutionResult, Limits
from sentinel_sql.database.sqlite import connection as sqlite_connection
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.database.sqlite.safety import LONGEST_SQL, Gatekeeper

CLOCK = "2100-12-31 23:59:00"

HOSTILE = [
    "INSERT INTO patients VALUES (9, 'x', NULL)",
    "INSERT INTO patients SELECT 9, 'x', NULL",
    "WITH a AS (SELECT 1) INSERT INTO drugs SELECT 'x' FROM a",
    "REPLACE INTO drugs VALUES ('x')",
    "UPDATE patients SET name = 'x'",
    "DELETE FROM patients",
    "WITH a AS (SELECT 1) DELETE FROM patients WHERE id IN a",
    "DELETE FROM patients RETURNING *",
    "DROP TABLE patients",
    "DROP VIEW present",
    "CREATE TABLE t (x)",
    "CREATE TABLE t AS SELECT * FROM patients",
    "CREATE TEMP TABLE t (x)",
    "CREATE TEMP VIEW v AS SELECT 1",
    "CREATE VIRTUAL TABLE t USING fts5(x)",
    "CREATE INDEX i ON patients (name)",
    "CREATE TRIGGER r AFTER INSERT ON patients BEGIN SELECT 1; END",
    "ALTER TABLE patients ADD COLUMN x",
    "ALTER TABLE patients RENAME TO p",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = WAL",
    "PRAGMA query_only = OFF",
    "PRAGMA user_version = 7",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM sqlite_stmt",
    "ATTACH '{other}' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO '{other}'",
    "REINDEX",
    "ANALYZE",
    "BEGIN",
    "BEGIN EXCLUSIVE",
    "COMMIT",
    "SAVEPOINT s",
    "SELECT load_extension('{other}')",
    "SELECT writefile('{other}', 'x')",
    "SELECT readfile('/etc/hostname')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT sqlite_version()",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT randomblob(100)",
    "SELECT zeroblob(1000000000)",
    "SELECT (SELECT load_extension('{other}'))",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM dbstat)",
    "SELECT 1; DROP TABLE patients",
    "SELECT 1;;; DROP TABLE patients; --",
    "SELECT '; -- ' ; DROP TABLE patients",
    "/* SELECT */ DROP TABLE patients",
    "SELECT 1 /* ; */; DELETE FROM patients",
    "DROP TABLE patients; SELECT 1",
    "\ufeffDROP TABLE patients",
    "SELECT 1\0; DROP TABLE patients",
    "SELECT ?",
    "SELECT :name",
    "SELECT \udcff",
    "",
    "   ",
    "-- nothing",
    ";",
    "'",
    "SELECT 'unclosed\nover lines",
    "(" * 50_000,
    "SELECT " + "1+" * 20_000 + "1",
    "SELECT " + "date(" * 15_000,
    "SELECT 1" + " " * LONGEST_SQL,
    "SELECT " + ",".join(["1"] * 3_000),
    " UNION ALL ".join(["SELECT 1"] * 600),
]


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: repr(sql[:40]))
def test_hostile_sql_gives_a_one_line_reason_and_leaves_everything_as_it_was(
    sql: str, ward: SqliteDatabase, ward_file: Path, tmp_path: Path
) -> None:
    before = ward_file.read_bytes()
    other = tmp_path / "other"
    result = ward.execute(sql.format(other=other) if "{other}" in sql else sql)
    assert result.kind in ("error", "refused")
    assert result.error
    assert len(result.error.splitlines()) == 1
    assert result.rows == ()
    assert ward_file.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {ward_file.name}
    assert ward.execute("SELECT count(*) FROM patients").rows == ((2,),)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM patients",
        "ATTACH ':memory:' AS o",
        "PRAGMA journal_mode = WAL",
        "SELECT zeroblob(9)",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
    ],
)
def test_what_safety_forbids_is_refused_and_what_sql_does_wrong_is_an_error(
    sql: str, ward: SqliteDatabase
) -> None:
    refused = ward.execute(sql)
    assert (refused.kind, refused.error[:11] if refused.error else "") == ("refused", "not allowed")
    wrong = ward.execute("SELECT nothere FROM patients")
    assert (wrong.kind, wrong.error) == ("error", "no such column: nothere")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM Patients ORDER BY id;", (("ann",), ("bob",))),
        ("WITH a AS (SELECT 1 AS x) SELECT count(*) FROM a", ((1,),)),
        ("VALUES (1), (2)", ((1,), (2,))),
        ("SELECT drug FROM stays WHERE drug = 'csf;fluid' -- why;", (("csf;fluid",),)),
        ("SELECT value FROM json_each('[7, 8]')", ((7,), (8,))),
        ("SELECT count(*) FROM sqlite_master WHERE type = 'table'", ((3,),)),
        (
            "SELECT name, row_number() OVER (ORDER BY id DESC) FROM patients",
            (("bob", 1), ("ann", 2)),
        ),
        ("SELECT round(sqrt(16)), iif(1, 'a', 'b'), upper('x')", ((4.0, "a", "X"),)),
        (
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3) "
            "SELECT sum(x) FROM c",
            ((6,),),
        ),
    ],
)
def test_reading_in_all_its_forms_runs(
    sql: str, rows: tuple[tuple[object, ...], ...], ward: SqliteDatabase
) -> None:
    assert ward.execute(sql).rows == rows


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("DROP TABLE patients", "DROP TABLE"),
        ("DROP VIEW IF EXISTS present", "DROP VIEW"),
        ("/* a */ drop index i", "DROP INDEX"),
        ("CREATE TEMP TABLE t (x)", "CREATE TABLE"),
        ("CREATE UNIQUE INDEX i ON patients (name)", "CREATE INDEX"),
        ("CREATE VIRTUAL TABLE t USING fts5(x)", "CREATE TABLE"),
        ("ALTER TABLE patients RENAME TO p", "ALTER TABLE"),
        ("WITH a AS (SELECT 1) INSERT INTO drugs SELECT 'x' FROM a", "INSERT"),
        ("WITH a(x) AS (SELECT replace('a', 'b', 'c')) DELETE FROM patients", "DELETE"),
        ("EXPLAIN UPDATE patients SET name = 'x'", "UPDATE"),
        ("EXPLAIN QUERY PLAN DROP TABLE patients", "DROP TABLE"),
        ("PRAGMA main.user_version = 7", "PRAGMA user_version"),
        ("VACUUM INTO 'x'", "VACUUM"),
        ("REPLACE INTO drugs VALUES ('x')", "REPLACE"),
        ("UPDATE sqlite_master SET sql = 'x'", "UPDATE"),
        ("SELECT * FROM pragma_query_only", "a virtual table of SQLite's own may not be read"),
        (
            "SELECT count(*) FROM pragma_database_list",
            "a virtual table of SQLite's own may not be read",
        ),
        ("SELECT name FROM drugs, dbstat", "a virtual table of SQLite's own may not be read"),
        (
            "WITH a AS (SELECT * FROM pragma_compile_options) SELECT * FROM a",
            "a virtual table of SQLite's own may not be read",
        ),
    ],
)
def test_a_refusal_names_the_statement_that_was_written(
    sql: str, named: str, ward: SqliteDatabase
) -> None:
    result = ward.execute(sql)
    assert result.kind == "refused"
    assert (result.error or "").startswith(f"not allowed: {named};")


@pytest.mark.parametrize(
    "table", ["pragma_compile_options", "pragma_database_list", "pragma_function_list", "dbstat"]
)
def test_reading_a_built_in_table_is_never_called_an_update(
    table: str, ward: SqliteDatabase
) -> None:
    result = ward.execute(f"SELECT * FROM {table}")
    assert result.kind in ("refused", "error")  # SQLite may be built without it
    assert not set((result.error or "").split()) & {"UPDATE;", "DELETE;", "INSERT;", "CREATE"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM pragma_table_info('patients')",
        "SELECT name FROM pragma_table_xinfo('patients') WHERE hidden = 0",
        "PRAGMA table_info(patients)",
        "PRAGMA main.foreign_key_list(stays)",
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c",
        "SELECT name FROM pragma_table_list",
        "EXPLAIN QUERY PLAN SELECT * FROM patients",
        "WITH replace AS (SELECT 1 AS x) SELECT x FROM replace",
    ],
)
def test_the_schema_may_be_asked_for_in_sqlites_own_ways(sql: str, ward: SqliteDatabase) -> None:
    assert ward.execute(sql).kind == "rows"


@pytest.mark.parametrize("layer", ["words", "authorizer", "query_only", "file"])
def test_each_layer_alone_keeps_the_file_as_it_is(
    layer: str, ward_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite_connection.connect
    writable = ward_file.as_uri()
    if layer != "words":
        monkeypatch.setattr(sqlite_connection, "forbidden", lambda statement: None)
    if layer != "authorizer":
        monkeypatch.setattr(Gatekeeper, "__call__", lambda self, *action: sqlite3.SQLITE_OK)
    if layer != "file":
        monkeypatch.setattr(
            sqlite_connection, "connect", lambda uri, wait=1.0: real(writable, wait=wait)
        )
    before = ward_file.read_bytes()
    with closing(
        sqlite_connection.Connection(
            f"{writable}?mode=ro", clock=CLOCK, limits=Limits(), deadline=Deadlines()
        )
    ) as connection:
        if layer != "query_only":
            connection._sqlite.set_authorizer(None)
            connection._sqlite.execute("PRAGMA query_only = OFF")
            connection._sqlite.set_authorizer(connection._gatekeeper)
        for sql in (
            "DELETE FROM patients",
            "UPDATE patients SET name = 'x'",
            "INSERT INTO drugs VALUES ('x')",
            "WITH a AS (SELECT 1) DELETE FROM stays",
            "DROP TABLE drugs",
            "CREATE TABLE t (x)",
        ):
            try:
                kind = connection.run(sql, time.perf_counter()).kind
            except sqlite3.OperationalError as error:
                assert "readonly" in str(error)  # noqa: PT017 (the two lower layers raise)
            else:
                assert kind == "refused", sql
    assert ward_file.read_bytes() == before


def test_full_text_search_runs(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        try:
            connection.executescript(
                "CREATE VIRTUAL TABLE notes USING fts5(body);"
                "INSERT INTO notes VALUES ('acute kidney injury'), ('sepsis');"
            )
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no full-text search")
    with SqliteDatabase.open(path) as database:
        assert database.execute("SELECT body FROM notes WHERE notes MATCH 'kidney'").rows == (
            ("acute kidney injury",),
        )


WORDS = (
    *("select", "insert into", "delete from", "update", "drop table", "create view", "attach"),
    *("pragma", "begin", "with", "union all", "set", "from", "where", "as", "values"),
    *("patients", "drugs", "name", "x", "*", "=", "'x'", "1", ";", "(", ")", ","),
)


@given(
    st.lists(
        st.sampled_from(WORDS),
        max_size=12,
    ).map(" ".join)
)
def test_no_mixture_of_words_ever_changes_the_file(sql: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "db.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(
                "CREATE TABLE patients (name); INSERT INTO patients VALUES ('a');"
                "CREATE TABLE drugs (name);"
            )
        before = path.read_bytes()
        with SqliteDatabase.open(path, limits=Limits(seconds=5), in_process=True) as database:
            assert isinstance(database.execute(sql), ExecutionResult)
        assert path.read_bytes() == before
        assert [entry.name for entry in Path(folder).iterdir()] == ["db.sqlite"]
