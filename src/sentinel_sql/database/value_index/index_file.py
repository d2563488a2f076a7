"""The file of a value index: a SQLite database with full-text tables, written as a whole.

`words` holds the words of each text, `spellings` the trigrams of each distinct word, so that a
misspelt word is found. Both are contentless: the texts themselves are in `entries`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from sentinel_sql.database.value_index.contents import ColumnContents
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.errors import DatabaseError
from sentinel_sql.storage.drafts import file_beside

FORMAT: Final = "sentinel-values/1"
_APPLICATION: Final = 0x53564958
"""Marks the file as a value index in SQLite's header (`SVIX`)."""

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE columns (
  id INTEGER PRIMARY KEY, table_name TEXT NOT NULL, column_name TEXT NOT NULL, code_name TEXT,
  texts INTEGER NOT NULL);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY, column_id INTEGER NOT NULL, text TEXT NOT NULL, codes TEXT NOT NULL,
  words TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(
  held, content='', columnsize=0, detail='none', tokenize="unicode61 remove_diacritics 0");
CREATE VIRTUAL TABLE word_counts USING fts5vocab(words, row);
CREATE TABLE spelled (id INTEGER PRIMARY KEY, word TEXT NOT NULL);
CREATE VIRTUAL TABLE spellings USING fts5(
  word, content='', columnsize=0, detail='none', tokenize='trigram');
CREATE VIRTUAL TABLE trigram_counts USING fts5vocab(spellings, row);
"""


def write_index(path: Path, columns: Iterable[ColumnContents], *, facts: Mapping[str, str]) -> None:
    """Write an index file (0600) as a whole, replacing an older one.

    Raises:
        DatabaseError: the file can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_beside(path) as (draft, sink):
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                _fill(connection, columns, facts)
            os.fsync(sink.fileno())
            os.replace(draft, path)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "SQLite can't write there"
        raise DatabaseError(
            f"the value index {path} can't be written ({reason}): give another file with --index"
        ) from error


def open_index(path: Path) -> sqlite3.Connection | None:
    """Open an index file for reading; None if there is none, or it is damaged or outdated.

    Raises:
        DatabaseError: the file is something else, which must not be replaced.
    """
    if not path.exists():
        return None
    connection = None
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        if mark == _APPLICATION:
            if facts_of(connection).get("format") == FORMAT:
                return connection
            connection.close()
            return None
    except sqlite3.DatabaseError:
        with path.open("rb") as file:
            head = file.read(72)
        if head.startswith(b"SQLite format 3\0") and head[68:72] == _APPLICATION.to_bytes(4, "big"):
            return None
    if connection is not None:
        connection.close()
    raise DatabaseError(
        f"{path} is no value index, and won't be replaced: name another file with --index"
    )


def facts_of(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Return what the file says of itself."""
    return dict(connection.execute("SELECT name, value FROM facts"))


def _fill(
    connection: sqlite3.Connection, columns: Iterable[ColumnContents], facts: Mapping[str, str]
) -> None:
    connection.executescript(
        f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id={_APPLICATION};"
        + _TABLES
    )
    connection.execute("BEGIN")
    spelled: set[str] = set()
    entry = 0
    for number, column in enumerate(columns, 1):
        connection.execute(
            "INSERT INTO columns VALUES (?, ?, ?, ?, ?)",
            (number, column.table, column.column, column.code, len(column.texts)),
        )
        rows = []
        for stored in column.texts:
            entry += 1
            words = words_of(stored.text)
            spelled.update(words)
            codes = json.dumps(stored.codes, ensure_ascii=False)
            rows.append((entry, number, stored.text, codes, " ".join(words)))
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO words (rowid, held) SELECT id, words FROM entries")
    connection.executemany("INSERT INTO spelled VALUES (?, ?)", enumerate(sorted(spelled), 1))
    connection.execute("INSERT INTO spellings (rowid, word) SELECT id, word FROM spelled")
    connection.execute("CREATE INDEX entries_by_words ON entries (words)")
    connection.executemany(
        "INSERT INTO facts VALUES (?, ?)", sorted({**facts, "format": FORMAT}.items())
    )
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    connection.execute("COMMIT")
