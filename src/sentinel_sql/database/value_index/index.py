"""Looks up stored texts by words, by prefixes and by likeness; safe to use from several threads."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

_MOST_ENTRIES = 300
"""Most entries that one lookup reads (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A stored text of one column.

    Attributes:
        table: folded name of the table.
        column: folded name of the column.
        text: the text as it is stored.
        words: its words, as `words_of` gives them.
        code: name of the code column beside it, or None.
        codes: codes that stand for this text; empty if there are none, or too many.
    """

    table: str
    column: str
    text: str
    words: tuple[str, ...]
    code: str | None = None
    codes: tuple[str | int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedColumn:
    """A column of the index, and the number of its texts."""

    table: str
    column: str
    texts: int


class ValueIndex:
    """An open value index.

    Args:
        connection: to an index file, open for reading.
        settings: the line that identifies how the index was made.
        schema_words: the words in the names of the database, its tables and columns.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, settings: str, schema_words: frozenset[str]
    ) -> None:
        self.settings = settings
        self.schema_words = schema_words
        self._connection = connection
        self._lock = threading.Lock()
        self._columns = {
            number: (table, column, code)
            for number, table, column, code in self._all(
                "SELECT id, table_name, column_name, code_name FROM columns"
            )
        }
        self.size: int = self._all("SELECT COUNT(*) FROM entries")[0][0]
        self._count_of = lru_cache(maxsize=20_000)(self._read_count)

    @property
    def columns(self) -> tuple[IndexedColumn, ...]:
        """The indexed columns, in the order of the schema."""
        return tuple(
            IndexedColumn(table=table, column=column, texts=texts)
            for table, column, texts in self._all(
                "SELECT table_name, column_name, texts FROM columns ORDER BY id"
            )
        )

    def count(self, word: str) -> int:
        """Return how many texts have a word."""
        return self._count_of(word)

    def with_words(self, words: Sequence[str], *, most: int = _MOST_ENTRIES) -> list[Entry]:
        """Return texts that have all these words, in any order."""
        query = " AND ".join(f'"{word}"' for word in words)
        return self._entries(
            "SELECT id FROM (SELECT rowid AS id FROM words WHERE words MATCH ? LIMIT ?)",
            (query, most),
        )

    def same_words(self, words: Sequence[str], *, most: int = _MOST_ENTRIES) -> list[Entry]:
        """Return texts that have just these words, in this order."""
        return self._entries(
            "SELECT id FROM entries WHERE words = ? LIMIT ?", (" ".join(words), most)
        )

    def completions(self, start: str, *, most: int = 5) -> list[str]:
        """Return the words that start with a text, the most frequent first."""
        rows = self._all(
            "SELECT term, doc FROM word_counts WHERE term >= ? AND term < ? LIMIT 200",
            (start, start + "\U0010ffff"),
        )
        return [term for term, _ in sorted(rows, key=lambda row: (-row[1], row[0]))[:most]]

    def alike(self, word: str, *, least: float, most: int = 3) -> list[tuple[str, float]]:
        """Return the words spelled most like a word, with the likeness, the most alike first.

        The likeness is Dice's over trigrams, in [0, 1]; words below `least` are left out.
        """
        grams = _trigrams(word)
        counts = dict(
            self._all(
                f"SELECT term, doc FROM trigram_counts WHERE term IN ({_marks(grams)})",  # noqa: S608
                tuple(grams),
            )
        )
        rare = sorted(counts, key=lambda gram: (counts[gram], gram))[:4]
        if not rare:
            return []
        query = " OR ".join(f'"{gram}"' for gram in rare)
        rows = self._all(
            "SELECT word FROM spelled WHERE id IN "
            "(SELECT rowid FROM spellings WHERE spellings MATCH ? LIMIT 500)",
            (query,),
        )
        found = [(other, _dice(grams, _trigrams(other))) for (other,) in rows]
        kept = [pair for pair in found if pair[1] >= least]
        return sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:most]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_count(self, word: str) -> int:
        rows = self._all("SELECT doc FROM word_counts WHERE term = ?", (word,))
        return int(rows[0][0]) if rows else 0

    def _entries(self, ids: str, values: Iterable[object]) -> list[Entry]:
        rows = self._all(
            f"SELECT column_id, text, words, codes FROM entries WHERE id IN ({ids})",  # noqa: S608
            tuple(values),
        )
        made = []
        for number, text, words, codes in rows:
            table, column, code = self._columns[number]
            made.append(
                Entry(
                    table=table,
                    column=column,
                    text=text,
                    words=tuple(words.split(" ")),
                    code=code,
                    codes=tuple(json.loads(codes)),
                )
            )
        return made

    def _all(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()


def _trigrams(word: str) -> frozenset[str]:
    return frozenset(word[at : at + 3] for at in range(len(word) - 2))


def _dice(ours: frozenset[str], theirs: frozenset[str]) -> float:
    both = len(ours) + len(theirs)
    return 2 * len(ours & theirs) / both if both else 0.0


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
