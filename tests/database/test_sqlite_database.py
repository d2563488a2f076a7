"""The executor keeps its bounds, says what is wrong with a file, and serves many threads."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.executor import ExecutionResult, Limits
from sentinel_sql.database.sqlite import database as sqlite_module
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.database.worker.process import WorkerProcess
from sentinel_sql.errors import DatabaseError
from sentinel_sql.schema import ForeignKey

NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {}) "
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


@contextmanager
def limited(path: Path, limits: Limits) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(path, limits=limits) as database:
        yield database


def test_the_schema_is_in_lower_case_with_declared_types_and_foreign_keys(
    ward: SqliteDatabase,
) -> None:
    assert {name: dict(columns) for name, columns in ward.schema.tables.items()} == {
        "patients": {"id": "INTEGER", "name": "TEXT", "dod": "TIMESTAMP(0)"},
        "stays": {"patient": "INT", "drug": "VARCHAR(20)", "start": "TEXT"},
        "drugs": {"name": "TEXT"},
        "present": {"id": "INTEGER", "seen": "", "at": ""},
        "nested": {"at": ""},
    }
    # the first names no column, and so means the primary key
    assert set(ward.schema.foreign_keys) == {
        ForeignKey(table="stays", column="patient", to_table="patients", to_column="id"),
        ForeignKey(table="stays", column="drug", to_table="drugs", to_column="name"),
    }


def test_the_real_schema_has_all_its_tables_and_keys(mimic_iv: Path) -> None:
    with SqliteDatabase.open(mimic_iv) as database:
        assert len(database.schema.tables) == 17
        assert {key.to_table for key in database.schema.foreign_keys} >= {"patients", "admissions"}
        assert database.name == "mimic_iv"
        assert database.clock == "2100-12-31 23:59:00"


def test_a_view_over_a_table_that_is_gone_doesnt_hide_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "broken view.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE t (x); CREATE VIEW v AS SELECT * FROM gone;")
    with SqliteDatabase.open(path) as database:
        assert dict(database.schema.tables["v"]) == {}
        assert database.execute("SELECT * FROM t").kind == "empty"
        assert database.execute("SELECT * FROM v").error == "no such table: main.gone"


@pytest.mark.parametrize("name", ["a b.sqlite", "50%?#&=.db", "ü.sqlite"])
def test_any_file_name_opens_that_file(name: str, ward_file: Path) -> None:
    path = shutil.copy(ward_file, ward_file.with_name(name))
    with SqliteDatabase.open(path, name="ward") as database:
        assert database.execute("SELECT count(*) FROM patients").rows == ((2,),)
        assert database.name == "ward"


# --- bounds


@given(
    rows=st.integers(0, 40),
    cap=st.integers(1, 30),
    length=st.integers(1, 40),
    cell=st.integers(1, 30),
)
def test_what_is_kept_is_the_start_of_the_result_and_truncation_is_flagged(
    shared_ward: Path, rows: int, cap: int, length: int, cell: int
) -> None:
    # in this process, as hypothesis opens a database for each example
    limits = Limits(rows=cap, cell=cell)
    with SqliteDatabase.open(shared_ward, limits=limits, in_process=True) as database:
        result = database.execute(
            NUMBERS.format(rows) + f"SELECT x, printf('%.*c', {length}, 'é') FROM c WHERE {rows}"
        )
    whole = [(x, "é" * length) for x in range(1, rows + 1)]
    assert result.rows == tuple((x, text[:cell]) for x, text in whole[:cap])
    assert result.cells_cut == (length > cell and rows > 0)
    assert result.truncated == (rows > cap or result.cells_cut)
    assert result.kind == ("rows" if rows else "empty")
    assert result.columns == ("x", result.columns[1])


@pytest.fixture(scope="module")
def shared_ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shared") / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    return path


def test_a_result_stops_at_its_total_and_says_so(shared_ward: Path) -> None:
    with limited(shared_ward, Limits(total=100_000)) as database:
        result = database.execute(NUMBERS.format(1_000) + "SELECT printf('%.*c', 1000, 'x') FROM c")
    assert result.truncated
    assert not result.cells_cut
    assert sum(len(str(row[0])) for row in result.rows) <= 100_000
    assert len(result.rows) > 80


def test_a_blob_is_cut_like_a_text(shared_ward: Path) -> None:
    with limited(shared_ward, Limits(cell=3)) as database:
        result = database.execute("SELECT x'0102030405'")
    assert result.rows == ((b"\x01\x02\x03",),)
    assert result.cells_cut


def test_wide_rows_are_cut_as_narrow_ones_are(shared_ward: Path) -> None:
    columns = ", ".join(["printf('%.*c', 12, '€')"] * 50)
    with limited(shared_ward, Limits(cell=10)) as database:
        result = database.execute(f"SELECT {columns}")
    assert result.rows == (("€" * 10,) * 50,)
    assert result.cells_cut


def unharmed(result: ExecutionResult, *, within: float) -> bool:
    """Whether it came, or took as long itself, as it may where the machine stands still."""
    return result.rows == ((1,),) or result.seconds >= within


@pytest.mark.parametrize(
    "sql",
    [
        ENDLESS + "SELECT count(*) FROM c",
        ENDLESS + "SELECT x FROM c WHERE x < 0",
        ENDLESS + "SELECT x FROM c ORDER BY random() LIMIT 5",
        NUMBERS.format(3_000) + "SELECT sum(a.x * b.x % d.x) FROM c a, c b, c d",
        "WITH RECURSIVE c(x) AS (SELECT printf('%.*c', 400000, 'x') UNION ALL SELECT upper(x) "
        "FROM c) SELECT sum(length(replace(x, 'X', 'y'))) FROM c",
    ],
)
def test_a_runaway_query_stops_at_its_deadline_and_the_next_one_runs(
    shared_ward: Path, sql: str
) -> None:
    with limited(shared_ward, Limits(seconds=0.5)) as database:
        started, busy = time.perf_counter(), time.process_time()
        result = database.execute(sql)
        elapsed, busy = time.perf_counter() - started, time.process_time() - busy
        assert (result.kind, result.error) == (
            "error",
            "interrupted: the query ran longer than 0.5 s",
        )
        assert elapsed >= 0.5
        assert busy < 0.5 * 1.2 + 0.5  # of the processor, whatever else the machine does
        assert database.execute("SELECT 1").rows == ((1,),)


def test_no_query_pays_for_a_deadline_of_the_one_before(shared_ward: Path) -> None:
    with limited(shared_ward, Limits(seconds=0.15)) as database:
        for _ in range(8):
            database.execute(ENDLESS + "SELECT count(*) FROM c")
            assert unharmed(database.execute("SELECT 1"), within=0.15)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT printf('%.*c', 2000000000, 'x')",
        "SELECT format('%.2000000000c', 'x')",
        "SELECT printf('%.*c', 600000, 'x')",
        "SELECT printf('%.*c', '2000000000', 'x')",
        "SELECT length(trim(hex(printf('%.*c', 200000, 'x')), printf('%.*c', 30000, 'y') || '78'))",
        "SELECT hex(hex(hex(hex(printf('%.*c', 100000, 'x')))))",
        "SELECT replace(printf('%.*c', 100000, 'x'), 'x', 'xxxxxxxxxx')",
        NUMBERS.format(100_000) + "SELECT group_concat(printf('%.*c', 1000, 'x')) FROM c",
        "SELECT 'a' LIKE printf('%.*c', 40000, '%')",
        ENDLESS + "SELECT x || printf('%.*c', 400000, 'a') AS y FROM c ORDER BY y DESC",
        "WITH c0 AS (SELECT 1)"
        + "".join(
            f", c{i} AS (SELECT * FROM c{i - 1} UNION ALL SELECT * FROM c{i - 1})"
            for i in range(1, 40)
        )
        + " SELECT count(*) FROM c39",
    ],
)
def test_no_query_takes_more_than_its_memory_and_half_its_deadline_again(
    shared_ward: Path, sql: str
) -> None:
    with limited(shared_ward, Limits(seconds=1.0, memory=200_000_000)) as database:
        database.execute("SELECT 1")
        result = database.execute(sql)
        assert database.execute("SELECT 1").rows == ((1,),)
    assert result.kind in ("error", "rows", "empty")
    assert result.seconds < 1.5


# --- what the data may hold


def test_text_that_isnt_utf8_is_read_without_what_cant_be(tmp_path: Path) -> None:
    path = tmp_path / "latin.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('ok'), (CAST(x'63e96c' AS TEXT));"
        )
    with SqliteDatabase.open(path) as database:
        assert database.execute("SELECT x FROM t").rows == (("ok",), ("cl",))
        assert database.execute("SELECT 'é'").rows == (("é",),)


def test_every_kind_of_value_comes_back_as_itself(ward: SqliteDatabase) -> None:
    result = ward.execute("SELECT 1, 2.5, 'a', x'00ff', NULL, 9e999, -9223372036854775808")
    assert result.rows == ((1, 2.5, "a", b"\x00\xff", None, float("inf"), -(2**63)),)


# --- files that can't be used


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database, only some text " * 100)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5_000])


def scrambled_schema(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:4096] = os.urandom(3_996)
    path.write_bytes(data)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (garbage, "no SQLite database"),
        (cut_short, "damaged"),
        (scrambled_schema, "damaged"),
        (emptied, "holds no tables"),
        (Path.unlink, "isn't there"),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder"),
    ],
)
def test_a_file_that_cant_be_used_is_named_with_the_remedy(
    spoil: object, words: str, ward_file: Path
) -> None:
    spoil(ward_file)  # type: ignore[operator]
    with (
        pytest.raises(DatabaseError, match=words) as caught,
        limited(ward_file, Limits()) as opened,
    ):
        # a file cut short may still show its list of tables
        opened.execute("SELECT * FROM stays, patients, drugs")
    message = str(caught.value)
    assert str(ward_file) in message
    assert "\n" not in message
    assert ";" in message  # what is wrong; what to do


def test_damage_behind_the_schema_is_the_databases_fault_not_the_querys(tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 1_000)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with SqliteDatabase.open(path) as database:
        with pytest.raises(DatabaseError, match="is damaged"):
            database.execute("SELECT sum(length(x)) FROM t")
        assert database.execute("SELECT 1").rows == ((1,),)


def test_a_locked_file_is_named_at_opening_and_at_a_query(ward_file: Path) -> None:
    with (
        closing(sqlite3.connect(ward_file, isolation_level=None)) as writer,
        SqliteDatabase.open(ward_file) as database,
    ):
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseError, match="is locked by another program"):
            SqliteDatabase.open(ward_file)
        with pytest.raises(DatabaseError, match="is locked by another program"):
            database.execute("SELECT name FROM patients")
        writer.execute("ROLLBACK")
        assert database.execute("SELECT count(*) FROM patients").rows == ((2,),)


def test_a_file_that_a_writer_left_half_changed_is_never_read(tmp_path: Path) -> None:
    path, crashed = tmp_path / "live.sqlite", tmp_path / "crashed.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("CREATE TABLE t (x)")
        writer.executemany("INSERT INTO t VALUES (?)", [("x" * 1_000,)] * 60)
        writer.execute("PRAGMA cache_size = 5")
        writer.execute("BEGIN")
        writer.execute("UPDATE t SET x = 'new' || x")
        for ending in ("", "-journal"):
            shutil.copy(f"{path}{ending}", f"{crashed}{ending}")
        writer.execute("ROLLBACK")
    with pytest.raises(DatabaseError, match="needs recovery"):
        SqliteDatabase.open(crashed)


def test_a_brief_writer_is_waited_for(ward_file: Path) -> None:
    with closing(
        sqlite3.connect(ward_file, isolation_level=None, check_same_thread=False)
    ) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.3, writer.execute, ["ROLLBACK"])
        timer.start()
        with SqliteDatabase.open(ward_file) as database:
            assert database.execute("SELECT count(*) FROM patients").rows == ((2,),)
        timer.join()


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
@pytest.mark.parametrize("pending", [False, True])
def test_a_file_in_wal_mode_is_read_where_its_folder_cant_be_written(
    ward_file: Path, pending: bool
) -> None:
    folder = ward_file.parent / "kept"
    folder.mkdir()
    path = folder / "ward.sqlite"
    with closing(sqlite3.connect(ward_file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    shutil.copy(ward_file, path)
    if pending:
        Path(f"{path}-wal").write_bytes(b"x" * 5_000)
    folder.chmod(0o500)
    try:
        if pending:  # what another program hasn't folded in yet must not be passed over
            with pytest.raises(DatabaseError, match="can't be opened"):
                SqliteDatabase.open(path)
        else:
            with SqliteDatabase.open(path) as database:
                assert database.execute("SELECT count(*) FROM patients").rows == ((2,),)
    finally:
        folder.chmod(0o700)


# --- threads and closing


def test_many_threads_read_at_once_and_each_gets_its_own_answer(ward_file: Path) -> None:
    with SqliteDatabase.open(ward_file) as database, ThreadPoolExecutor(8) as threads:

        def ask(number: int) -> ExecutionResult:
            if number % 7 == 0:
                return database.execute("DELETE FROM patients")
            return database.execute(NUMBERS.format(50) + f"SELECT {number}, sum(x) FROM c")

        results = list(threads.map(ask, range(200)))
    for number, result in enumerate(results):
        if number % 7 == 0:
            assert result.kind == "refused"
        else:
            assert result.rows == ((number, 1275),)


def test_deadlines_of_threads_dont_touch_each_other(shared_ward: Path) -> None:
    with limited(shared_ward, Limits(seconds=0.4)) as database, ThreadPoolExecutor(4) as threads:
        runaways = [
            threads.submit(database.execute, ENDLESS + "SELECT count(*) FROM c") for _ in range(2)
        ]
        while not all(runaway.done() for runaway in runaways):
            assert unharmed(database.execute("SELECT 1"), within=0.4)
        assert all("interrupted" in (runaway.result().error or "") for runaway in runaways)


def test_after_closing_nothing_runs_and_no_thread_is_left(ward_file: Path) -> None:
    before = threading.active_count()
    database = SqliteDatabase.open(ward_file)
    database.execute("SELECT 1")
    database.close()
    database.close()
    with pytest.raises(DatabaseError, match="was closed"):
        database.execute("SELECT 1")
    assert threading.active_count() == before


def test_a_query_under_way_at_closing_still_ends_at_its_deadline(shared_ward: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        database = SqliteDatabase.open(shared_ward, limits=Limits(seconds=0.5))
        running = threads.submit(database.execute, ENDLESS + "SELECT count(*) FROM c")
        time.sleep(0.2)
        database.close()
        assert "interrupted" in (running.result(timeout=60).error or "")


def test_many_threads_with_quick_queries_share_few_workers(
    ward_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[WorkerProcess] = []

    def start(*args: Any, **options: Any) -> WorkerProcess:
        started.append(WorkerProcess(*args, **options))
        return started[-1]

    monkeypatch.setattr(sqlite_module, "WorkerProcess", start)
    monkeypatch.setattr(sqlite_module, "PATIENCE", 10.0)
    with (
        SqliteDatabase.open(ward_file) as database,
        ThreadPoolExecutor(32) as threads,
    ):
        results = list(threads.map(database.execute, ["SELECT count(*) FROM patients"] * 200))
    assert {result.rows for result in results} == {((2,),)}
    assert len(started) == 1


def test_a_long_query_holds_up_no_other_one(ward_file: Path) -> None:
    with (
        SqliteDatabase.open(ward_file, limits=Limits(seconds=3)) as database,
        ThreadPoolExecutor(1) as threads,
    ):
        long = threads.submit(database.execute, ENDLESS + "SELECT count(*) FROM c")
        time.sleep(0.1)
        assert database.execute("SELECT count(*) FROM patients").rows == ((2,),)
        assert not long.done()
        assert long.result().timed_out
