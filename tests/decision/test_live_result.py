"""A result in whichever form a program holds it, and what a monitor is shown of it."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import sqlite3
import uuid
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.row_sources import MOST_ROWS
from sentinel_sql.errors import InputError
from sentinel_sql.result_line import result_line
from sentinel_sql.trajectory.record import Observation

ROWS = [("heparin", 12), ("aspirin", 10)]
NAMES = ["drug", "n"]


def observed(result: Any = None, **how: Any) -> Observation:
    return LiveResult.read(result, **how).observation


AS_ROWS = observed(ROWS, columns=NAMES)


def cursor() -> sqlite3.Cursor:
    connection = sqlite3.connect(":memory:")
    return connection.execute("SELECT 'heparin' AS drug, 12 AS n UNION ALL SELECT 'aspirin', 10")


def sqlite_rows() -> list[Any]:
    its = cursor()
    its.row_factory = sqlite3.Row
    return its.fetchall()


ENGINE = sqlalchemy.create_engine("sqlite://")


def alchemy() -> Any:
    query = "SELECT 'heparin' AS drug, 12 AS n UNION ALL SELECT 'aspirin', 10"
    return ENGINE.connect().execute(sqlalchemy.text(query))


def generator() -> Iterator[tuple[str, int]]:
    yield from ROWS


@dataclass
class Line:
    drug: str
    n: int


class Model(BaseModel):
    drug: str
    n: int


Named = namedtuple("Named", NAMES)
FRAME = pd.DataFrame(ROWS, columns=NAMES)

FORMS: dict[str, Callable[[], Any]] = {
    "list of tuples": lambda: ROWS,
    "list of lists": lambda: [list(row) for row in ROWS],
    "tuple of tuples": lambda: tuple(ROWS),
    "list of dicts": lambda: [dict(zip(NAMES, row, strict=True)) for row in ROWS],
    "list of mappings": lambda: [MappingProxyType(dict(zip(NAMES, r, strict=True))) for r in ROWS],
    "list of named tuples": lambda: [Named(*row) for row in ROWS],
    "list of dataclasses": lambda: [Line(*row) for row in ROWS],
    "list of pydantic records": lambda: [Model(drug=drug, n=n) for drug, n in ROWS],
    "deque": lambda: deque(ROWS),
    "generator": generator,
    "zip": lambda: zip(["heparin", "aspirin"], [12, 10], strict=True),
    "dict of columns": lambda: {"drug": ["heparin", "aspirin"], "n": [12, 10]},
    "dict of arrays": lambda: {"drug": np.array(["heparin", "aspirin"]), "n": np.array([12, 10])},
    "dict of series": lambda: {"drug": FRAME["drug"], "n": FRAME["n"]},
    "ordered dict of tuples": lambda: OrderedDict(drug=("heparin", "aspirin"), n=(12, 10)),
    "frame as a dict": lambda: FRAME.to_dict(),
    "frame as records": lambda: FRAME.to_dict("records"),
    "frame as split": lambda: FRAME.to_dict("split"),
    "frame as tight": lambda: FRAME.to_dict("tight"),
    "frame by its index": lambda: FRAME.to_dict("index"),
    "frame as columns of lists": lambda: FRAME.to_dict("list"),
    "rows by their number": lambda: dict(enumerate(FRAME.to_dict("records"), start=1)),
    "reply with columns, rows and more": lambda: {
        "columns": NAMES,
        "rows": [list(row) for row in ROWS],
        "row_count": 2,
        "seconds": 0.01,
        "truncated": False,
    },
    "columns and rows": lambda: {"columns": NAMES, "rows": ROWS},
    "rows under a key": lambda: {"rows": [list(row) for row in ROWS]},
    "data frame": lambda: FRAME,
    "records array": lambda: FRAME.to_records(index=False),
    "object array": lambda: FRAME.to_numpy(),
    "arrow table": lambda: pa.Table.from_pandas(FRAME),
    "record batch": lambda: pa.RecordBatch.from_pandas(FRAME),
    "sqlite3 cursor": cursor,
    "sqlite3 rows": sqlite_rows,
    "SQLAlchemy result": alchemy,
    "SQLAlchemy rows": lambda: alchemy().all(),
    "SQLAlchemy mappings": lambda: alchemy().mappings(),
    "SQLAlchemy list of mappings": lambda: alchemy().mappings().all(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_equal_rows_look_equal_in_every_form(form: str) -> None:
    assert observed(FORMS[form]()) == AS_ROWS


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    "row",
    [
        lambda: ("heparin", 12),
        lambda: Named("heparin", 12),
        lambda: sqlite_rows()[0],
        lambda: alchemy().first(),
        lambda: alchemy().mappings().first(),
        lambda: {"drug": "heparin", "n": 12},
        lambda: Line("heparin", 12),
        lambda: Model(drug="heparin", n=12),
    ],
)
def test_a_single_row_is_one_row(row: Callable[[], Any]) -> None:
    assert observed(row()) == observed([("heparin", 12)])


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    "cell",
    [
        511,
        True,
        2.5,
        2 + 1j,
        "heparin",
        b"abc",
        bytearray(b"abc"),
        memoryview(b"abc"),
        decimal.Decimal("1.50"),
        fractions.Fraction(1, 3),
        dt.date(2100, 5, 3),
        dt.datetime(2100, 5, 3, 14, 30),
        dt.time(14, 30),
        dt.timedelta(days=2, hours=3),
        uuid.UUID(int=7),
        ipaddress.ip_address("127.0.0.1"),
        Colour.RED,
        np.int64(5),
        np.float32(2.5),
        np.bool_(True),
        np.str_("heparin"),
        np.datetime64("2100-05-03"),
        pd.Timestamp("2100-05-03 14:30"),
        pd.Timedelta(days=2),
        10**5000,
    ],
    ids=lambda cell: type(cell).__name__,
)
def test_one_cell_is_one_row_alone_in_a_row_and_in_a_column(cell: Any) -> None:
    alone = observed(cell)
    assert (alone.kind, alone.rows, alone.columns) == ("rows", 1, 1)
    assert observed([(cell,)]) == observed([cell]) == alone


def test_null_of_a_frame_looks_like_null_of_the_database() -> None:
    frame = pd.DataFrame({"when": [pd.Timestamp("2100-05-03"), pd.NaT], "n": [1.5, np.nan]})
    rows = [("2100-05-03 00:00:00", 1.5), (None, None)]
    assert observed(frame) == observed(rows)
    assert observed(pa.table({"a": [1, None]})) == observed([(1,), (None,)])
    assert observed(pd.NaT).rows == observed(np.float64("nan")).rows == observed(pd.NA).rows == 1
    assert observed(np.array([1.5, np.nan])) == observed([(1.5,), (None,)])
    assert observed(FRAME["n"]) == observed([(12,), (10,)])


@pytest.mark.parametrize("orient", ["records", "list", "index", "split", "tight", "dict"])
def test_null_of_a_frame_is_none_in_what_is_made_of_the_frame_too(orient: Any) -> None:
    frame = pd.DataFrame({"n": [1.5, np.nan], "at": ["a", pd.NaT], "x": ["b", pd.NA]})
    assert observed(frame.to_dict(orient)) == observed([(1.5, "a", "b"), (None, None, None)])
    assert observed([(float("nan"),), (pd.NA,), pd.NaT]) == observed([(None,)] * 3)
    assert observed({"n": pd.NA}) == observed([(None,)])


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        (),
        {},
        FRAME.iloc[:0],
        pa.table({"a": []}),
        np.array([]),
        iter(()),
        {"drug": [], "n": []},
        {"rows": []},
    ],
    ids=lambda its: type(its).__name__,
)
def test_no_rows_in_any_form_are_empty(nothing: Any) -> None:
    seen = observed(nothing)
    assert (seen.kind, seen.rows) == ("empty", 0)


def test_a_cursor_comes_back_as_its_rows_and_one_without_a_table_is_no_result() -> None:
    assert LiveResult.read(cursor()).value == ROWS
    assert list(LiveResult.read(generator()).value) == ROWS
    connection = sqlite3.connect(":memory:")
    changed = connection.execute("CREATE TABLE t (a)")
    assert observed(changed).kind == "none"
    its = cursor()
    its.connection.close()
    assert observed(its).kind == "error"
    connection.close()


def test_endless_source_is_cut_and_noted() -> None:
    seen = LiveResult.read(iter(int, 1))
    assert seen.observation.truncated
    assert seen.observation.rows == len(seen.value) == MOST_ROWS
    assert "100,000" in seen.notes[0]


class Lazy:
    """A data frame that isn't computed yet."""

    columns = ("a",)

    def collect(self) -> pd.DataFrame:
        return FRAME

    def __str__(self) -> str:
        return "a plan"


class Unprintable:
    def __str__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize(
    "text",
    [
        "failed",
        "Error in dosage",
        "none",
        "empty",
        "null",
        "no results found in the chart",
        "0 rows",
        "[]",
        "[(1, 2), (3, 4)]",
        "5 rows x 1 cols; sample [['a'], ['b']]",
        "99999999999999999999 rows x 3 cols; sample [",
        "ERROR: no such table",
        "Traceback (most recent call last)",
        '{"error": "no such table"}',
        "sqlite3.OperationalError: no such column",
        "query returned no rows",
        "",
        " ",
    ],
)
def test_a_text_is_one_cell(text: str) -> None:
    for result in (text, [text], [(text,)], {"note": text}, (text,), iter([text])):
        seen = observed(result)
        assert (seen.kind, seen.rows, seen.columns) == ("rows", 1, 1)
        assert seen.text == result_line([(text,)], columns=1, truncated=False)


def test_result_text_is_read_as_printed_rows() -> None:
    assert observed(result_text="5 rows x 1 cols; sample [['a'], ['b']]").rows == 5
    assert observed(result_text="[(1, 2), (3, 4)]").rows == 2
    assert observed(result_text="empty (0 rows)").kind == "empty"
    assert observed(result_text="none").kind == "rows", "it may well be a cell"
    assert observed(result_text="Error: no such table").kind == "error"
    assert observed(result_text="99999999999999999999 rows x 3 cols; sample [").kind == "rows"
    with pytest.raises(InputError, match="once"):
        observed([1], result_text="[1]")
    with pytest.raises(InputError, match="result_text"):
        observed(result_text=["a"])


@pytest.mark.parametrize(
    ("result", "teaches"),
    [
        (object(), "holds no rows"),
        (print, "holds no rows"),
        (sqlite3, "holds no rows"),
        (pd.DataFrame, "holds no rows"),
        (sqlite3.connect(":memory:"), "holds no rows"),
        (ENGINE.connect(), "holds no rows"),
        (Lazy(), "holds no rows"),
        (sqlalchemy.text("SELECT 1"), "holds no rows"),
        (sqlalchemy.select(sqlalchemy.column("a")), "holds no rows"),
    ],
    ids=[
        *("object", "function", "module", "class", "connection", "engine's connection", "plan"),
        *("statement in words", "statement"),
    ],
)
def test_object_without_a_result_is_an_input_error(result: Any, teaches: str) -> None:
    with pytest.raises(InputError, match=teaches):
        observed(result)


def test_awaitable_result_is_an_input_error() -> None:
    async def fetch() -> list[int]:
        return [1]

    async def stream() -> Any:
        yield 1

    waiting = fetch()
    for result in (waiting, stream()):
        with pytest.raises(InputError, match="await"):
            observed(result)
    waiting.close()


@pytest.mark.parametrize(
    "how", [{"columns": 5}, {"columns": "drug"}, {"truncated": "maybe"}, {"truncated": None}]
)
def test_a_mistaken_argument_is_an_input_error(how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(how))):
        observed(ROWS, **how)


def test_a_cell_that_cannot_be_written_is_named_by_its_type() -> None:
    assert observed([(Unprintable(),)]).text == "1 rows x 1 cols; sample [['<Unprintable>']]"
    assert observed([(10**5000,)]).text == "1 rows x 1 cols; sample [['<int>']]"


@given(st.lists(st.tuples(st.text(), st.integers() | st.none() | st.dates())))
def test_rows_look_the_same_as_tuples_dicts_and_columns(rows: list[tuple[Any, ...]]) -> None:
    expected = observed(rows, columns=["a", "b"])
    assert observed([{"a": a, "b": b} for a, b in rows], columns=["a", "b"]) == expected
    assert observed(iter(rows), columns=["a", "b"]) == expected
    if rows:
        assert observed({"a": [a for a, _ in rows], "b": [b for _, b in rows]}) == expected
