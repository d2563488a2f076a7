"""Opens the value index of a database, and makes it anew if it is missing or outdated."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Protocol, runtime_checkable

from sentinel_sql.database.executor import Database
from sentinel_sql.database.value_index.contents import IndexBounds, read_contents
from sentinel_sql.database.value_index.index import ValueIndex
from sentinel_sql.database.value_index.index_file import FORMAT, facts_of, open_index, write_index
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.schema import Schema, folded
from sentinel_sql.storage.paths import path_of

SUFFIX = ".values"
OLDEST = 7 * 24 * 3600.0
"""Age in seconds after which the index of a database without a file is made anew (our choice)."""


@runtime_checkable
class _InFile(Protocol):
    @property
    def file(self) -> Path: ...


def open_value_index(
    database: Database,
    *,
    file: str | PathLike[str] | None = None,
    columns: Iterable[str] = (),
    refresh: bool = False,
    bounds: IndexBounds | None = None,
) -> ValueIndex:
    """Open the value index of a database; it is made first if it is missing or outdated.

    It is outdated if the schema, the settings or the database's file have changed, and, for a
    database without a file, after a week.

    Args:
        database: the database.
        file: the index file; by default `default_file(database)`.
        columns: columns `table.column` to index although they may identify people.
        refresh: make the index anew in any case.
        bounds: most texts and bytes.

    Raises:
        InputError: a column isn't in the schema.
        DatabaseError: the file is something else, or can't be written.
    """
    opted_in = _columns(database.schema, columns)
    bounds = IndexBounds() if bounds is None else bounds
    place = default_file(database) if file is None else path_of(file)
    settings = json.dumps(
        {"format": FORMAT, "opted_in": opted_in, **asdict(bounds)}, sort_keys=True
    )
    expected = {
        "settings": settings,
        "schema": database.schema.sha256,
        "content": _stamp(database),
    }
    opened = open_index(place)
    if opened is not None:
        facts = facts_of(opened)
        age = time.time() - float(facts.get("made", 0.0))
        fresh = isinstance(database, _InFile) or age <= OLDEST
        if not refresh and fresh and expected.items() <= facts.items():
            return ValueIndex(opened, settings=settings, schema_words=_schema_words(database))
        opened.close()
    contents = read_contents(database, opted_in=opted_in, bounds=bounds)
    write_index(place, contents, facts={**expected, "made": f"{time.time():.0f}"})
    opened = open_index(place)
    if opened is None:
        raise DatabaseError(f"the value index {place} was removed while it was opened; try again")
    return ValueIndex(opened, settings=settings, schema_words=_schema_words(database))


def default_file(database: Database) -> Path:
    """Return where the index stands: beside the database's file, else in the user's cache."""
    if isinstance(database, _InFile):
        return database.file.with_name(database.file.name + SUFFIX)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    safe = "".join(letter if letter.isalnum() else "-" for letter in database.name)
    return cache / "sentinel" / f"{safe}-{database.schema.sha256[:12]}{SUFFIX}"


def _columns(schema: Schema, columns: Iterable[str]) -> list[str]:
    """Return the opted-in columns, folded and sorted, after checking them."""
    names = {f"{table}.{column}" for table, columns in schema.tables.items() for column in columns}
    wanted = sorted({folded(column.strip()) for column in columns if column.strip()})
    for column in wanted:
        if column not in names:
            raise InputError(
                f"the database has no column {column!r} to index: give names as table.column"
            )
    return wanted


def _schema_words(database: Database) -> frozenset[str]:
    names = [database.name]
    for table, columns in database.schema.tables.items():
        names += [table, *columns]
    return frozenset(word for name in names for word in words_of(name))


def _stamp(database: Database) -> str:
    """Return what changes with the content of a database's file; empty without a file."""
    if not isinstance(database, _InFile):
        return ""
    stamps = []
    for path in (database.file, database.file.with_name(database.file.name + "-wal")):
        if path.exists():
            stat = path.stat()
            stamps.append(f"{stat.st_size}:{stat.st_mtime_ns}")
    return " ".join(stamps)
