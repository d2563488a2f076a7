"""The words in a schema's names and comments, and which of them a word of a question may mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from sentinel_sql.coverage import MatchHow, PhraseMatch
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.schema import Schema

_SHORTEST_PART: Final = 4
"""Fewest letters that two words need in common to be of one stem (our choice)."""

_LEAST_STEM: Final = 0.6
"""Least share of the longer word that a common beginning needs (our choice)."""

_MOST: Final = 3
_Place = tuple[str, str | None, str]


class SchemaWords:
    """Looks up words among the names of tables and columns, and in their comments."""

    def __init__(self, schema: Schema) -> None:
        self._places: dict[str, list[_Place]] = defaultdict(list)
        for word, place in _words(schema):
            if place not in self._places[word]:
                self._places[word].append(place)
        self._names = tuple(
            word
            for word, places in self._places.items()
            if any(it[2] != "comment" for it in places)
        )
        self._found: dict[str, list[PhraseMatch]] = {}

    def matches(self, word: str) -> list[PhraseMatch]:
        """Return what a folded word may name; comments count only word for word."""
        if word not in self._found:
            self._found[word] = self._matches(word)
        return list(self._found[word])

    def _matches(self, word: str) -> list[PhraseMatch]:
        if word in self._places:
            places = sorted(self._places[word], key=lambda place: place[2] == "comment")
            return [_match(place, "exact", 1.0) for place in places[:_MOST]]
        found = []
        for name in self._names:
            how, likeness = _likeness(word, name)
            if how is not None:
                found += [
                    _match(place, how, likeness)
                    for place in self._places[name]
                    if place[2] != "comment"
                ]
        return sorted(found, key=lambda it: -it.likeness)[:_MOST]


def _words(schema: Schema) -> Iterator[tuple[str, _Place]]:
    for table, columns in schema.tables.items():
        for word in words_of(table):
            yield word, (table, None, "table")
        for word in words_of(schema.table_comments.get(table, "")):
            yield word, (table, None, "comment")
        comments = schema.column_comments.get(table, {})
        for column in columns:
            for word in words_of(column):
                yield word, (table, column, "column")
            for word in words_of(comments.get(column, "")):
                yield word, (table, column, "comment")


def _match(place: _Place, how: MatchHow, likeness: float) -> PhraseMatch:
    table, column, kind = place
    return PhraseMatch.model_validate(
        {"kind": kind, "table": table, "column": column, "how": how, "likeness": likeness}
    )


def _likeness(word: str, name: str) -> tuple[MatchHow | None, float]:
    shorter = min(len(word), len(name))
    if shorter < _SHORTEST_PART:
        return None, 0.0
    if word in name or name in word:
        return "abbreviated", 0.9
    pairs = zip(word, name, strict=False)
    common = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    share = common / max(len(word), len(name))
    if common > _SHORTEST_PART and share >= _LEAST_STEM:
        return "inflected", round(share, 3)
    return None, 0.0
