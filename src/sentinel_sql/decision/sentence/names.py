"""Finds the names in a sentence: quoted, capitalised, or in the position of the answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sentinel_sql.decision.sentence.contents import Contents, folded
from sentinel_sql.decision.sentence.folded_text import FoldedText, own_words
from sentinel_sql.decision.sentence.numbers import Number, blanked
from sentinel_sql.decision.sentence.vocabulary import (
    ACRONYMS,
    ALIASES,
    CALENDAR,
    COMMON,
    COMMON_STEMS,
    OPPOSITES,
    is_english,
    stem,
)
from sentinel_sql.result_line import cell_text

_QUOTED = re.compile(
    r"""(?<!\w)'([^'\n]{1,80})'(?!\w)|"([^"\n]{1,80})"|“([^”\n]{1,80})”|‘([^’\n]{1,80})’|`([^`\n]{1,80})`"""
)
_CAPITAL = re.compile(r"(?<![\w'’])(?:[A-Z][\w'’-]*|[a-z]+\d\w*|\d+[A-Za-z]+\w*)")
_START = re.compile(
    r"(?:^|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)[.!?:]\s+|[\n•*]\s*|^\s*[-–]\s*|[\"“'‘(]\s*)$"
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")
_ANSWER = re.compile(
    r":|\b(?:is|are|was|were|be|include|includes|included|including|namely|received|got|took)\b",
    re.IGNORECASE,
)
_SEGMENT = re.compile(
    r",(?!\d{3})|[;\n•|]|\b(?:and|or|but|while|whereas|plus|followed by)\b", re.IGNORECASE
)
_ASIDE = re.compile(
    r"\s*(?:which|who|whose|that|with|where|when|while|as|for|in|on|at|all|both|each|if|so|based"
    r"|according|respectively|because|since|after|before|during|from|by|to|of)\b",
    re.IGNORECASE,
)
_PLACES = re.compile(r"\W*(?:database|dataset|data|system|schema|table|records)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_]{3,}")
MOST_ROWS = 500
"""Rows whose names are looked for in the sentence, ours: beyond, only single words are."""


@dataclass(frozen=True, kw_only=True)
class SentenceNames:
    """The names of a sentence, compared with those of a result.

    Attributes:
        text: the sentence.
        words: the sentence with its numbers and dates blanked out.
        contents: contents of the result.
        known: stems of the words of the result, the question, the query and the column names.
        mentioned: the text cells that the sentence names, as `folded` returns them.
        question: the text of the question.
    """

    text: str
    words: str
    contents: Contents
    known: frozenset[str]
    mentioned: frozenset[str]
    question: str

    @classmethod
    def of(
        cls,
        text: str,
        contents: Contents,
        *,
        question: str,
        spans: Iterable[tuple[int, int]],
        sources: Iterable[str],
    ) -> SentenceNames:
        """Compare a sentence with a result.

        Args:
            text: the sentence.
            contents: contents of the result.
            question: the text of the question.
            spans: positions of the numbers and dates in the sentence.
            sources: the query and the column names.
        """
        words: set[str] = set()
        for source in (question, *sources, *contents.texts):
            words |= {stem(word) for word in re.findall(r"[^\W_]+", source)}
            words |= _initials(source)
        for cell in contents.texts:
            words |= {stem(alias) for alias in ALIASES.get(cell, ())}
        inside = FoldedText.of(text)
        cells = sorted(contents.texts, key=len, reverse=True)[: 10 * MOST_ROWS]
        mentioned = frozenset(cell for cell in cells if cell and inside.mentions(cell))
        return cls(
            text=text,
            words=blanked(text, spans),
            contents=contents,
            known=frozenset(words),
            mentioned=mentioned,
            question=question,
        )

    def missing(self) -> Iterator[str]:
        """Yield the names that neither the result nor the question holds, in any order."""
        yield from self._quoted()
        yield from self._opposite()
        if is_english(self.text):
            yield from self._capitals()
            yield from self._instead()
            yield from self._in_lists()
            yield from self._swapped()

    def _quoted(self) -> Iterator[str]:
        for match in _QUOTED.finditer(self.text):
            quoted = next(group for group in match.groups() if group is not None)
            words = _WORD.findall(quoted)
            if any(not self._is_known(word) for word in words):
                yield quoted

    def _opposite(self) -> Iterator[str]:
        cell = folded(cell_text(self.contents.single)) if self.contents.has_single else ""
        other = OPPOSITES.get(cell)
        if other is None:
            return
        words = {word.lower() for word in _WORD.findall(self.text)}
        if not words & {cell, *ALIASES[cell]}:
            yield from sorted(words & {other, *ALIASES[other]})

    def _capitals(self) -> Iterator[str]:
        for match in _CAPITAL.finditer(self.words):
            word = match[0].strip("'’-")
            low = word.lower()
            plain = low.removesuffix("'s").removesuffix("’s")
            if len(word) < 2:
                continue
            if plain in ACRONYMS or plain in CALENDAR or self._is_known(word):
                continue
            if _PLACES.match(self.text, match.end()):
                continue
            opens = (
                _START.search(self.words[max(0, match.start() - 20) : match.start()]) is not None
            )
            if opens and word[1:].islower():
                named = self._names(self._sentence_at(match.start()))
                if named or low.endswith("ly") or not self.contents.texts:
                    continue
            yield word

    def _instead(self) -> Iterator[str]:
        """Yield the unknown words of a sentence if it names none of the texts of the result."""
        if not any(map(_NAME.search, self.contents.texts)):
            return
        if any(map(_NAME.search, self.mentioned)):
            return
        for sentence in _SENTENCE.split(self.words):
            answer = _ANSWER.split(sentence)
            whole = self.contents.count == 1 or len(answer) == 1
            yield from self._unknown(sentence if whole else answer[-1])

    def _in_lists(self) -> Iterator[str]:
        """Yield the unknown members of a list if some of its members are in the result."""
        for sentence in _SENTENCE.split(self.words):
            # A list on one line follows a colon or a verb; on several lines, each line is a member.
            listed = sentence if "\n" in sentence else _ANSWER.split(sentence, maxsplit=1)[-1]
            segments = _SEGMENT.split(listed)
            named = [self._names(segment) for segment in segments]
            if len(segments) < 2 or not any(named):
                continue
            for segment, its in zip(segments, named, strict=True):
                unknown = list(self._unknown(segment))
                if not its and not _ASIDE.match(segment) and 1 <= len(unknown) <= 3:
                    yield from unknown

    def _swapped(self) -> Iterator[str]:
        """Yield unknown words in the place of a word of the question: insulin for heparin."""
        asked = re.findall(r"[\w'’-]+", self.question.lower())
        stated = re.findall(r"[\w'’-]+", self.words)
        stems = {stem(word) for word in stated}
        following: dict[str, set[str]] = {}
        for before, word, after in _threes(asked):
            if stem(word) not in stems and stem(word) not in COMMON_STEMS:
                following.setdefault(stem(before), set()).add(stem(after))
        for before, word, after in _threes(stated):
            if stem(before) not in following or len(word) < 3 or self._is_known(word):
                continue
            # "arterial pressure" for "blood pressure" means the same thing.
            if stem(after) in COMMON_STEMS or stem(after) not in following[stem(before)] - {""}:
                yield word

    def in_another_row(self, names_of: dict[str, set[str]]) -> Iterator[str]:
        """Yield numbers that stand next to another name in the sentence than in the result.

        Args:
            names_of: a number as the sentence writes it → the names of its rows in the result.
        """
        yield from self._elsewhere(names_of, self._names)

    def _elsewhere(
        self, names_of: dict[str, set[str]], names_in: Callable[[str], set[str]]
    ) -> Iterator[str]:
        for sentence in _SENTENCE.split(self.text):
            if "respectively" in sentence.lower():
                continue
            pairs: list[tuple[set[str], list[str]]] = []
            for segment in _SEGMENT.split(sentence):
                names = names_in(segment)
                inside = [
                    shown
                    for shown in names_of
                    if re.search(rf"(?<![\w.,]){re.escape(shown)}(?![\w]|[.,]\d)", segment)
                ]
                if names:
                    pairs.append((names, inside))
            if all(len(names) == 1 and len(inside) == 1 for names, inside in pairs):
                for names, (shown,) in pairs:
                    if not names & names_of[shown]:
                        yield shown

    def in_another_column(self, numbers: Iterable[Number], columns: Sequence[str]) -> Iterator[str]:
        """Yield numbers that stand beside a column's name, and in the result in another column.

        Args:
            numbers: of the sentence, which the result holds.
            columns: the names of the columns.
        """
        own = own_words(columns)
        if not any(own) or len(self.contents.rows) > MOST_ROWS:
            return
        names_of: dict[str, set[str]] = {}
        for number in numbers:
            for name, column in zip(columns, self.contents.columns, strict=False):
                if any(
                    abs(its - value) <= half for its in column for value, half in number.readings
                ):
                    names_of.setdefault(number.shown, set()).add(name)

        def named(segment: str) -> set[str]:
            stems = {stem(word) for word in re.findall(r"[^\W\d_]+", segment)}
            return {
                name
                for name, words in zip(columns, own, strict=True)
                if any(its.startswith(word) for word in words for its in stems)
            }

        yield from self._elsewhere(names_of, named)

    def _names(self, segment: str) -> set[str]:
        inside = FoldedText.of(segment)
        near = {cell for its in inside.stems for cell in self._by_stem.get(its, ())}
        found = {cell for cell in near if inside.mentions(cell)}
        joined = "\n".join(found)
        return {cell for cell in found if joined.find(cell, joined.find(cell) + 1) < 0}

    def _unknown(self, text: str) -> Iterator[str]:
        for word in _WORD.findall(text):
            if len(word) > 2 and not self._is_known(word):
                yield word

    def _is_known(self, word: str) -> bool:
        parts = [part for part in re.split(r"['’_-]", word) if len(part) > 1]
        return all(self._is_known_part(part) for part in parts)

    def _is_known_part(self, part: str) -> bool:
        low, its = part.lower(), stem(part)
        if low in COMMON or its in COMMON_STEMS or its in self.known or low in CALENDAR:
            return True
        if low in ACRONYMS or part.isdigit():
            return True
        if len(its) < 5:
            return False
        if any(its[:end] in self.known for end in range(5, len(its))):
            return True
        place = bisect_left(self._sorted, its)
        return place < len(self._sorted) and self._sorted[place].startswith(its)

    @cached_property
    def _by_stem(self) -> dict[str, set[str]]:
        """The mentioned cells by the stems of their words: one that a text names shares a stem."""
        found: dict[str, set[str]] = {}
        for cell in self.mentioned:
            for word in " ".join((cell, *ALIASES.get(cell, ()))).split():
                for its in (stem(word), stem(f"{word}s")):
                    found.setdefault(its, set()).add(cell)
        return found

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.known)

    def _sentence_at(self, place: int) -> str:
        before = (end.end() for end in _SENTENCE.finditer(self.text, 0, place + 1))
        behind = (end.start() for end in _SENTENCE.finditer(self.text, place))
        return self.text[max(before, default=0) : next(behind, None)]


def _threes(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each word but the first with the words before and after it ("" after the last)."""
    for place in range(1, len(words)):
        yield words[place - 1], words[place], words[place + 1] if place + 1 < len(words) else ""


def _initials(source: str) -> set[str]:
    """Return the initials of up to five words in a row: "icu" of "intensive care unit"."""
    words: Sequence[str] = re.findall(r"[^\W\d_]+", source.lower())[:200]
    return {
        "".join(word[0] for word in words[start : start + length])
        for length in range(2, 6)
        for start in range(len(words) - length + 1)
    } - {"is", "in", "it", "at", "no"}
