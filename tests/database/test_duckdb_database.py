"""A DuckDB file opens read-only, tells its schema, and says in one line what is wrong with it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

duckdb = pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")

from sentinel_sql.database.duckdb.database import DuckdbDatabase  # noqa: E402
from sentinel_sql.database.duckdb.faults import fault  # noqa: E402
from sentinel_sql.database.executor import Limits  # noqa: E402
from sentinel_sql.database.opening import open_database  # noqa: E402
from sentinel_sql.errors import DatabaseError, InputError, MissingExtraError  # noqa: E402
from sentinel_sql.schema import ForeignKey  # noqa: E402

CLOCK = "2100-12-31 23:59:00"


@pytest.fixture(scope="module")
def clinic(duckdb_clinic: Path) -> Iterator[DuckdbDatabase]:
    with DuckdbDatabase.open(duckdb_clinic, clock=CLOCK) as database:
        yield database


@pytest.mark.parametrize("form", ["duckdb:///{}", "duckdb+engine:///{}"])
def test_an_address_opens_a_file(form: str, duckdb_clinic: Path) -> None:
    with open_database(form.format(duckdb_clinic), clock=CLOCK) as database:
        assert (database.name, database.dialect, database.clock) == ("clinic", "duckdb", CLOCK)
        assert database.execute("SELECT count(*) FROM patients").rows == ((40,),)
        assert "memory is held" in database.health().detail


def test_a_relative_address_names_a_file_of_the_folder(
    duckdb_clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(duckdb_clinic.parent)
    with open_database(f"duckdb:///{duckdb_clinic.name}", clock=CLOCK) as database:
        assert database.execute("SELECT 1").rows == ((1,),)


def test_the_schema_holds_tables_views_keys_comments_and_spellings(clinic: DuckdbDatabase) -> None:
    schema = clinic.schema
    assert list(schema.tables["staff"]) == ["id", "boss", "name", "full_name"]
    assert schema.tables["visits"]["cost"] == "DECIMAL(10,2)"
    assert schema.tables["visits"]["tags"] == "VARCHAR[]"
    assert {"adults", "recent", "ward_counts", "archive.old visits"} <= set(schema.tables)
    assert schema.primary_keys["visits"] == ("id",)
    assert schema.primary_keys["archive.old visits"] == ("id",)
    key = ForeignKey(table="visits", column="patient", to_table="patients", to_column="id")
    assert key in schema.foreign_keys
    assert schema.table_comments == {"patients": "Everyone who was ever admitted"}
    assert schema.column_comments == {"patients": {"died": "Date of death, if known"}}


def test_every_table_and_column_can_be_read_as_the_schema_writes_it(clinic: DuckdbDatabase) -> None:
    for table, columns in clinic.schema.tables.items():
        if table in ("recent", "recent_icu"):
            continue  # they ask for the machine's time
        names = ", ".join(clinic.schema.sql_of_column(table, column) for column in columns)
        sql = f"SELECT {names} FROM {clinic.schema.sql_of_table(table)} LIMIT 1"
        result = clinic.execute(sql)
        assert result.kind in ("rows", "empty"), (sql, result.error)


def test_odd_names_can_be_read_as_the_schema_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "odd.duckdb"
    names = ['"select"', '"a ""b"""', '"1st"', '"pivot"', "größe", '"MiXed case"', "Plain", '"a.b"']
    with duckdb.connect(str(path)) as made:
        for name in names:
            made.execute(f"CREATE TABLE {name} ({name} INTEGER, x INTEGER)")
        made.execute('CREATE SCHEMA "Old Data"; CREATE TABLE "Old Data"."T 1" ("C 1" INTEGER)')
        made.execute("CREATE TABLE pairs (a INTEGER, b INTEGER, PRIMARY KEY (b, a))")
        made.execute(
            "CREATE TABLE uses (a INTEGER, b INTEGER, FOREIGN KEY (b, a) REFERENCES pairs (b, a))"
        )
    with DuckdbDatabase.open(path) as database:
        schema = database.schema
        assert len(schema.tables) == len(names) + 3
        for table, columns in schema.tables.items():
            chosen = ", ".join(schema.sql_of_column(table, column) for column in columns)
            result = database.execute(f"SELECT {chosen} FROM {schema.sql_of_table(table)}")
            assert result.kind == "empty", (table, result.error)
        assert schema.primary_keys["pairs"] == ("b", "a")
        assert [(key.column, key.to_column) for key in schema.foreign_keys] == [
            ("b", "b"),
            ("a", "a"),
        ]


def test_a_thousand_tables_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "large.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(
            ";".join(f"CREATE TABLE t{n} (a INT, b INT, c INT, d INT)" for n in range(1000))
        )
    with DuckdbDatabase.open(path) as database:
        assert len(database.schema.tables) == 1000
        assert all(len(columns) == 4 for columns in database.schema.tables.values())


VALUES: list[tuple[str, Any]] = [
    ("true", 1),
    ("NULL", None),
    ("1.50::DECIMAL(10, 2)", 1.5),
    ("12::DECIMAL(38, 0)", 12),
    ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
    ("18446744073709551615::UBIGINT", 2**64 - 1),
    ("0.1::FLOAT::DOUBLE < 0.2", 1),
    ("'Infinity'::DOUBLE", float("inf")),
    ("DATE '2100-01-31'", "2100-01-31"),
    ("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)"),
    ("DATE '12000-01-01'", "12000-01-01"),
    ("TIMESTAMP '2100-01-31 08:00:00'", "2100-01-31 08:00:00"),
    ("TIMESTAMP '2100-01-31 08:00:00.5'", "2100-01-31 08:00:00.500000"),
    ("TIMESTAMPTZ '2100-01-31 08:00:00+02'", "2100-01-31 06:00:00+00:00"),
    ("TIME '10:30:00'", "10:30:00"),
    ("'10:30:00+02'::TIMETZ", "10:30:00+02"),
    ("INTERVAL '1 year 2 months 3 days'", "1 year 2 mons 3 days"),
    ("INTERVAL '12 hours'", "12:00:00"),
    ("UUID '6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("'ab\\xFF'::BLOB", b"ab\xff"),
    ("[1, 2.5]", "[1.0, 2.5]"),
    ("[1, NULL]", "[1, null]"),
    ("{'b': DATE '2100-01-01', 'a': [true]}", '{"a": [true], "b": "2100-01-01"}'),
    ("MAP {DATE '2100-01-01': 1.5}", '{"2100-01-01": 1.5}'),
    ("MAP {1: 'x'}", '{"1": "x"}'),
    ("array_value(1, 2)", "[1, 2]"),
    ("row(1, 'a')", '[1, "a"]'),
    ("'101'::BIT", "101"),
    ('\'{"b":1,"a":null}\'::JSON', '{"a": null, "b": 1}'),
    ("'x'::ENUM('x', 'y')", "x"),
    ("union_value(k := 1)", 1),
    ("'é' || chr(10)", "é\n"),
]


@pytest.mark.parametrize(("expression", "cell"), VALUES)
def test_each_type_becomes_a_cell(expression: str, cell: object, clinic: DuckdbDatabase) -> None:
    result = clinic._run(f"SELECT {expression}", 0.0)
    assert result.rows == ((cell,),), result.error


def test_intervals_keep_their_months_and_rows_their_order(clinic: DuckdbDatabase) -> None:
    result = clinic.execute("SELECT id, age(born) FROM patients ORDER BY id DESC LIMIT 3 -- last")
    assert [row[0] for row in result.rows] == [40, 39, 38]
    assert result.rows[0][1] == "4 years 4 mons 2 days"


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT nope FROM patients", "nope"),
        ("SELECT * FROM nope", "nope"),
        ("SELECT 'x'::INTEGER", "x"),
        ("SELECT 1 + [1]", "No function matches"),
        ("SELECT mean(name) FROM patients", "mean"),
    ],
)
def test_an_error_is_one_short_line(sql: str, says: str, clinic: DuckdbDatabase) -> None:
    result = clinic.execute(sql)
    assert result.kind == "error"
    assert says in str(result.error)
    assert "\n" not in str(result.error)
    assert len(str(result.error)) < 301
    assert "LINE 1" not in str(result.error)


@pytest.mark.slow
def test_a_million_rows_stream_to_the_cap_in_flat_memory(duckdb_clinic: Path) -> None:
    limits = Limits(rows=1_000_000, total=500_000_000, memory=250_000_000)
    with DuckdbDatabase.open(duckdb_clinic, limits=limits) as database:
        result = database.execute("SELECT range, range % 7 FROM range(20000000)")
        assert (len(result.rows), result.truncated) == (1_000_000, True)
        (worker,) = database._pool.idle
        status = Path(f"/proc/{worker._process.pid}/status")
        if status.exists():
            peak = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
            assert int(peak[0].split()[1]) < 200_000
        assert database.execute("SELECT 1").rows == ((1,),)


def test_rows_and_cells_are_cut_at_their_limits(duckdb_clinic: Path) -> None:
    limits = Limits(rows=5, cell=10)
    with DuckdbDatabase.open(duckdb_clinic, limits=limits) as database:
        rows = database.execute("SELECT * FROM range(100)")
        assert (len(rows.rows), rows.truncated, rows.cells_cut) == (5, True, False)
        cells = database.execute("SELECT repeat('a', 50), repeat('b', 50)::BLOB")
        assert cells.rows == (("a" * 10, b"b" * 10),)
        assert cells.cells_cut


def test_many_threads_share_few_workers(clinic: DuckdbDatabase) -> None:
    wrong: list[object] = []

    def ask(number: int) -> None:
        for _ in range(5):
            rows = clinic.execute(f"SELECT {number}, count(*) FROM visits").rows
            if rows != ((number, 300),):
                wrong.append(rows)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(clinic._pool.idle) <= 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_parent_and_child_each_go_on_after_a_fork(clinic: DuckdbDatabase) -> None:
    child = os.fork()
    if not child:
        same = clinic.execute("SELECT count(*) FROM wards").rows == ((4,),)
        clinic.close()
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert clinic.execute("SELECT count(*) FROM wards").rows == ((4,),)


def test_a_worker_that_was_killed_costs_no_query(duckdb_clinic: Path) -> None:
    with DuckdbDatabase.open(duckdb_clinic) as database:
        assert database.execute("SELECT 1").rows == ((1,),)
        database._pool.idle[0]._process.kill()
        database._pool.idle[0]._process.wait()
        assert database.execute("SELECT 2").rows == ((2,),)


def test_neither_this_process_nor_a_worker_for_sqlite_loads_duckdb(duckdb_clinic: Path) -> None:
    code = (
        "import sys; from sentinel_sql.database.opening import open_database\n"
        f"with open_database('duckdb:///{duckdb_clinic}') as d: d.execute('SELECT 1')\n"
        "assert 'duckdb' not in sys.modules and '_duckdb' not in sys.modules\n"
        "import sentinel_sql.database.worker.serve, sentinel_sql.database.sqlite.connection\n"
        "assert 'duckdb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def broken(kind: str, path: Path, whole: bytes) -> None:
    content = {
        "missing": None,
        "empty": b"",
        "text": b"patients\n" * 5000,
        "sqlite": b"SQLite format 3\0" + bytes(8000),
        "first bytes only": whole[:100],
        "first block only": whole[:4096],
        "header overwritten": whole[:4096] + b"x" * 8192 + whole[12288:],
        "blocks overwritten": whole[:12288] + b"x" * (len(whole) - 12288),
        "version overwritten": whole[:12] + b"\xfa" + whole[13:],
    }[kind]
    if content is not None:
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("missing", "isn't there"),
        ("empty", "no DuckDB database"),
        ("text", "no DuckDB database"),
        ("sqlite", "no DuckDB database"),
        ("first bytes only", "damaged"),
        ("first block only", "damaged"),
        ("header overwritten", "damaged"),
        ("blocks overwritten", "damaged"),
        ("version overwritten", "damaged"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(
    kind: str, says: str, tmp_path: Path, duckdb_clinic: Path
) -> None:
    path = tmp_path / "ward.duckdb"
    broken(kind, path, duckdb_clinic.read_bytes())
    with pytest.raises(DatabaseError, match=says) as caught:
        open_database(f"duckdb:///{path}")
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        "IO Error: Trying to read a database file with storage version number 999, but we can only "
        "read storage versions between 64 and 70.",
        'Error opening "x": file was written with a storage version greater than the latest '
        "version supported by this DuckDB instance. Try opening it with a newer version of DuckDB.",
    ],
)
def test_a_file_of_a_newer_duckdb_is_named_as_such(words: str) -> None:
    assert "another version of DuckDB" in str(fault(Path("x.duckdb"), words))


def test_a_file_cut_while_it_is_open_is_an_error_of_the_file(
    tmp_path: Path, duckdb_clinic: Path
) -> None:
    path = tmp_path / "ward.duckdb"
    whole = duckdb_clinic.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    tables = ("readings", "prescriptions", "events")
    queries = [f"SELECT sum(hash(t)) FROM {table} t" for table in tables]
    with (
        DuckdbDatabase.open(path, clock=CLOCK) as database,
        pytest.raises(DatabaseError, match="damaged"),
    ):
        list(map(database.execute, queries))


def test_a_file_that_another_program_writes_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "ward.duckdb"
    code = (
        f"import duckdb, sys; c = duckdb.connect({str(path)!r})\n"
        "c.execute('CREATE TABLE t (a INT)'); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(DatabaseError, match="open for writing in another program"):
            open_database(f"duckdb:///{path}")
        writer.communicate()
    with open_database(f"duckdb:///{path}") as database:
        assert list(database.schema.tables) == ["t"]


def test_a_file_without_tables_and_a_folder_are_refused(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "none.duckdb")).close()
    with pytest.raises(DatabaseError, match="holds no tables"):
        open_database(f"duckdb:///{tmp_path}/none.duckdb")
    with pytest.raises(DatabaseError, match="is a folder"):
        open_database(f"duckdb:///{tmp_path}")


def test_a_missing_extra_is_named_with_its_command(
    duckdb_clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"need the extra duckdb: .*install"):
        open_database(f"duckdb:///{duckdb_clinic}")


@pytest.mark.parametrize("clock", ["yesterday", "2100-13-01 00:00:00"])
def test_a_clock_that_is_no_time_is_refused(clock: str, duckdb_clinic: Path) -> None:
    with pytest.raises(InputError, match="is no time"):
        open_database(f"duckdb:///{duckdb_clinic}", clock=clock)


def test_a_closed_database_says_so(duckdb_clinic: Path) -> None:
    database = DuckdbDatabase.open(duckdb_clinic)
    database.close()
    with pytest.raises(DatabaseError, match="was closed"):
        database.execute("SELECT 1")
