"""Finds what a database holds of a question: its names, comments, stored texts, ids and dates."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Final, Self

from sentinel_sql.arguments import checked
from sentinel_sql.coverage import Coverage, CoveredPhrase, PhraseMatch
from sentinel_sql.database.coverage.key_columns import KeyColumns
from sentinel_sql.database.coverage.readable import why_unreadable
from sentinel_sql.database.coverage.schema_words import SchemaWords
from sentinel_sql.database.executor import Database
from sentinel_sql.database.value_index.column_choice import is_personal
from sentinel_sql.database.value_index.index import Entry, ValueIndex
from sentinel_sql.database.value_index.opening import open_value_index
from sentinel_sql.database.value_index.words import words_of

_TOKEN: Final = re.compile(r"[^\W_]+(?:[.'][^\W_]+)*")
_YEAR: Final = re.compile(r"(?:19|20|21|22)\d\d")

LONGEST_PHRASE: Final = 8
MOST_MATCHES: Final = 5
LEAST_LIKENESS: Final = 0.7
"""Least likeness of a word and a stored one that it may be a misspelling of (our choice)."""

_SHORTEST_ALIKE: Final = 5
_SHORTEST_ID: Final = 4
_LONGEST_ID: Final = 19
_KEPT: Final = 500

_STOP: Final = """
a about above after all also am among an and any april are around as ask asked asking at august
available average be been before being below between both but by can case cases check colleague
common compute could count counts current currently database date dates day days december describe
did differ difference different distinct do does doing done during each earlier earliest eight
either ever every february find first five following for four frequent friday from further get
give given greater greatest had has have having he help her here hers higher highest him his hour
hours how i if in included including into is it its january july june just kindly know larger
largest last later latest least less like list long longer longest look lower lowest made make
many march maximum may me mean median might mine minimum minus minute minutes monday month months
more most much must my name named names need needed newest next nine no nor not note november now
number october of off often oldest on once one ones only or other our out over overall own patient
patients per percent percentage please previous proportion provide question quick ratio recent
recently record recorded records report review right said same saturday say see september seven
share she shorter shortest should show since six smaller smallest so some state still sum sunday
tell ten than thank thanks that the their them then there these they thing things this those
though three through throughout thursday time times to today together too top total toward tuesday
twice two under undergo undergone unique until up upon us use used using value values very want
wanted was way we wednesday week weeks were what whatever when where whether which while who whole
whom whose why will with within without would year years yes yesterday yet you youngest your
"""
STOP_WORDS: Final = frozenset(words_of(_STOP))
"""Words that ask rather than mean, as `words_of` gives them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    """A word of the question, and where it stands."""

    text: str
    start: int
    word: str

    @property
    def is_content(self) -> bool:
        return self.word not in STOP_WORDS and (len(self.word) > 2 or self.text.isupper())


class DatabaseGrounder:
    """Makes coverage records of questions over one database; safe to use from several threads.

    Args:
        database: the open database.
        index: its open value index.
        keep_values: whether records may hold stored texts.
    """

    def __init__(self, database: Database, index: ValueIndex, *, keep_values: bool = False) -> None:
        self._index = index
        self._keep_values = keep_values
        self._names = SchemaWords(database.schema)
        self._keys = KeyColumns(database)
        self._clock = database.clock
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, ...], Coverage] = OrderedDict()

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ground(self, question: str, history: Sequence[str] = ()) -> Coverage:
        """Return what the database holds of a question, and of the earlier turns of its chat."""
        asked = (question, *history)
        with self._lock:
            if asked in self._made:
                self._made.move_to_end(asked)
                return self._made[asked]
        made = self._ground(question, history)
        with self._lock:
            self._made[asked] = made
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return made

    def _ground(self, question: str, history: Sequence[str]) -> Coverage:
        own = self._phrases_of(question)
        earlier = tuple(
            phrase.model_copy(update={"earlier": True})
            for turn in history
            for phrase in self._phrases_of(turn)
        )
        phrases = (*own, *earlier)
        held = {
            word
            for phrase in phrases
            if any(match.how != "alike" for match in phrase.matches)
            for word in phrase.text.lower().replace("-", " ").split()
        }
        unread = why_unreadable(" ".join([*history, question]), held, may_lean=bool(history))
        return Coverage(readable=unread is None, why_unread=unread, phrases=phrases)

    def _phrases_of(self, question: str) -> tuple[CoveredPhrase, ...]:
        tokens = [
            _Token(text=found[0], start=found.start(), word=word)
            for found in _TOKEN.finditer(question)
            for word in [" ".join(words_of(found[0]))]
        ]
        return tuple(self._phrases(question, tokens))

    def _phrases(self, question: str, tokens: Sequence[_Token]) -> Iterator[CoveredPhrase]:
        at = 0
        while at < len(tokens):
            size, entries = self._longest_text(tokens[at:])
            if size > 1 or entries:
                matches = [self._match_of(entry, "exact", 1.0) for entry in entries]
                if size == 1:
                    matches += self._names.matches(tokens[at].word)
                yield _phrase(question, tokens[at : at + size], matches)
                at += size
                continue
            token = tokens[at]
            at += 1
            if token.word[:1].isdigit() and any(map(str.isdigit, token.word)):
                yield from self._number(question, token)
            elif token.is_content:
                yield _phrase(question, [token], self._word_matches(token.word))

    def _longest_text(self, tokens: Sequence[_Token]) -> tuple[int, list[Entry]]:
        """Return the longest run of words, from the first one, that is just a stored text."""
        for size in range(min(LONGEST_PHRASE, len(tokens)), 0, -1):
            run = tokens[:size]
            if not (run[0].is_content and any(token.is_content for token in run)):
                return 1, []
            words = [word for token in run for word in token.word.split()]
            if not words or (size == 1 and words[0].isdigit()):
                continue
            entries = self._index.same_words(words, most=MOST_MATCHES)
            if entries:
                return size, entries
        return 1, []

    def _word_matches(self, word: str) -> list[PhraseMatch]:
        matches = self._names.matches(word)
        if not word or " " in word:
            return matches
        if self._index.count(word):
            entries = self._index.with_words([word], most=MOST_MATCHES)
            matches += [
                self._match_of(entry, "partly", 1.0 / max(1, len(entry.words))) for entry in entries
            ]
        elif not matches and len(word) >= _SHORTEST_ALIKE and word.isalpha():
            for other, likeness in self._index.alike(word, least=LEAST_LIKENESS, most=2):
                if other[0] == word[0]:
                    matches += [
                        self._match_of(entry, "alike", likeness)
                        for entry in self._index.with_words([other], most=2)
                    ]
        return matches

    def _match_of(self, entry: Entry, how: str, likeness: float) -> PhraseMatch:
        shown = self._keep_values and not is_personal(entry.table, entry.column)
        return PhraseMatch.model_validate(
            {
                "kind": "value",
                "table": entry.table,
                "column": entry.column,
                "how": how,
                "likeness": round(min(1.0, likeness), 3),
                "value": entry.text if shown else None,
            }
        )

    def _number(self, question: str, token: _Token) -> Iterator[CoveredPhrase]:
        if _YEAR.fullmatch(token.text):
            after = token.text > self._clock[:4]
            inside = self._keys.year_in_span(int(token.text))
            kinds = ["after-clock"] if after else ["date"] if inside in (True, None) else []
            yield _phrase(
                question, [token], [PhraseMatch.model_validate({"kind": it}) for it in kinds]
            )
        elif token.text.isdigit() and len(token.text) >= _SHORTEST_ID:
            held = self._keys.columns_with(int(token.text)) if len(token.text) < _LONGEST_ID else ()
            matches = [
                PhraseMatch(kind="id", table=table, column=column) for table, column in held or ()
            ]
            if held is None:
                matches = [PhraseMatch(kind="number")]
            yield _phrase(question, [token], matches)
        elif token.text.replace(".", "", 1).isdigit():
            yield _phrase(question, [token], [PhraseMatch(kind="number")])


def _phrase(
    question: str, tokens: Sequence[_Token], matches: Sequence[PhraseMatch]
) -> CoveredPhrase:
    start, end = tokens[0].start, tokens[-1].start + len(tokens[-1].text)
    return CoveredPhrase(
        text=question[start:end],
        start=start,
        words=tuple(word for token in tokens for word in token.word.split()),
        matches=tuple(sorted(matches, key=_sureness)[:MOST_MATCHES]),
    )


def _sureness(match: PhraseMatch) -> tuple[bool, float]:
    """Return a key that sorts matches, the surest first; a comment says least."""
    return match.kind == "comment", -match.likeness


@checked
def open_grounder(
    database: Database,
    *,
    index: str | PathLike[str] | None = None,
    keep_values: bool = False,
) -> DatabaseGrounder:
    """Return what makes coverage records of questions over a database; close it after use.

    Its value index is opened, and made first if it is missing or outdated.

    Args:
        database: the open database.
        index: the index file; by default beside the database's file, or in the user's cache.
        keep_values: whether records may hold stored texts.

    Raises:
        DatabaseError: the index can't be made.
    """
    return DatabaseGrounder(
        database, open_value_index(database, file=index), keep_values=keep_values
    )
