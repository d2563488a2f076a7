"""One table makes cells of the values of every driver."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.cells import cell_of, json_cell

EAST = timezone(timedelta(hours=5, minutes=30))


class Level(IntEnum):
    HIGH = 3


CELLS: list[tuple[Any, Any]] = [
    (None, None),
    (True, 1),
    (False, 0),
    (0, 0),
    (2**127 - 1, 2**127 - 1),
    (1.5, 1.5),
    (-0.0, -0.0),
    ("é\n", "é\n"),
    ("", ""),
    (b"\x00\xff", b"\x00\xff"),
    (bytearray(b"ab"), b"ab"),
    (memoryview(b"ab"), b"ab"),
    (Decimal(12), 12),
    (Decimal("12.00"), 12.0),
    (Decimal("12.50"), 12.5),
    (Decimal("-0.001"), -0.001),
    (Decimal("1E+3"), 1000),
    (Decimal("170141183460469231731687303715884105727"), 2**127 - 1),
    (Decimal("1E+5000"), "1E+5000"),
    (Decimal("Infinity"), math.inf),
    (Decimal("-Infinity"), -math.inf),
    (date(2100, 1, 31), "2100-01-31"),
    (date(1, 1, 1), "0001-01-01"),
    (datetime(2100, 1, 31, 8), "2100-01-31 08:00:00"),
    (datetime(2100, 1, 31, 8, 0, 0, 5), "2100-01-31 08:00:00.000005"),
    (datetime(2100, 1, 31, 8, tzinfo=UTC), "2100-01-31 08:00:00+00:00"),
    (datetime(1, 1, 1, tzinfo=EAST), "0001-01-01 00:00:00+05:30"),
    (datetime(2100, 1, 31, 8, tzinfo=EAST), "2100-01-31 02:30:00+00:00"),
    (time(10, 30), "10:30:00"),
    (time(10, 30, 0, 500_000), "10:30:00.500000"),
    (time(10, 30, tzinfo=UTC), "10:30:00+00"),
    (time(10, 30, tzinfo=EAST), "10:30:00+05:30"),
    (timedelta(0), "00:00:00"),
    (timedelta(days=1), "1 day"),
    (timedelta(days=40, seconds=3725), "40 days 01:02:05"),
    (timedelta(hours=-12), "-12:00:00"),
    (timedelta(days=-1), "-1 days"),
    (timedelta(days=-2, hours=-3), "-2 days -03:00:00"),
    (timedelta(microseconds=1_500_000), "00:00:01.5"),
    (UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ([], "[]"),
    ((), "[]"),
    ({}, "{}"),
    ([1, None, "é", True], '[1, null, "é", true]'),
    ((1, (2, 3)), "[1, [2, 3]]"),
    ({"b": 1, "a": [Decimal("1.5")]}, '{"a": [1.5], "b": 1}'),
    ({date(2100, 1, 1): Decimal("1.0")}, '{"2100-01-01": 1.0}'),
    ({1: "x", 2: "y"}, '{"1": "x", "2": "y"}'),
    ({True: 1}, '{"true": 1}'),
    ([math.nan, math.inf, -math.inf], '["NaN", "Infinity", "-Infinity"]'),
    ([b"\xff"], '["\\\\xff"]'),
    ([datetime(2100, 1, 1), timedelta(days=1)], '["2100-01-01 00:00:00", "1 day"]'),
    ([UUID(int=1)], '["00000000-0000-0000-0000-000000000001"]'),
    ([[{"a": {"b": [date(2100, 1, 1)]}}]], '[[{"a": {"b": ["2100-01-01"]}}]]'),
    ({"key": [[1]], "value": [2]}, '{"key": [[1]], "value": [2]}'),
    (Fraction(1, 2), "1/2"),
]


@pytest.mark.parametrize(("value", "cell"), CELLS)
def test_each_kind_of_value_has_one_cell(value: object, cell: object) -> None:
    found = cell_of(value)
    assert found == cell
    assert type(found) is type(cell)


def test_no_number_is_a_float_that_is_no_number() -> None:
    for value in (float("nan"), Decimal("NaN"), Decimal("sNaN")):
        found = cell_of(value)
        assert isinstance(found, float)
        assert math.isnan(found)


def test_a_kind_that_derives_from_a_known_one_is_converted_as_that_one() -> None:
    class Stamp(datetime):
        pass

    assert cell_of(Stamp(2100, 1, 1)) == "2100-01-01 00:00:00"


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=4)
    | st.decimals(allow_nan=True)
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.uuids(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.dates() | st.booleans(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_becomes_a_cell_and_every_nested_one_is_json(value: object) -> None:
    cell = cell_of(value)
    assert cell is None or type(cell) in (str, int, float, bytes)
    if isinstance(value, (list, tuple, dict)):

        def no_constant(name: str) -> None:
            raise AssertionError(name)

        assert json.loads(str(cell), parse_constant=no_constant) is not None
        assert json_cell(cell) == cell


@given(st.timedeltas())
def test_a_duration_loses_nothing(value: timedelta) -> None:
    days, clock = 0, timedelta(0)
    parts = str(cell_of(value)).split()
    if len(parts) > 1:
        days = int(parts[0])
    if ":" in parts[-1]:
        sign = -1 if parts[-1].startswith("-") else 1
        hours, minutes, seconds = parts[-1].lstrip("-").split(":")
        whole, _, fraction = seconds.partition(".")
        clock = sign * timedelta(
            hours=int(hours),
            minutes=int(minutes),
            seconds=int(whole),
            microseconds=int(fraction.ljust(6, "0")) if fraction else 0,
        )
    assert timedelta(days=days) + clock == value


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('{"b":1,\n"a":[true,null]}', '{"a": [true, null], "b": 1}'),
        ("[1,2]", "[1, 2]"),
        ('"x"', '"x"'),
        ("3", "3"),
        ("no json", "no json"),
        ("", ""),
        (None, None),
        (5, 5),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_json_texts_are_written_in_one_way(text: Any, cell: Any) -> None:
    assert json_cell(text) == cell
