"""An evaluation that was damaged or edited is refused by name; a report takes nobody's files."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report_world import make_older
from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.column_meaning import columns_of
from sentinel_sql.evaluation_store.typed_rows import LATER, ROWS
from sentinel_sql.report.evaluated_agents import read_agents

pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
pytest.importorskip("jinja2", reason="the report needs the extra 'report'")


@pytest.fixture
def folder(evaluation_folder: Path, tmp_path: Path) -> Path:
    """An evaluation of an older version, in which nothing but its form tells of damage."""
    copied = Path(shutil.copytree(evaluation_folder, tmp_path / "evaluation"))
    make_older(copied)
    return copied


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Write a report without its figures, which are drawn of tables alone."""
    from sentinel_sql.report import write

    monkeypatch.setattr(write, "FIGURES", {})
    monkeypatch.setattr(write, "agents_figure", lambda _: None)

    def written(*folders: Path, out: Path = tmp_path / "report") -> Path:
        return write.write_report(folders, out).page

    return written


def edit(path: Path, change: Callable[[list[list[str]]], object]) -> None:
    with path.open(newline="") as source:
        rows = list(csv.reader(source))
    change(rows)
    with path.open("w", newline="") as sink:
        csv.writer(sink, lineterminator="\n").writerows(rows)


def set_cell(column: str, value: str) -> Callable[[list[list[str]]], object]:
    def change(rows: list[list[str]]) -> None:
        place = rows[0].index(column)
        # An estimate that can be said, so that its ends must be, too.
        row = next(row for row in rows[1:] if row[place])
        row[place] = value

    return change


def drop_column(folder: Path, table: str, column: str) -> None:
    def change(rows: list[list[str]]) -> None:
        place = rows[0].index(column)
        for row in rows:
            del row[place]

    edit(folder / "tables" / f"{table}.csv", change)
    edit(
        folder / "tables" / "dictionary.csv",
        lambda rows: rows.remove(next(row for row in rows if row[:2] == [table, column])),
    )


NUMBERS = [
    (table, column.name)
    for table, row in ROWS.items()
    for column in columns_of(row)
    if column.kind == "number"
]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("table", list(ROWS))
def test_cell_that_is_no_number_is_damage(folder: Path, table: str, value: str) -> None:
    column = next(name for its, name in NUMBERS if its == table and name != "early_stop")
    edit(folder / "tables" / f"{table}.csv", set_cell(column, value))
    with pytest.raises(InputError, match=f"{table}.csv is damaged"):
        read_agents([folder])


def test_error_names_the_missing_column(folder: Path) -> None:
    kept = Path(shutil.copytree(folder / "tables", folder.parent / "kept"))
    for table, row in ROWS.items():
        for column in columns_of(row):
            drop_column(folder, table, column.name)
            older = column.name.removesuffix("_low").removesuffix("_high") in LATER
            if older:
                read_agents([folder])
            else:
                with pytest.raises(InputError, match=rf"{table}.csv .*column {column.name}:"):
                    read_agents([folder])
            for name in (table, "dictionary"):
                shutil.copy(kept / f"{name}.csv", folder / "tables" / f"{name}.csv")


def test_empty_required_cell_and_half_an_interval_are_damage(folder: Path) -> None:
    for table, row in ROWS.items():
        path = folder / "tables" / f"{table}.csv"
        whole = path.read_bytes()
        names = {column.name for column in columns_of(row)}
        for column in columns_of(row):
            if column.optional and f"{column.name.removesuffix('_low')}_high" not in names:
                continue
            edit(path, set_cell(column.name, ""))
            with pytest.raises(InputError, match=rf"{table}.csv has an empty cell"):
                read_agents([folder])
            path.write_bytes(whole)


READ = [
    ("pool",),
    ("counts",),
    *(("counts", name) for name in ("runs", "templates", "unanswerable", "answered", "correct")),
    ("gaps",),
    ("stakes",),
    ("options",),
    ("options", "exact_bar"),
    ("thresholds",),
    ("thresholds", "gate"),
    ("thresholds", "gate", "theta"),
    ("monitor",),
    ("monitor", "agent"),
    ("monitor", "facts"),
    ("hashes",),
    ("hashes", "pools"),
    ("bootstrap",),
    ("bootstrap", "resamples"),
    ("spent",),
]


@pytest.mark.parametrize("keys", READ, ids=".".join)
def test_wrong_value_in_the_document_is_never_a_crash(
    folder: Path, report: Callable[..., Path], keys: tuple[str, ...]
) -> None:
    whole = json.loads((folder / "evaluation.json").read_text())
    for value in ([], {}, None, "x", -3, float("nan"), [None], True):
        document = json.loads(json.dumps(whole))
        place = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        (folder / "evaluation.json").write_text(json.dumps(document))
        try:
            report(folder)
        except InputError as error:
            told = str(error)
        else:
            continue
        assert str(folder) in told
        assert "\n" not in told


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda view: view.pop(key)


@pytest.mark.parametrize(
    "spoil",
    [
        *map(_without, ("id", "question", "ending", "answerable", "correct", "states")),
        lambda view: view.update(states=[]),
        lambda view: view["states"][0].update(p_answerable=float("nan")),
        lambda view: view["states"][0].update(p_correct=7),
        lambda view: view["states"][0].pop("neighbours"),
        lambda view: view.update(question="\ud800"),
        lambda view: view.update(further=float("inf")),
        lambda view: view.update(ending="somehow"),
    ],
)
def test_view_that_the_page_cannot_draw_is_damage(
    folder: Path, spoil: Callable[[dict[str, Any]], object], report: Callable[..., Path]
) -> None:
    path = folder / "views.jsonl"
    view = json.loads(path.read_text().split("\n")[0])
    spoil(view)
    path.write_text(json.dumps(view) + "\n")
    with pytest.raises(InputError, match=r"views.jsonl is damaged"):
        report(folder)


@pytest.mark.parametrize("name", ["evaluation.json", "views.jsonl"])
def test_too_deeply_nested_file_is_damage(
    folder: Path, report: Callable[..., Path], name: str
) -> None:
    (folder / name).write_text("[" * 100_000)
    with pytest.raises(InputError, match=f"{name} is damaged"):
        report(folder)


def test_report_replaces_only_its_own_tables(folder: Path, report: Callable[..., Path]) -> None:
    out = report(folder).parent
    [tables] = out.glob("a1*/tables")
    (tables / "mine.csv").write_text("mine")
    (folder / "tables" / "link").symlink_to("/")
    # The evaluation has a table less.
    for name in ("contents", "dictionary"):
        edit(
            folder / "tables" / f"{name}.csv",
            lambda rows: rows.__setitem__(slice(None), [it for it in rows if it[0] != "gain"]),
        )
    report(folder)
    assert (tables / "mine.csv").read_text() == "mine"
    assert not (tables / "gain.csv").exists()
    assert not (tables / "gain.parquet").exists()
    assert not (tables / "link").exists()
    assert (tables / "ladder.csv").read_bytes() == (folder / "tables/ladder.csv").read_bytes()


@pytest.mark.parametrize("inner", ["", "tables", "tables/deep"])
def test_report_is_never_written_into_an_evaluation(
    folder: Path, report: Callable[..., Path], inner: str
) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(InputError, match="name another folder"):
        report(folder, out=folder / inner)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["../../mine", "/etc/hosts", "a/b", ""])
def test_table_name_leads_to_no_other_folder(folder: Path, name: str) -> None:
    edit(folder / "tables/contents.csv", lambda rows: rows[1].__setitem__(0, name))
    with pytest.raises(InputError, match=r"contents.csv is damaged"):
        read_agents([folder])
