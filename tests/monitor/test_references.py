"""References resolve as SQLite resolves them; joins are judged by the declared keys."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from run_cases import SCHEMA
from sentinel_sql.monitor.features.grounding import analyse_sql
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.schema import ForeignKey, Schema

KEYS = keys_of(SCHEMA)

RESOLVES = [
    "SELECT gender FROM patients",
    "SELECT p.gender FROM patients AS p WHERE p.subject_id = 3",
    "SELECT patients.gender FROM main.patients",
    "SELECT GENDER FROM Patients ORDER BY Dob",
    "SELECT COUNT(*) AS n FROM patients GROUP BY gender HAVING n > 2 ORDER BY n",
    "SELECT gender AS g FROM patients WHERE g = 'f'",
    "SELECT rowid, p._rowid_ FROM patients p",
    'SELECT * FROM patients WHERE gender = "f"',
    "SELECT p.*, a.hadm_id FROM patients p, admissions a WHERE p.subject_id = a.subject_id",
    "WITH x AS (SELECT subject_id AS s FROM patients) SELECT s FROM x",
    "WITH x(s) AS (SELECT subject_id FROM patients) SELECT x.s FROM x",
    "WITH x AS (SELECT * FROM patients) SELECT dob FROM x",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n",
    "SELECT s FROM (SELECT subject_id AS s FROM patients)",
    "SELECT t.gender FROM (SELECT * FROM patients) t",
    "SELECT * FROM admissions a WHERE EXISTS (SELECT 1 FROM labevents WHERE hadm_id = a.hadm_id)",
    "SELECT * FROM admissions WHERE EXISTS (SELECT 1 FROM d_labitems WHERE admittime = label)",
    "SELECT hadm_id FROM admissions JOIN labevents USING (hadm_id)",
    "SELECT valuenum FROM admissions NATURAL JOIN labevents",
    "SELECT name FROM sqlite_master",
    "SELECT value FROM json_each('[1, 2]')",
    "SELECT label FROM d_labitems UNION SELECT drug FROM prescriptions ORDER BY 1",
    "SELECT RANK() OVER (PARTITION BY drug ORDER BY row_id) FROM prescriptions",
    "SELECT (SELECT MAX(valuenum) FROM labevents l WHERE l.hadm_id = a.hadm_id) FROM admissions a",
    "SELECT x.n FROM (SELECT COUNT(*) AS n, drug FROM prescriptions GROUP BY drug) x",
    "SELECT CASE WHEN gender = 'f' THEN dob END FROM patients",
    "SELECT strftime('%Y', dob), CURRENT_TIMESTAMP FROM patients",
    "VALUES (1, 2)",
]

FAILS = [
    ("SELECT missing FROM patients", 1),
    ("SELECT * FROM nowhere", 1),
    # Columns of a table that doesn't exist can't be told right from wrong.
    ("SELECT n.a, b FROM nowhere n WHERE n.c = 1", 1),
    ("SELECT p.drug FROM patients p", 1),
    ("SELECT x.gender FROM patients p", 1),
    # An alias hides the table's own name.
    ("SELECT patients.gender FROM patients p", 1),
    ("SELECT gender, drug, route FROM patients", 2),
    ("WITH x AS (SELECT subject_id AS s FROM patients) SELECT subject_id FROM x", 1),
    ("SELECT gender FROM (SELECT dob FROM patients)", 1),
    ("SELECT * FROM admissions WHERE EXISTS (SELECT 1 FROM labevents WHERE drug = 'x')", 1),
    ("SELECT label FROM d_labitems UNION SELECT label FROM prescriptions", 1),
    ("SELECT * FROM admissions JOIN d_labitems USING (hadm_id)", 1),
    ("SELECT * FROM patients p JOIN (SELECT p.gender AS g) q ON q.g = p.gender", 1),
    ("SELECT * FROM labevents WHERE hadm_id IN (SELECT hadm_id FROM missing)", 1),
    ("SELECT * FROM admissions ORDER BY charttime", 1),
    ("WITH x AS (SELECT missing FROM patients) SELECT 1 FROM x", 1),
]


@pytest.mark.parametrize("sql", RESOLVES)
def test_query_that_sqlite_accepts_has_no_failed_reference(sql: str) -> None:
    assert _sqlite_says(sql) is None
    assert analyse_sql(sql, Surroundings(keys=KEYS)).references.failed == 0


@pytest.mark.parametrize(("sql", "count"), FAILS)
def test_each_reference_that_sqlite_refuses_is_counted(sql: str, count: int) -> None:
    said = _sqlite_says(sql)
    assert said is not None
    assert "no such" in said or "cannot join using" in said
    assert analyse_sql(sql, Surroundings(keys=KEYS)).references.failed == count


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT 1 FROM labevents l JOIN admissions a ON l.hadm_id = a.hadm_id", 0),
        ("SELECT 1 FROM admissions a JOIN labevents l ON a.hadm_id = l.hadm_id", 0),
        ("SELECT 1 FROM labevents JOIN admissions USING (hadm_id)", 0),
        # Both lead to one key.
        ("SELECT 1 FROM labevents l JOIN prescriptions p ON l.hadm_id = p.hadm_id", 0),
        ("SELECT 1 FROM admissions a, admissions b WHERE a.hadm_id = b.hadm_id", 0),
        ("SELECT 1 FROM labevents l JOIN prescriptions p ON l.row_id = p.row_id", 1),
        ("SELECT 1 FROM labevents l, prescriptions p WHERE p.row_id = l.row_id", 1),
        ("SELECT 1 FROM labevents JOIN prescriptions USING (row_id)", 1),
        ("SELECT 1 FROM labevents l JOIN d_labitems d ON l.row_id = d.itemid AND l.itemid = 1", 1),
        # Through derived tables and common table expressions, to the column behind them.
        (
            "SELECT 1 FROM (SELECT hadm_id AS h FROM labevents) x JOIN admissions a "
            "ON x.h = a.hadm_id",
            0,
        ),
        (
            "WITH x AS (SELECT row_id AS r FROM labevents) "
            "SELECT 1 FROM x JOIN prescriptions p ON x.r = p.row_id",
            1,
        ),
        # A nested query that depends on the one around it joins with it.
        (
            "SELECT 1 FROM labevents l WHERE EXISTS "
            "(SELECT 1 FROM prescriptions p WHERE p.row_id = l.row_id)",
            1,
        ),
        # No join: one table, a constant, an inequality, an expression, an unknown column.
        ("SELECT 1 FROM labevents l WHERE l.row_id = l.itemid", 0),
        ("SELECT 1 FROM labevents l, prescriptions p WHERE l.row_id = 4", 0),
        ("SELECT 1 FROM labevents l, prescriptions p WHERE l.row_id < p.row_id", 0),
        ("SELECT 1 FROM labevents l JOIN prescriptions p ON l.row_id = p.row_id + 1", 0),
        ("SELECT 1 FROM labevents l JOIN nowhere n ON l.row_id = n.row_id", 0),
    ],
)
def test_joins_without_a_declared_key_are_counted(sql: str, count: int) -> None:
    assert analyse_sql(sql, Surroundings(keys=KEYS)).references.bad_joins == count


def test_chain_of_keys_justifies_a_join() -> None:
    chain = Schema(
        tables={name: {"id": "INT"} for name in "abc"},
        foreign_keys=(
            ForeignKey(table="a", column="id", to_table="b", to_column="id"),
            ForeignKey(table="b", column="id", to_table="c", to_column="id"),
        ),
    )
    joined = analyse_sql("SELECT 1 FROM a JOIN c ON a.id = c.id", Surroundings(keys=keys_of(chain)))
    assert joined.references.bad_joins == 0


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "no SQL at all",
        "SELECT FROM WHERE",
        "DROP TABLE patients",
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT missing FROM patients WHERE " + " OR ".join(["nothing = 1"] * 1500),
        "SELECT 1 " + "UNION SELECT 1 " * 1200,
        "SELECT " + "-" * 15000 + "1",
        "SELECT " + "NOT " * 4000 + "1",
        "SELECT " + "CASE WHEN 1 THEN " * 1000 + "1" + " END" * 1000,
        "SELECT 'x\x00y",
        "PRAGMA table_info(patients)",
    ],
)
def test_unreadable_and_hostile_sql_ends_soon(sql: str) -> None:
    analysis = analyse_sql(sql, Surroundings(keys=KEYS))
    assert analysis.references.bad_joins == 0


def test_gold_queries_of_real_data_resolve(shared_data: Path, mimic_iv: Path) -> None:
    keys = keys_of(_schema_of(mimic_iv))
    tasks = []
    for split in ("train", "valid"):
        path = shared_data / "ehrsql2024" / f"tasks_{split}.jsonl.gz"
        with gzip.open(path, "rt") as lines:
            tasks += [json.loads(line) for line in lines][::20]
    queries = [task["gold_sql_exec"] for task in tasks if task["answerable"]]
    flagged = [
        sql for sql in queries if analyse_sql(sql, Surroundings(keys=keys)).references.failed
    ]
    assert len(queries) > 250
    assert flagged == []


def test_recorded_queries_agree_with_the_database(shared_data: Path, mimic_iv: Path) -> None:
    keys = keys_of(_schema_of(mimic_iv))
    path = shared_data / "recordings" / "qwen2.5-coder-1.5b" / "ehrsql2024.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        steps = [step for line in lines for step in json.loads(line)["steps"] if step["sql"]]
    missed = false_alarms = 0
    for sql, observation in {step["sql"]: step["observation"] for step in steps}.items():
        failed = analyse_sql(sql, Surroundings(keys=keys)).references.failed
        if observation["kind"] in ("rows", "empty"):
            false_alarms += failed > 0
        elif "no such column" in observation["error"] or "no such table" in observation["error"]:
            missed += failed == 0
    assert (missed, false_alarms) == (0, 0)


def _sqlite_says(sql: str) -> str | None:
    """Return SQLite's own complaint about a query over the test schema, or None."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table, columns in SCHEMA.tables.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        try:
            connection.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            return str(error)
        return None


def _schema_of(path: Path) -> Schema:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [name for (name,) in listed.fetchall()]
        columns = {
            table: {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }
        keys = tuple(
            ForeignKey(table=table, column=row[3], to_table=row[2], to_column=row[4])
            for table in tables
            for row in connection.execute(f"PRAGMA foreign_key_list({table})")
        )
    return Schema(tables=columns, foreign_keys=keys)
