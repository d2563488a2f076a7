"""Probes: counted by rewriting, held against counts that were made otherwise, and bounded."""

from __future__ import annotations

import difflib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.database.executor import Database, ExecutionResult, Limits
from sentinel_sql.database.probes.probe import PROBE_LIMITS, NearMiss, Prober, Probing
from sentinel_sql.database.probes.text_lookups import nearest
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import DatabaseError
from sentinel_sql.testing import CLOCK, tiny_database


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    path = tiny_database(tmp_path_factory.mktemp("probes") / "tiny.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            INSERT INTO admissions VALUES (13, 3, NULL, NULL);
            INSERT INTO prescriptions VALUES (103, 12, 'Aspirin', NULL), (104, 12, NULL, NULL);
            """
        )
    # Time enough on any machine; what can't be told in time is a test of its own.
    limits = replace(PROBE_LIMITS, seconds=60.0)
    with SqliteDatabase.open(path, clock=CLOCK, limits=limits) as opened:
        yield opened


def patient(database: Database) -> Prober:
    return Prober(database, seconds=600.0)


JOINED = (
    "FROM patients p JOIN admissions a ON p.subject_id = a.subject_id "
    "JOIN prescriptions r ON r.hadm_id = a.hadm_id"
)


@pytest.mark.parametrize(
    ("sql", "chain"),
    [
        ("SELECT COUNT(*) FROM patients", (3,)),
        ("SELECT subject_id FROM patients WHERE gender = 'f' LIMIT 1", (2,)),
        (f"SELECT COUNT(DISTINCT p.subject_id) {JOINED}", (3, 4, 5)),
        (f"SELECT 1 {JOINED} WHERE p.gender = 'f' AND r.drug = 'heparin'", (2, 3, 1)),
        (f"SELECT 1 {JOINED} WHERE gender = 'f' AND insurance = 'other'", (2, 1, 1)),
        (f"SELECT 1 {JOINED} WHERE p.gender = 'f' OR r.drug = 'heparin'", (3, 4, 3)),
        ("SELECT p.gender, COUNT(*) FROM patients p, admissions a WHERE p.subject_id = "
         "a.subject_id GROUP BY 1 HAVING COUNT(*) > 1 ORDER BY 2 LIMIT 1", (3, 4)),
        ("SELECT 1 FROM admissions LEFT JOIN prescriptions USING (hadm_id) "
         "WHERE insurance = 'other' AND drug IS NULL", (2, 1)),
        ("SELECT COUNT(*) > 0 FROM admissions WHERE subject_id IN (SELECT subject_id FROM "
         "patients WHERE gender = 'm')", (1,)),
        ("SELECT 1 FROM patients p JOIN admissions a ON a.subject_id = p.subject_id WHERE EXISTS "
         "(SELECT 1 FROM prescriptions WHERE prescriptions.hadm_id = a.hadm_id)", (3, 3)),
        ("SELECT COUNT(*) FROM (SELECT a.hadm_id FROM patients p JOIN admissions a ON "
         "p.subject_id = a.subject_id WHERE p.gender = 'f')", (2, 3)),
        ("WITH f AS (SELECT * FROM patients WHERE gender = 'f') SELECT COUNT(*) FROM f JOIN "
         "admissions a ON a.subject_id = f.subject_id WHERE a.hadm_id > 10", (2, 2)),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT subject_id FROM admissions)", (3,)),
        ("SELECT 1", ()),
        ("SELECT gender FROM patients UNION SELECT insurance FROM admissions", ()),
    ],
)  # fmt: skip
def test_the_chain_counts_rows_join_by_join(
    database: SqliteDatabase, sql: str, chain: tuple[int, ...]
) -> None:
    assert patient(database).probe(sql).chain == chain


conditions = st.sampled_from(
    ["p.gender = 'f'", "gender <> 'm'", "a.insurance IS NULL", "insurance IN ('other', 'x')",
     "r.drug LIKE '%in'", "drug IS NOT NULL", "p.subject_id < a.hadm_id - 9", "r.row_id > 100",
     "a.hadm_id IN (SELECT hadm_id FROM prescriptions WHERE drug = 'heparin')",
     "EXISTS (SELECT 1 FROM prescriptions x WHERE x.hadm_id = a.hadm_id AND p.gender = 'f')",
     "(r.drug = 'heparin' OR p.gender = 'f')", "p.gender = 'f'"]
)  # fmt: skip
chains = st.builds(
    lambda first, second, glue, parts: (
        f"FROM patients p {first} admissions a ON p.subject_id = a.subject_id "
        f"{second} prescriptions r ON r.hadm_id = a.hadm_id"
        + (f" WHERE {f' {glue} '.join(parts)}" if parts else "")
    ),
    st.sampled_from(["JOIN", "LEFT JOIN"]),
    st.sampled_from(["JOIN", "LEFT JOIN"]),
    st.sampled_from(["AND", "AND", "OR"]),
    st.lists(conditions, max_size=4),
)


@given(chains)
def test_a_chain_ends_with_the_rows_that_the_query_itself_reads(
    database: SqliteDatabase, joined: str
) -> None:
    chain = patient(database).probe(f"SELECT p.gender, COUNT(*) {joined} GROUP BY 1").chain
    assert len(chain) == 3
    assert chain[-1] == database.execute(f"SELECT COUNT(*) {joined}").rows[0][0]
    assert chain[0] is not None
    assert chain[0] <= 3


def test_nulls_are_shares_of_each_result_column(database: SqliteDatabase) -> None:
    def nulls(sql: str) -> tuple[float | None, ...]:
        return patient(database).probe(sql).nulls

    assert nulls("SELECT hadm_id, insurance, insurance FROM admissions -- all") == (0, 0.25, 0.25)
    assert nulls("SELECT MAX(admittime) FROM admissions WHERE insurance = 'none';") == (1.0,)
    assert nulls("SELECT hadm_id FROM admissions WHERE insurance = 'none'") == ()
    assert nulls("SELECT 1 AS a UNION ALL SELECT NULL") == (0.5,)
    assert len(nulls(f"SELECT {', '.join(['1'] * 60)}")) == 30


@pytest.mark.parametrize(
    ("sql", "lookups", "missed"),
    [
        ("SELECT 1 FROM prescriptions WHERE drug = 'heparin'", 1, []),
        ("SELECT 1 FROM prescriptions WHERE drug = 'aspirin'", 1, [("aspirin", "Aspirin", 1.0)]),
        ("SELECT 1 FROM prescriptions WHERE lower(drug) = 'aspirin'", 1, []),
        ("SELECT 1 FROM prescriptions r WHERE r.drug LIKE '%asprin%'", 1,
         [("%asprin%", "Aspirin", 0.9231)]),
        ("SELECT 1 FROM prescriptions WHERE drug LIKE '%flush%' OR drug IN ('heprin', 'heparin')",
         3, [("heprin", "heparin", 0.9231)]),
        ("SELECT 1 FROM admissions WHERE hadm_id IN (SELECT hadm_id FROM prescriptions WHERE "
         "'heparine' = drug)", 1, [("heparine", "heparin", 0.9333)]),
        ("SELECT 1 FROM prescriptions WHERE starttime = '2099-01-01' AND hadm_id = '7'", 0, []),
        ("WITH d AS (SELECT drug AS x FROM prescriptions) SELECT 1 FROM d WHERE x = 'y'", 0, []),
        ("SELECT 1 FROM prescriptions WHERE drug <> 'zzz' AND drug = drug", 0, []),
    ],
)  # fmt: skip
def test_a_text_that_no_row_has_gets_its_nearest(
    database: SqliteDatabase, sql: str, lookups: int, missed: list[tuple[str, str, float]]
) -> None:
    found = patient(database).probe(sql)
    assert found.lookups == lookups
    assert [(x.literal, x.value, x.similarity) for x in found.near_misses] == missed


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=12))
def test_nearest_is_the_best_by_brute_force(text: str, values: list[str]) -> None:
    def like(value: str) -> float:
        a, b = (" ".join(x.casefold().split()) for x in (value, text))
        return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()

    found = nearest(text, values)
    if not values:
        assert found is None
    else:
        assert found is not None
        assert found == (values[[like(v) for v in values].index(max(map(like, values)))], found[1])
        assert found[1] == max(map(like, values))


def test_a_probe_that_is_too_slow_is_not_known(database: SqliteDatabase, tmp_path: Path) -> None:
    path = tmp_path / "wide.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (x INTEGER, note TEXT)")
        made.executemany("INSERT INTO t VALUES (?, ?)", ((n, f"n{n}") for n in range(6_000)))
        made.commit()
    with SqliteDatabase.open(path, clock=CLOCK, limits=Limits(seconds=1.0, rows=5_001)) as opened:
        started = time.monotonic()
        found = patient(opened).probe("SELECT 1 FROM t a, t b, t c, t d LIMIT 1")
        assert time.monotonic() - started < 60, "three counts of a second each, and no more"
        assert found.chain[0] == 6_000
        assert found.chain[-1] is None
        many = patient(opened).probe("SELECT 1 FROM t WHERE note = 'nothing'")
        assert many.near_misses == (NearMiss(literal="nothing", column="t.note"),)
        none_left = Prober(opened, seconds=0.0).probe("SELECT 1 FROM t WHERE note = 'nothing'")
        assert none_left == Probing(chain=(None,), lookups=0)


class Broken:
    """A database that fails whenever it is asked."""

    name, clock = "broken", CLOCK

    def __init__(self, inner: SqliteDatabase) -> None:
        self.schema = inner.schema

    def execute(self, sql: str) -> ExecutionResult:
        raise DatabaseError("the disk is gone")

    def close(self) -> None:
        """Close nothing."""


sqlish = st.lists(
    st.sampled_from(
        ["SELECT", "*", "FROM", "patients", "JOIN", "ON", "a", ".", "gender", "=", "'f'", "WHERE",
         "(", ")", ",", "AND", "IN", "LIKE", "UNION", "WITH", "AS", ";", "--", '"', "'", "NULL"]
    ),
    max_size=25,
).map(" ".join)  # fmt: skip


@given(sqlish | st.text(max_size=40))
def test_nothing_that_is_probed_raises(database: SqliteDatabase, sql: str) -> None:
    found = patient(database).probe(sql)
    assert all(share is None or 0 <= share <= 1 for share in found.nulls)
    patient(Broken(database)).probe(sql)


def test_a_hostile_query_is_bounded(database: SqliteDatabase) -> None:
    started = time.monotonic()
    deep = f"SELECT {'(' * 5_000}1{')' * 5_000}"
    wide = "SELECT 1 FROM patients WHERE gender IN (" + ", ".join(["'q'"] * 5_000) + ")"
    for sql in (deep, wide, "SELECT 1 FROM patients WHERE gender = '" + "q" * 90_000 + "'"):
        patient(database).probe(sql)
    assert time.monotonic() - started < 60
    names = [f"'n{n}x'" for n in range(500)]
    many = f"SELECT 1 FROM prescriptions WHERE drug IN ({', '.join(names)})"
    assert patient(database).probe(many).lookups == 8
