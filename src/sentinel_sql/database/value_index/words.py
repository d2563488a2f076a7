"""Splits texts into the words by which the value index finds them."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, without case, accents and plural endings."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text.casefold())
        if not unicodedata.combining(letter)
    )
    return tuple(singular(word) for word in _WORD.findall(plain))


def singular(word: str) -> str:
    """Return an English word without its plural ending; other words mostly stay as they are.

    The rules are those of Harman's S stemmer (doi:10.1002/asi.4630420102).
    """
    if len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    if word[-2] not in "us" and not word.endswith(("is", "es")):
        return word[:-1]
    return word
