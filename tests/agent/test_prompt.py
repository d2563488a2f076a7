from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

from sentinel_sql.agent.action import parse_reply
from sentinel_sql.agent.examples import worked_examples
from sentinel_sql.agent.prompt import PROMPTS, Prompt, as_turns, describe
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.schema import ForeignKey, Schema
from sentinel_sql.testing import CLOCK, tiny_database

SCHEMA = Schema(
    tables={
        "visits": {"visit_id": "INTEGER", "ward_id": "INTEGER", "begun": "TIMESTAMP"},
        "wards": {"ward_id": "INTEGER", "ward_name": "TEXT"},
    },
    foreign_keys=(
        ForeignKey(table="visits", column="ward_id", to_table="wards", to_column="ward_id"),
    ),
)


@pytest.mark.parametrize("name", PROMPTS)
def test_every_wording_shows_schema_clock_and_the_actions(name: str) -> None:
    system = Prompt.build(SCHEMA, CLOCK, name=name).system
    for part in (
        "visits(visit_id, ward_id, begun)",
        "visits.ward_id -> wards.ward_id",
        CLOCK,
        "SQL: ",
        "FINAL_SQL: ",
        "FINAL: null",
        "SQLite",
    ):
        assert part in system
    assert "{" not in system


def test_two_wordings_are_two_agents() -> None:
    prompts = [Prompt.build(SCHEMA, CLOCK, name=name) for name in PROMPTS]
    assert len({prompt.sha256 for prompt in prompts}) == len(prompts) >= 2
    assert Prompt.build(SCHEMA, CLOCK).sha256 == Prompt.build(SCHEMA, CLOCK).sha256


def test_notes_and_examples_of_the_user_stand_in_the_prompt_and_change_its_hash() -> None:
    plain = Prompt.build(SCHEMA, CLOCK)
    noted = Prompt.build(SCHEMA, CLOCK, notes="  wards are written in capitals\n")
    assert "Notes:\nwards are written in capitals" in noted.system
    own = Prompt.build(SCHEMA, CLOCK, examples=["QUESTION: mine?\nFINAL: null"])
    assert own.messages[1:] == [
        {"role": "user", "content": "QUESTION: mine?"},
        {"role": "assistant", "content": "FINAL: null"},
    ]
    assert len(Prompt.build(SCHEMA, CLOCK, examples=()).messages) == 1
    assert len({plain.sha256, noted.sha256, own.sha256}) == 3


def test_schema_is_described_in_short_lines(mimic_iv: Path) -> None:
    with SqliteDatabase.open(mimic_iv, clock=CLOCK) as database:
        told = describe(database.schema)
    assert len(told.splitlines()) == 17 + 1 + len(database.schema.foreign_keys)
    assert len(told) < 3_000


def example_turns(schema: Schema) -> list[str]:
    """What the assistant says in all examples."""
    messages = Prompt.build(schema, CLOCK).messages
    return [message["content"] for message in messages if message["role"] == "assistant"]


def test_an_example_becomes_turns_of_question_result_and_reply() -> None:
    example = "QUESTION: who?\nof those\nTHOUGHT: a\nSQL: SELECT 1\nFROM t\nRESULT: b\nFINAL: null"
    assert as_turns(example) == [
        {"role": "user", "content": "QUESTION: who?\nof those"},
        {"role": "assistant", "content": "THOUGHT: a\nSQL: SELECT 1\nFROM t"},
        {"role": "user", "content": "RESULT: b"},
        {"role": "assistant", "content": "FINAL: null"},
    ]


def test_the_examples_are_in_the_form_that_the_parser_reads() -> None:
    kinds = [parse_reply(turn).kind for turn in example_turns(SCHEMA)]
    assert kinds == ["sql", *["final_sql"] * 4, "final_null"]
    for turn in example_turns(SCHEMA):
        sql = parse_reply(turn).sql
        if sql is not None:
            sqlglot.parse_one(sql, dialect="sqlite")


def test_the_examples_run_on_the_database_that_they_are_made_for(
    mimic_iv: Path, tmp_path: Path
) -> None:
    for path in (mimic_iv, tiny_database(tmp_path / "tiny.sqlite")):
        with SqliteDatabase.open(path, clock=CLOCK) as database:
            queries = [parse_reply(turn).sql for turn in example_turns(database.schema)]
            kinds = [database.execute(query).kind for query in queries if query]
        # The second query is the one that the example corrects.
        assert kinds[2] == "error"
        assert set(kinds[:2] + kinds[3:]) <= {"rows", "empty"}
        assert len(queries) == 6


def test_what_a_schema_cannot_show_is_left_out() -> None:
    assert worked_examples(Schema(tables={"t": {"a": "INTEGER"}}), CLOCK) == (
        "QUESTION: What is the phone number of the person seen last?\n"
        "THOUGHT: No table and no column is about a phone number.\nFINAL: null",
    )
    with_phone = Schema(tables={"t": {"phone": "TEXT"}})
    assert "phone number" not in worked_examples(with_phone, CLOCK)[-1]
