"""Finds the stored texts that a question may mean, to show them to an agent beside the question."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentinel_sql.database.executor import Database
from sentinel_sql.database.value_index.index import Entry, ValueIndex
from sentinel_sql.database.value_index.opening import open_value_index
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.schema import written

VERSION = "hints/1"
"""Changes with every change of the rules, so that it is part of an agent's identity."""

MOST = 5
"""Most hints for a question (our choice): small models read few lines well."""

MOST_ALIKE = 3
"""Most hints for one phrase of a question (our choice)."""

LEAST_SCORE = 0.5
"""Least likeness of a text and a question's phrase (our choice)."""

_LEAST_SPELLING = 0.7
"""Least likeness of a question's word and a stored one (our choice)."""

_RARE = 300
"""A word that more texts have is looked up only beside another one (our choice)."""

_TELLING = 3
"""Most texts that have a word which alone points to them (our choice)."""

_NEARLY = 0.6
"""Share of the best likeness that another text needs for the same words (our choice)."""

_LONGEST_PHRASE = 6
_WIDEST_GAP = 2
_SHORTEST_SPELLING = 5

_STOP_WORDS = """
a about after all am an and any are as at be been before between by can could did do doe during
each ever every find first for from get give had ha have he her his how i in into is it its last
latest list many me more most much my name need no not now number of on one or our out over per
please recent said say she show since so tell than that the their them there these they thi this
those time to up wa was we were what when where which who whom whose why will with within would
year month day week hour today yesterday you your count total average mean max min maximum
minimum highest lowest different distinct
"""
_STOP = frozenset(_STOP_WORDS.split())
"""Words of questions that name no stored text, as `words_of` gives them."""

_EVERYDAY_WORDS = """
above acute affecting age blood body care cause center change chest child chronic condition control
current date days death delivery device disease discharged dose drug early effect elsewhere end
event external family female fluid general group heart high home hospital infection initial injury
inpatient insertion known large later left level line local long lower major male mean medical
medicine minor multiple normal note observed office order other outpatient part partial patient
person place point present primary problem procedure product rate removed result right safe second
secondary service severe short side single site size small source special specified state status
study surgery surgical symptom system test therapy third total treatment type unspecified upper use
value volume ward water weight white woman work
"""
_EVERYDAY = frozenset(_EVERYDAY_WORDS.split())
"""Words of so many meanings that one alone never points to a stored text (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """A stored text that a question may mean, with all columns that hold it.

    `likeness`, in [0, 1], says how much of the text the question has.
    """

    text: str
    entries: tuple[Entry, ...]
    likeness: float

    def __str__(self) -> str:
        columns = ", ".join(f"{written(it.table)}.{written(it.column)}" for it in self.entries)
        codes = [
            f"{written(it.code)} {' or '.join(map(_literal, it.codes))}"
            for it in self.entries
            if it.code is not None and it.codes
        ]
        beside = f" ({'; '.join(dict.fromkeys(codes))})" if codes else ""
        return f"{columns} = {_literal(self.text)}{beside}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hints:
    """The stored texts that a question may mean, the most alike first."""

    question: str
    matches: tuple[Hint, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each match, such as `d_labitems.label = 'urea nitrogen' (itemid 220210)`."""
        return tuple(map(str, self.matches))

    @property
    def text(self) -> str:
        """The lines as one text; empty without a match."""
        return "\n".join(self.lines)


def hints(question: str, database: Database, *, index: ValueIndex | None = None) -> Hints:
    """Find the stored texts that a question may mean.

    Args:
        question: the question in words.
        database: its database.
        index: the database's open value index. By default the index is opened, and made at the
            first use, beside the database's file or in the user's cache.

    Returns:
        At most `MOST` texts; none where nothing is alike.

    Raises:
        DatabaseError: the index can't be made.
    """
    if index is not None:
        return find_hints(question, index)
    with open_value_index(database) as opened:
        return find_hints(question, opened)


def find_hints(question: str, index: ValueIndex) -> Hints:
    """Find the stored texts that a question may mean, in an open index."""
    asked = _Asked(question, index)
    by_text: dict[str, list[Entry]] = defaultdict(list)
    found: dict[str, _Match] = {}
    for entry in _candidates(asked, index):
        if entry not in by_text[entry.text]:
            by_text[entry.text].append(entry)
            if entry.text not in found:
                found[entry.text] = asked.match(entry)
    chosen: list[Hint] = []
    taken: list[_Match] = []
    for text, match in sorted(
        found.items(), key=lambda pair: (*pair[1].rank, len(pair[0]), pair[0])
    ):
        if match.likeness < LEAST_SCORE or any(match.is_weaker_than(other) for other in taken):
            continue
        if sum(match.places == other.places for other in taken) >= MOST_ALIKE:
            continue
        taken.append(match)
        entries = tuple(by_text[text])
        chosen.append(Hint(text=text, entries=entries, likeness=round(match.likeness, 3)))
        if len(chosen) == MOST:
            break
    return Hints(question=question, matches=tuple(chosen))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Match:
    """How a question has a text: the share of the text, the weight, and the words' places."""

    likeness: float
    weight: float
    places: frozenset[int]

    @property
    def rank(self) -> tuple[float, float]:
        return (-self.weight * self.likeness, -self.likeness)

    def is_weaker_than(self, other: _Match) -> bool:
        """Return whether another text says more of the same words."""
        if self.places < other.places:
            return True
        return self.places == other.places and self.likeness < _NEARLY * other.likeness


class _Asked:
    """The words of a question, each with the stored words that it may stand for."""

    def __init__(self, question: str, index: ValueIndex) -> None:
        self._index = index
        self.words = words_of(question)
        self.meant: dict[int, Mapping[str, float]] = {}
        for at, word in enumerate(self.words):
            if word in _STOP:
                continue
            if index.count(word):
                self.meant[at] = {word: 1.0}
            elif len(word) >= _SHORTEST_SPELLING and word.isalpha():
                alike = index.alike(word, least=_LEAST_SPELLING)
                self.meant[at] = {other: much for other, much in alike if other[0] == word[0]}
        self.meant = {at: words for at, words in self.meant.items() if words}

    def weight(self, word: str) -> float:
        """Return how telling a stored word is: its information among the stored texts."""
        return math.log((self._index.size + 1) / (self._index.count(word) + 0.5))

    def _tells(self, word: str) -> bool:
        """Return whether a word alone points to a text: few texts have it."""
        return (
            self._index.count(word) <= _TELLING
            and len(word) >= _SHORTEST_SPELLING
            and word not in self._index.schema_words
            and word not in _EVERYDAY
            and not word.isdigit()
        )

    def match(self, entry: Entry) -> _Match:
        """Return how much of a text the question has in one place."""
        words = set(entry.words)
        found: dict[int, tuple[str, float]] = {}
        for at, meant in self.meant.items():
            best = max(
                ((likeness, word) for word, likeness in meant.items() if word in words),
                default=None,
            )
            if best is not None:
                found[at] = (best[1], best[0])
        whole = sum(self.weight(word) for word in words)
        match = _Match(likeness=0.0, weight=0.0, places=frozenset())
        for places in self._runs(sorted(found)):
            held: dict[str, float] = {}
            for at in places:
                word, likeness = found[at]
                held[word] = max(held.get(word, 0.0), likeness)
            vague = all(word in _EVERYDAY or word in self._index.schema_words for word in held)
            if vague and (held.keys() < words or words <= self._index.schema_words):
                continue
            weight = sum(self.weight(word) * likeness for word, likeness in held.items())
            share = min(weight / whole, 1.0)
            if any(self._tells(word) and likeness == 1.0 for word, likeness in held.items()):
                share = max(share, LEAST_SCORE)
            if (share, weight) > (match.likeness, match.weight):
                match = _Match(likeness=share, weight=weight, places=frozenset(places))
        return match

    def _runs(self, places: Sequence[int]) -> Iterator[list[int]]:
        """Split the places of words into those that stand beside one another."""
        run: list[int] = []
        for at in places:
            if run and at - run[-1] > _WIDEST_GAP + 1:
                yield run
                run = []
            run.append(at)
        if run:
            yield run


def _candidates(asked: _Asked, index: ValueIndex) -> Iterator[Entry]:
    meant = asked.meant
    for start in range(len(asked.words)):
        for end in range(start + 1, min(start + _LONGEST_PHRASE, len(asked.words)) + 1):
            yield from index.same_words(asked.words[start:end])
    places = sorted(meant)
    for at in places:
        for word in meant[at]:
            if index.count(word) <= _RARE:
                yield from index.with_words([word])
    for at, after in itertools.pairwise(places):
        if after - at <= _WIDEST_GAP + 1:
            for word in meant[at]:
                for other in meant[after]:
                    if word != other:
                        yield from index.with_words([word, other])


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
