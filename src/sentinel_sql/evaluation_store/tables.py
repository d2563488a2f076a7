"""Writes and reads exhibits as tables: CSV, Parquet if possible, and a data dictionary.

    tables/<exhibit>.csv      one line for each row; an unknown value is an empty cell
    tables/<exhibit>.parquet  the same with types, if pyarrow is installed
    tables/contents.csv       title, note and number of rows of every table
    tables/dictionary.csv     type, unit, range and meaning of every column of every table
    tables/sources.json       the command and the files that each table was made from (`sources`)
    tables/checksums.json     SHA-256 of each of these files; older evaluations have none

Every command writes tables by `write` and reads them by `read`. Numbers keep every bit.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.column_meaning import Column, FlatColumn, Kind, cells_of, columns_of
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation_store.csv_table import Cell, csv_text, damaged, read_csv
from sentinel_sql.evaluation_store.sources import (
    SOURCES,
    Source,
    read_sources,
    stale_in,
    write_sources,
)
from sentinel_sql.storage.checksums import sealed, unsealed
from sentinel_sql.storage.whole_file import check_writable, whole_folder, write_whole

FOLDER = "tables"
CONTENTS, DICTIONARY = "contents", "dictionary"
CHECKSUMS = "checksums.json"
ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True, kw_only=True)
class ContentsRow:
    """One table of a folder."""

    table: Annotated[str, Column("name of the table, and of its file")]
    title: Annotated[str, Column("what the table shows")]
    note: Annotated[str, Column("how to read it, in a sentence or two")]
    rows: Annotated[int, Column("how many rows it has")]


@dataclass(frozen=True, kw_only=True)
class DictionaryRow:
    """One column of one table."""

    table: Annotated[str, Column("name of the table")]
    column: Annotated[str, Column("name of the column")]
    type: Annotated[str, Column("what its cells hold", within="text, integer, number or truth")]
    unit: Annotated[str | None, Column("unit, empty for names and counts")]
    range: Annotated[str | None, Column("range of its values, where there is one to name")]
    meaning: Annotated[str, Column("what it means")]


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table read from a folder.

    Attributes:
        title: what it shows.
        note: how to read it.
        columns: its columns in order, with their meaning.
        rows: its rows in order, each as column → value; None for an unknown value.
    """

    title: str
    note: str
    columns: tuple[DictionaryRow, ...]
    rows: tuple[Mapping[str, Cell], ...]


def write(
    folder: Path, exhibits: Mapping[str, Exhibit[Any]], *, source: Source | None = None
) -> dict[str, str]:
    """Add exhibits to the tables of an evaluation's folder.

    A table of the same name is replaced, and a table of other files is removed. All changes appear
    at once or not at all; the files are readable by their owner only.

    Args:
        folder: folder of the evaluation; `tables/` is made in it if absent.
        exhibits: file name → exhibit.
        source: the files that they were made from, or None if unknown.

    Returns:
        Removed table → the command that made it.

    Raises:
        InputError: the folder can't be written, its tables can't be read, or it holds an
            evaluation of other files.
    """
    place = folder / FOLDER
    try:
        sources = read_sources(place)
        stale = stale_in(folder, sources, source, but=exhibits)
        contents, dictionary = _read_remaining_index(folder, drop={*exhibits, *stale})
        with whole_folder(
            place, known_by=f"{CONTENTS}.csv", parts=("*",), kind="list of tables"
        ) as draft:
            if place.exists():
                shutil.copytree(place, draft, dirs_exist_ok=True, symlinks=True)
            for name, exhibit in exhibits.items():
                columns = columns_of(exhibit.row)
                rows = [dict(cells_of(row)) for row in exhibit.rows]
                _write_table(draft / name, columns, rows)
                contents.append(
                    ContentsRow(table=name, title=exhibit.title, note=exhibit.note, rows=len(rows))
                )
                dictionary += (_entry(name, column) for column in columns)
            for name in stale:
                for ending in ENDINGS:
                    (draft / f"{name}{ending}").unlink(missing_ok=True)
            known = {name: of for name, of in sources.items() if name not in {*exhibits, *stale}}
            known |= {} if source is None else dict.fromkeys(exhibits, source)
            if known or sources:
                write_sources(draft, known)
            write_index(draft, contents, dictionary)
        return stale
    except OSError as error:
        raise InputError(
            f"{place} can't be written ({error.strerror or error}): name another folder"
        ) from error


def check_place(folder: Path, *, source: Source | None = None) -> None:
    """Check that tables may be written to a folder, before the work that fills them.

    Raises:
        InputError: the folder can't be written, the tables in it can't be added to, or it holds
            an evaluation of other files than `source`.
    """
    stale_in(folder, read_sources(folder / FOLDER), source, but=())
    try:
        check_writable(folder / FOLDER)
    except OSError as error:
        raise InputError(
            f"{folder / FOLDER} can't be written ({error.strerror}): name another folder"
        ) from error
    _read_remaining_index(folder, drop=())


def read(folder: Path) -> dict[str, Table]:
    """Read every table of an evaluation's folder, in the order of writing.

    Raises:
        InputError: there are no tables, or they are damaged.
    """
    contents, dictionary = read_index(folder)
    by_table: dict[str, list[DictionaryRow]] = {entry.table: [] for entry in contents}
    for column in dictionary:
        by_table[column.table].append(column)
    tables = {}
    for entry in contents:
        columns = by_table[entry.table]
        kinds: dict[str, Kind] = {x.column: x.type for x in columns}  # type: ignore[misc]
        tables[entry.table] = Table(
            title=entry.title,
            note=entry.note,
            columns=tuple(columns),
            rows=tuple(read_csv(folder / FOLDER / f"{entry.table}.csv", kinds)),
        )
    return tables


def _read_remaining_index(
    folder: Path, *, drop: Iterable[str]
) -> tuple[list[ContentsRow], list[DictionaryRow]]:
    if not (folder / FOLDER / f"{CONTENTS}.csv").exists():
        return [], []
    gone = set(drop)
    contents, dictionary = read_index(folder)
    return (
        [entry for entry in contents if entry.table not in gone],
        [column for column in dictionary if column.table not in gone],
    )


def read_index(folder: Path) -> tuple[list[ContentsRow], list[DictionaryRow]]:
    """Read the list of tables in an evaluation's folder, and the meaning of their columns.

    Raises:
        InputError: there are no tables, or a file isn't what was saved.
    """
    _check_files(folder / FOLDER)
    made: list[list[Any]] = []
    for name, row in ((CONTENTS, ContentsRow), (DICTIONARY, DictionaryRow)):
        path = folder / FOLDER / f"{name}.csv"
        kinds = {column.name: column.kind for column in columns_of(row)}
        made.append([row(**cells) for cells in read_csv(path, kinds)])
    contents, dictionary = made
    known = {entry.table for entry in contents}
    if not all(re.fullmatch(r"\w+", name or "") for name in known):  # they name files
        raise damaged(folder / FOLDER / f"{CONTENTS}.csv")
    if any(x.table not in known or x.type not in get_args(Kind) for x in dictionary):
        raise damaged(folder / FOLDER / f"{DICTIONARY}.csv")
    return contents, dictionary


def write_index(
    place: Path, contents: Sequence[ContentsRow], dictionary: Sequence[DictionaryRow]
) -> None:
    """Write the list of tables of the folder `place`, the meaning of their columns, and checksums.

    Call it after all other files are written.

    Raises:
        OSError: a file can't be written.
    """
    made: Mapping[str, tuple[type, Sequence[Any]]] = {
        CONTENTS: (ContentsRow, contents),
        DICTIONARY: (DictionaryRow, dictionary),
    }
    for name, (row, entries) in made.items():
        rows = [dict(cells_of(entry)) for entry in entries]
        write_whole(place / f"{name}.csv", csv_text(columns_of(row), rows))
    names = [SOURCES, *(f"{name}.csv" for name in made)]
    names += [f"{entry.table}{ending}" for entry in contents for ending in ENDINGS]
    existing = [name for name in names if (place / name).exists()]
    files = {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in existing}
    write_whole(place / CHECKSUMS, json.dumps(sealed({"files": files}), indent=1) + "\n")


def _check_files(place: Path) -> None:
    """Compare every file with its checksum; an older evaluation has no checksums."""
    try:
        stated = unsealed(json.loads((place / CHECKSUMS).read_bytes()))["files"]
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(place / CHECKSUMS) from error
    for name, sha256 in stated.items():
        try:
            data = (place / name).read_bytes()
        except OSError as error:
            raise damaged(place / name) from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise damaged(place / name)


def _entry(table: str, column: FlatColumn) -> DictionaryRow:
    return DictionaryRow(
        table=table,
        column=column.name,
        type=column.kind,
        unit=column.column.unit or None,
        range=column.column.within or None,
        meaning=column.column.meaning,
    )


def _write_table(
    path: Path, columns: Sequence[FlatColumn], rows: Sequence[Mapping[str, Cell]]
) -> None:
    write_whole(path.with_name(f"{path.name}.csv"), csv_text(columns, rows))
    parquet = path.with_name(f"{path.name}.parquet")
    packed = _parquet(columns, rows)
    if packed is None:
        parquet.unlink(missing_ok=True)  # an older file would contradict the CSV
    else:
        write_whole(parquet, packed)


def _parquet(columns: Sequence[FlatColumn], rows: Sequence[Mapping[str, Cell]]) -> bytes | None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    kinds = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
    }
    schema = pa.schema(
        [
            pa.field(column.name, kinds[column.kind], metadata={"meaning": column.column.meaning})
            for column in columns
        ]
    )
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), sink)
    return sink.getvalue()
