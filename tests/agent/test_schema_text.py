"""What an agent is shown of a database: names, comments, dialect, and some tables of many."""

from __future__ import annotations

import time

import pytest

from sentinel_sql.agent.advice import advice
from sentinel_sql.agent.prompt import LONG, PROMPTS, Prompt
from sentinel_sql.agent.schema_text import LONGEST_COMMENT, describe, shown_schema
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.features.grounding import analyse_sql
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.schema import ForeignKey, Schema
from sentinel_sql.trajectory.record import Observation

CLOCK = "2100-12-31 23:59:00"
CLINIC = Schema(
    tables={
        "patients": {"id": "integer", "name": "text", "dob": "timestamp"},
        "patient visits": {"id": "integer", "visit no": "integer", "admittime": "timestamp"},
        "stay.ward": {"id": "integer", "label": "text"},
    },
    foreign_keys=(
        ForeignKey(table="patient visits", column="id", to_table="patients", to_column="id"),
        ForeignKey(table="patient visits", column="visit no", to_table="stay.ward", to_column="id"),
    ),
    table_sql={"patient visits": '"Patient Visits"', "stay.ward": "stay.ward"},
    column_sql={"patient visits": {"visit no": '"Visit No"'}},
    table_comments={"patients": "One row per\n patient."},
    column_comments={"patients": {"dob": "date of birth", "gone": "no such column"}},
)
LARGE = Schema(
    tables={
        f"table_{number}": {f"column_{place}": "text" for place in range(20)} | {"id": "integer"}
        for number in range(1_000)
    },
    foreign_keys=tuple(
        ForeignKey(table=f"table_{n}", column="id", to_table=f"table_{n - 1}", to_column="id")
        for n in range(1, 1_000)
    ),
)


def test_names_and_comments_are_shown_as_sql_writes_them_and_on_one_line() -> None:
    assert describe(CLINIC) == (
        "patients(id, name, dob) -- One row per patient.\n"
        "  dob: date of birth\n"
        '"Patient Visits"(id, "Visit No", admittime)\n'
        "stay.ward(id, label)\n"
        "Joins:\n"
        '"Patient Visits".id -> patients.id\n'
        '"Patient Visits"."Visit No" -> stay.ward.id'
    )


def test_a_comment_can_neither_fill_the_prompt_nor_begin_a_line_of_its_own() -> None:
    said = "SQL: DROP\u2028\x00 " + "x" * 5_000
    schema = Schema(tables={"t": {"c": "text"}}, column_comments={"t": {"c": said}})
    first, second = describe(schema).splitlines()
    assert first == "t(c)"
    assert second.startswith("  c: SQL: DROP x")
    assert second.isprintable()
    assert len(second) <= LONGEST_COMMENT + 10


@pytest.mark.parametrize(
    ("dialect", "name", "like"),
    [
        ("sqlite", "SQLite", " LIKE "),
        ("postgres", "PostgreSQL", " ILIKE "),
        ("duckdb", "DuckDB", " ILIKE "),
        ("tsql", "tsql", " ILIKE "),
    ],
)
def test_rules_name_the_dialect_and_its_way_to_look_a_name_up(
    dialect: str, name: str, like: str
) -> None:
    prompt = Prompt.build(CLINIC, CLOCK, dialect=dialect)
    assert f"questions about a {name} database" in prompt.system
    assert f"WHERE column{like}'%word%'" in prompt.system
    assert f"WHERE label{like}'%sample%'" in str(prompt.examples)
    assert all(name in Prompt.build(CLINIC, CLOCK, name=n, dialect=dialect).system for n in PROMPTS)


def test_examples_show_the_errors_and_functions_of_time_of_the_dialect() -> None:
    shown = {
        dialect: str(Prompt.build(CLINIC, CLOCK, dialect=dialect).examples)
        for dialect in ("sqlite", "postgres", "duckdb")
    }
    assert "no such column: label" in shown["sqlite"]
    assert 'column "label" does not exist' in shown["postgres"]
    assert 'Referenced column "label" not found' in shown["duckdb"]
    assert "EXTRACT" not in shown["sqlite"]
    for dialect in ("postgres", "duckdb"):
        assert "EXTRACT(YEAR FROM admittime) = 2099 AND EXTRACT(MONTH FROM" in shown[dialect]
        assert '"Patient Visits"' in shown[dialect]


@pytest.mark.parametrize(
    ("tables", "within", "kept"),
    [
        (["patients"], None, ["patients"]),
        (["stay.ward", " PATIENTS"], None, ["patients", "stay.ward"]),
        (['"Patient Visits"'], None, ["patient visits"]),
        ([], "stay", ["stay.ward"]),
        ([], "public", ["patients", "patient visits"]),
        (["ward"], "stay", ["stay.ward"]),
        ([], None, ["patients", "patient visits", "stay.ward"]),
    ],
)
def test_the_agent_is_shown_the_tables_that_are_asked_for(
    tables: list[str], within: str | None, kept: list[str]
) -> None:
    shown = shown_schema(CLINIC, tables=tables, within=within)
    assert list(shown.tables) == kept
    assert {key.table for key in shown.foreign_keys} | {
        key.to_table for key in shown.foreign_keys
    } <= set(kept)


@pytest.mark.parametrize(
    ("tables", "within", "words"),
    [
        (["patiens"], None, "did you mean patients"),
        (["patients", "invoice"], None, "no table 'invoice'"),
        (["patients"], "stay", "no table 'patients'"),
        ([], "billing", "choose one of stay"),
        ([","], None, "no table ','"),
    ],
)
def test_unknown_tables_and_schemas_are_refused_with_the_nearest_name(
    tables: list[str], within: str | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        shown_schema(CLINIC, tables=tables, within=within)


def test_other_tables_shown_make_another_agent() -> None:
    few = shown_schema(CLINIC, tables=["patients"])
    assert Prompt.build(few, CLOCK).sha256 != Prompt.build(CLINIC, CLOCK).sha256


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("no such column: p.dob", "dob is a column of patients."),
        ('column "dob" does not exist', "dob is a column of patients."),
        ("column p.dob does not exist", "dob is a column of patients."),
        ('column "Visit No" does not exist', '"Visit No" is a column of "Patient Visits".'),
        ('Binder Error: Referenced column "dob" not found in FROM clause!', "column of patients."),
        ('Binder Error: Table "p" does not have a column named "dob"', "column of patients."),
        ('column "phone" does not exist', "nothing has phone."),
        ('relation "persons" does not exist', "the tables are patients,"),
        ('missing FROM-clause entry for table "x"', "the tables are patients,"),
        ("Catalog Error: Table with name persons does not exist!", '"Patient Visits", stay.ward.'),
        ('Binder Error: Referenced table "x" not found!', "the tables are patients,"),
        ("no such table: persons", "the tables are patients,"),
        ("division by zero", "use the tables and columns listed above"),
    ],
)
def test_advice_reads_the_error_of_each_database(error: str, words: str) -> None:
    seen = Observation(kind="error", error=error, text=f"ERROR: {error}")
    said = advice(seen, repeated=False, schema=CLINIC)
    assert said is not None
    assert words in said


def test_a_large_schema_is_walked_within_a_second_and_named_by_its_nearest_tables() -> None:
    started = time.perf_counter()
    prompt = Prompt.build(LARGE, CLOCK, dialect="postgres")
    few = shown_schema(LARGE, tables=["table_7", "table_8"])
    seen = Observation(kind="error", error='relation "table_99x" does not exist')
    said = advice(seen, repeated=False, schema=LARGE)
    around = Surroundings(keys=keys_of(LARGE), dialect="postgres")
    sql = "SELECT a.column_1 FROM table_5 a JOIN table_4 b ON a.id = b.id"
    assert analyse_sql(sql, around).references.bad_joins == 0
    # 2 cores and other tests beside it: ten times the second that it may take alone
    assert time.perf_counter() - started < 10
    assert prompt.characters > LONG
    assert few.tables.keys() == {"table_7", "table_8"}
    assert said is not None
    assert len(said) < 200
    assert "table_99" in said
