from __future__ import annotations

import stat
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import pytest

from score_cases import random_scores
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import Column, cells_of, columns_of
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation_store import tables


def evidence(runs: int = 120) -> Evidence:
    return Evidence.gather(random_scores(1, runs), freeze(random_scores(2, 200)), resamples=60)


@dataclass(frozen=True, kw_only=True)
class OddRow:
    name: Annotated[str, Column("a name")]
    n: Annotated[int | None, Column("a count")]
    x: Annotated[Interval | None, Column("a share", unit="share", within="[0, 1]")]
    sure: Annotated[bool | None, Column("whether it is sure")]


ODD = Exhibit(
    title="Odd cells, “quoted”",
    note="A note\nof two lines.",
    row=OddRow,
    rows=(
        OddRow(
            name='a, "b"\nλ', n=None, x=Interval(estimate=1 / 3, low=0.1, high=1e-17), sure=True
        ),
        OddRow(name="=1+1", n=-3, x=None, sure=None),
        OddRow(name="z", n=2**53, x=Interval(estimate=0.0, low=-0.0, high=1.0), sure=False),
    ),
)


def test_every_cell_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    made = {name: exhibit(evidence()) for name, exhibit in EXHIBITS.items()} | {"odd": ODD}
    tables.write(tmp_path, made)
    found = tables.read(tmp_path)
    assert list(found) == list(made)
    for name, exhibit in made.items():
        assert (found[name].title, found[name].note) == (exhibit.title, exhibit.note)
        assert [dict(row) for row in found[name].rows] == [
            dict(cells_of(row)) for row in exhibit.rows
        ]


def test_every_column_of_every_table_is_in_the_dictionary_with_a_meaning(tmp_path: Path) -> None:
    tables.write(tmp_path, {name: exhibit(evidence()) for name, exhibit in EXHIBITS.items()})
    for name, table in tables.read(tmp_path).items():
        header = (tmp_path / "tables" / f"{name}.csv").read_text().splitlines()[0]
        assert header.split(",") == [column.column for column in table.columns]
        for column in table.columns:
            assert column.table == name
            assert len(column.meaning) > 5
            assert not column.meaning.endswith(".")


def test_interval_becomes_three_columns_and_nested_fields_get_a_prefix() -> None:
    assert [column.name for column in columns_of(OddRow)] == [
        *("name", "n", "x", "x_low", "x_high", "sure")
    ]
    names = [column.name for column in columns_of(EXHIBITS["ladder"](evidence()).row)]
    assert {"rs", "rs_low", "rs_high", "decisions_refuse", "decisions_deliver"} <= set(names)


def test_a_column_without_a_meaning_cannot_be_written() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Silent:
        value: float

    assert fields(Silent)
    with pytest.raises(TypeError, match="value has no Column"):
        columns_of(Silent)


def test_new_tables_are_added_and_old_ones_replaced_by_name(tmp_path: Path) -> None:
    tables.write(tmp_path, {"first": ODD})
    tables.write(tmp_path, {"second": ODD})
    shorter = Exhibit(title="Shorter", note="", row=OddRow, rows=ODD.rows[:1])
    tables.write(tmp_path, {"first": shorter})
    found = tables.read(tmp_path)
    assert {name: len(table.rows) for name, table in found.items()} == {"first": 1, "second": 3}
    assert sorted(x.column for x in found["first"].columns) == sorted(
        x.column for x in found["second"].columns
    )


def test_an_exhibit_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    tables.write(tmp_path, {"none": Exhibit(title="None", note="", row=OddRow, rows=())})
    table = tables.read(tmp_path)["none"]
    assert table.rows == ()
    assert len(table.columns) == 6


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    tables.write(tmp_path, {"odd": ODD})
    for path in (tmp_path / "tables").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_parquet_has_equal_values_with_types(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    tables.write(tmp_path, {"odd": ODD})
    table = parquet.read_table(tmp_path / "tables" / "odd.parquet")
    assert table.to_pylist() == [dict(row) for row in tables.read(tmp_path)["odd"].rows]
    assert [str(kind) for kind in table.schema.types] == [
        *("string", "int64", "double", "double", "double", "bool")
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dictionary", "table,column\n"),
        ("contents", "nothing"),
        ("odd", "name,n\n"),
        ("odd", "name,n,x,x_low,x_high,sure\na,b,c,d,e,f\n"),
        ("odd", "name,n,x,x_low,x_high,sure\na\n"),
    ],
)
def test_damaged_tables_are_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    tables.write(tmp_path, {"odd": ODD})
    path = tmp_path / "tables" / f"{name}.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=f"{name}.csv is damaged"):
        tables.read(tmp_path)


def test_folder_without_tables_is_an_error_that_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sentinel evaluate"):
        tables.read(tmp_path)
