"""Reads numbers written as words: "five hundred and eleven", "twenty-one"."""

from __future__ import annotations

import re

_UP_TO_NINETEEN = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
SMALL = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())}
_TENS_WORDS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * tens for tens, word in enumerate(_TENS_WORDS.split(" ")) if tens > 1}
_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}

NUMBER_WORD = "|".join((*SMALL, *_TENS, *_LARGE))
NUMBER_WORDS = re.compile(
    rf"\b(?:(?:a|an)\s+(?=hundred|thousand|million|billion))?"
    rf"(?:{NUMBER_WORD})(?:(?:\s+and\s+|[\s-]+)(?:{NUMBER_WORD}))*\b",
    re.IGNORECASE,
)


def number_of(words: list[str]) -> int | None:
    """Return the number that lower-case words stand for, or None."""
    total, current = 0, 0
    for word in words:
        if word in ("and", "a", "an"):
            current = current or (0 if word == "and" else 1)
        elif word in SMALL:
            current += SMALL[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _LARGE:
            total += max(current, 1) * _LARGE[word]
            current = 0
        else:
            return None
    return total + current
