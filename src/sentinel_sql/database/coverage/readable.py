"""Whether a question can be read by its English words, without an earlier turn."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final

_ENGLISH_WORDS: Final = """
a about after all am an and any are as at be been before between by can could did do does during
each ever every for from get give given got had has have he her him his how i if in into is it its
last list many me more most much my no not number of on one only or other our out over
per please recent said same say she should show since so some tell than that the their
them then there these they this those through time times to under until up us use used was we week
were what when where which who whom whose why will with within would year years you your find
first latest total average
"""
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())
"""Words by which an English question is known (our choice)."""

_OTHERS_WORDS: Final = """
der die das den dem des ein eine einer eines einem einen und oder nicht ist sind war waren wurde
wurden wird werden hat haben hatte hatten wie viele wieviele welche welcher welches wann wer wo
warum mit ohne bei von vom zum zur im am auf aus nach vor seit bis letzten letzte letzter erste
ersten jahr jahre bitte gib zeige nenne le la les des du un une et ou est sont ont eu combien quel
quelle quels quelles quand qui pourquoi avec sans chez dans pour par sur depuis jusque dernier
derniere dernière premier premiere première annee année annees années moyenne nombre liste donnez
donne montre patiente durant lors cette ces el los las una y o es son fue fueron tiene tienen
cuantos cuántos cuantas cuántas cual cuál cuando cuándo quien quién donde dónde con sin desde
hasta ultimo último primera il lo gli di che quanti quante quale quando chi con senza ultimo hanno
sono era erano
"""
_OTHERS: Final = frozenset(_OTHERS_WORDS.split())
"""Frequent words of German, French, Spanish and Italian (our choice)."""

_LEANS: Final = re.compile(
    r"(and|or|but|what about|how about|and what about|same( \w+)?( question)? (for|but|with)|"
    r"the same|also|too|instead|now|then|only|just|ok(ay)?|no|yes|that|those|these|it|they|them)\b",
    re.IGNORECASE,
)
_MEANT_BEFORE: Final = re.compile(
    r"\b(of (them|those|these)|the (others?|rest|former|latter)|that (number|list|group)|"
    r"those (ones|patients|people|stays|results?)|same (patients?|people|period)(?=\W*$)|"
    r"instead(?! of)|as well(?! as)|(the )?previous (one|question|answer)|"
    r"you (just )?(said|gave|listed))\b",
    re.IGNORECASE,
)
_POINTS_BACK: Final = re.compile(
    r"\b(that|they|them|those|these|it)\W*$|^(since when|make it)\b", re.IGNORECASE
)
_STANDS_ALONE: Final = re.compile(
    r"\b(how|what|when|which|who|whose|where|why|list|show|give|tell|count|find|is|are|was|were|did|"
    r"does|do|has|have|had)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

SHORTEST: Final = 4
"""Fewest words by which a language is told (our choice)."""

LEAST_ENGLISH: Final = 0.2
"""Least share of frequent English words in an English question (our choice)."""

LEAST_KNOWN: Final = 0.5
"""Least share of words that are frequent or held by the database, where few are frequent (our
choice): people also write `mean heart rate, icu stay 31287070`."""


MOST_SLIPS: Final = 2
"""Slips of the fingers from which on a question counts as full of typing errors (our choice)."""


def why_unreadable(
    question: str, held: Container[str] = (), *, may_lean: bool = False
) -> str | None:
    """Return why a question can't be read, in words for people; None if it can.

    The rules are cues of English and need no model. A question that is read although it shouldn't
    be costs what it always did; one that isn't read is never refused for its words.

    Args:
        question: its text.
        held: its words, in lower case, that the database holds as they are.
        may_lean: whether the earlier turns that it may lean on are known.
    """
    words = [word.lower() for word in _WORD.findall(question)]
    if not may_lean and _leans(question, words):
        return "it seems to lean on an earlier turn"
    if len(words) < SHORTEST:
        return None
    english = sum(word in _ENGLISH for word in words)
    foreign = sum(word in _OTHERS and word not in _ENGLISH for word in words)
    if foreign > english or foreign >= max(2, english):
        return "it doesn't seem to be in English"
    if sum(_is_slip(word, held) for word in words) >= MOST_SLIPS:
        return "it is full of typing errors"
    known = sum(word in _ENGLISH or word in held for word in words)
    if english < LEAST_ENGLISH * len(words) and known < LEAST_KNOWN * len(words):
        return "few of its words are English as it is written"
    return None


def _leans(question: str, words: list[str]) -> bool:
    text = question.strip()
    if _MEANT_BEFORE.search(text) or (len(words) <= 5 and _POINTS_BACK.search(text)):
        return True
    opening = _LEANS.match(text)
    return opening is not None and (
        len(words) <= 6 or _STANDS_ALONE.search(text[opening.end() :]) is None
    )


def _is_slip(word: str, held: Container[str]) -> bool:
    """Return whether a word is a frequent one with two letters swapped, or one letter left out."""
    if word in _ENGLISH or word in _OFTEN or word in held or len(word) < 3:
        return False
    return word in _SLIPS


_OFTEN_WORDS: Final = """
length percentage number highest lowest cost stay heart rate women right units died hospital
admission admissions emergency prescribed prescriptions female male value values result results
"""
_OFTEN: Final = frozenset(_OFTEN_WORDS.split()) | {"saw", "form", "hat", "ear", "eat", "wen"}


def _slips(word: str) -> Iterator[str]:
    for at in range(len(word)):
        if len(word) > 3:
            yield word[:at] + word[at + 1 :]
        if at + 1 < len(word):
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


_SLIPS: Final = frozenset(
    slip for word in _ENGLISH | _OFTEN if len(word) > 2 for slip in _slips(word)
)
