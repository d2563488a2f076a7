"""The schema as a record: JSON, hash, and names as SQL writes them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.errors import InputError
from sentinel_sql.schema import ForeignKey, Schema, written

NAMES = st.text(min_size=1, max_size=4)
TEXTS = st.dictionaries(NAMES, NAMES, max_size=3)
NESTED = st.dictionaries(NAMES, TEXTS, max_size=3)
SCHEMAS = st.builds(
    Schema,
    tables=NESTED,
    foreign_keys=st.lists(
        st.builds(ForeignKey, table=NAMES, column=NAMES, to_table=NAMES, to_column=NAMES),
        max_size=2,
    ).map(tuple),
    primary_keys=st.dictionaries(NAMES, st.lists(NAMES, max_size=2).map(tuple), max_size=2),
    table_sql=TEXTS,
    column_sql=NESTED,
    table_comments=TEXTS,
    column_comments=NESTED,
)
WARD = Schema(tables={"ward": {"id": "INT", "name": "TEXT"}})


@given(SCHEMAS)
def test_json_keeps_every_part_of_a_schema(schema: Schema) -> None:
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@given(SCHEMAS)
def test_only_tables_and_foreign_keys_make_the_hash(schema: Schema) -> None:
    bare = Schema(tables=schema.tables, foreign_keys=schema.foreign_keys)
    assert schema.sha256 == bare.sha256
    assert replace(bare, tables={**bare.tables, "one more": {}}).sha256 != bare.sha256


def test_hash_and_json_of_a_plain_schema_stay_those_of_earlier_versions() -> None:
    assert WARD.to_json() == {
        "tables": {"ward": {"id": "INT", "name": "TEXT"}},
        "foreign_keys": [],
    }
    assert WARD.sha256 == "910d59bc5b4a4dfc9b22518ed9c834b57d963eed09af49ea3be13b5d5abb407b"


def test_names_are_written_as_recorded_and_else_as_the_key() -> None:
    schema = replace(
        WARD,
        tables={"stay.ward": {"patient visits": "INT", "name": "TEXT"}, "ward": {"name": "TEXT"}},
        table_sql={"stay.ward": "stay.ward"},
        column_sql={"stay.ward": {"patient visits": '"Patient Visits"'}},
    )
    assert schema.sql_of_table("stay.ward") == "stay.ward"
    assert schema.sql_of_column("stay.ward", "patient visits") == '"Patient Visits"'
    assert schema.sql_of_column("ward", "patient visits") == written("patient visits")
    assert schema.sql_of_table("ward") == "ward"


@pytest.mark.parametrize(
    "part",
    [
        {"tables": ["ward"]},
        {"foreign_keys": [["ward"]]},
        {"primary_keys": {"ward": "id"}},
        {"primary_keys": ["id"]},
        {"table_sql": "ward"},
        {"column_sql": {"ward": "id"}},
        {"column_comments": {"ward": ["id"]}},
    ],
    ids=str,
)
def test_damaged_json_is_refused_as_no_schema(part: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="the schema can't be read"):
        Schema.from_json(WARD.to_json() | part)
