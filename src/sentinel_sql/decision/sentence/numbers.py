"""Reads numbers in text: digits, number words, percentages, fractions, units and hedges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from sentinel_sql.decision.sentence.number_words import (
    NUMBER_WORD,
    NUMBER_WORDS,
    SMALL,
    number_of,
)
from sentinel_sql.decision.sentence.units import UNITS

Bound = Literal["exact", "about", "above", "below"]

_SCALES = {
    **dict.fromkeys(("k", "thousand", "thousands"), 3),
    **dict.fromkeys(("m", "mn", "million", "millions"), 6),
    **dict.fromkeys(("b", "bn", "billion", "billions"), 9),
    **dict.fromkeys(("trillion", "tn"), 12),
}
_PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}

_FRACTION = re.compile(
    r"\b(?P<count>a|an|one|two|three|four)[\s-]+(?P<part>third|quarter|fourth|fifth|tenth)s?\b"
    r"(?=\s+(?:of|the)\b|\W*$)|\bhalf\b(?=\s+of\b)",
    re.IGNORECASE,
)
_MIXED = re.compile(
    rf"\b(?P<whole>{'|'.join(sorted(SMALL, key=len, reverse=True))}|\d{{1,6}})\s+and\s+an?\s+"
    r"(?P<part>half|quarter)\b",
    re.IGNORECASE,
)
_PLAIN_WORDS: Mapping[str, tuple[int, Decimal]] = {
    "a dozen": (12, Decimal("0.5")),
    "twelve dozen": (144, Decimal("0.5")),
    "half a dozen": (6, Decimal("0.5")),
    "twice": (2, Decimal("0.5")),
    "thrice": (3, Decimal("0.5")),
    "dozens of": (112, Decimal(88)),
    "hundreds of": (1050, Decimal(950)),
    "thousands of": (10_500, Decimal(9_500)),
    "millions of": (10_500_000, Decimal(9_500_000)),
}
"""Words for a number or a rough size → the middle and half the width of the range they mean."""
_PLAIN = re.compile(
    rf"\b(?:{'|'.join(sorted(_PLAIN_WORDS, key=len, reverse=True))})\b(?!\s+as\b)", re.IGNORECASE
)
_BODY = r"\d{1,3}(?:[,.'’\u00a0\u202f\u2009 ]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?|\.\d+"
_DIGITS = re.compile(
    rf"(?<![\w.])(?<![A-Za-z]-)(?P<sign>(?<![\d)])[-−+])?(?:[$€£¥]\s?)?(?P<body>{_BODY})(?P<exp>[eE][+-]?\d+)?"
    r"(?:(?P<ordinal>st|nd|rd|th)(?![A-Za-z])"
    r"|\s?(?P<percent>%|per\s?cent\b|percent\b|percentage\b|pct\b)"
    r"|\s?(?P<scale>thousands?|millions?|billions?|trillion|[kKMB]|mn|bn|tn)(?![A-Za-z])"
    r"|(?P<more>\+)(?!\d))?"
    r"(?P<code>[A-Za-z]\w*)?"
)
_UNIT = re.compile(r"[\s-]?([A-Za-zµ]+)")
_WORD = re.compile(r"[\w%]+(?:['’]\w+)?")
_HEDGE_WORDS: tuple[tuple[Bound, str], ...] = (
    (
        "above",
        r"\b(?:no|not)\s+(?:fewer|less)\s+than|(?<!\bno\s)(?<!\bnot\s)\bmore\s+than|\bgreater\s+than|\bover"
        r"|\babove|\bat\s+least|\bexceed(?:s|ing|ed)?|\bupwards\s+of|\bminimum\s+of|[>≥]=?",
    ),
    (
        "below",
        r"\b(?:no|not)\s+more\s+than|(?<!\bno\s)(?<!\bnot\s)\b(?:fewer|less)\s+than|\bunder|\bbelow"
        r"|\bat\s+most|\bup\s+to|\bmaximum\s+of|[<≤]=?",
    ),
    (
        "about",
        r"\babout|\baround|\bapprox(?:imately)?\.?|\broughly|\bnearly|\balmost|\bcirca"
        r"|\bca\.?|\bsome|\bclose\s+to|[~≈]|\bestimated",
    ),
)
_HEDGES = tuple(
    (bound, re.compile(rf"(?:{words})\W*(?:the\s+|a\s+total\s+of\s+)?\W*$", re.IGNORECASE))
    for bound, words in _HEDGE_WORDS
)
_AFTER: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    ("above", re.compile(r"\s+or\s+(?:more|higher|greater|above|over|older|later)\b", re.I)),
    ("below", re.compile(r"\s+or\s+(?:less|fewer|lower|below|under|younger)\b", re.I)),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number that a text states.

    Attributes:
        start, end: its place in the text, including a unit or a percent sign.
        shown: as it is written.
        readings: each value that it may mean, with half a unit of its last digit. "1.234" is
            1.234 or, with a thousands separator, 1234.
        bound: whether the text says "about", "more than" or "less than" this number.
        percent: it is a percentage.
        fraction: it is a fraction in words, such as "a third".
        ordinal: it is an ordinal, such as "2nd".
        unit: its unit of time, mass, volume or length, or None.
        pieces: the separate numbers, if the blanks within it separate numbers.
    """

    start: int
    end: int
    shown: str
    readings: tuple[tuple[Decimal, Decimal], ...]
    bound: Bound = "exact"
    percent: bool = False
    fraction: bool = False
    ordinal: bool = False
    unit: str | None = None
    pieces: tuple[Decimal, ...] = ()


def numbers_in(text: str) -> list[Number]:
    """Return the numbers in a text, in order."""
    used = bytearray(len(text))
    found: list[Number] = []
    for number in (*_mixed(text), *_plain(text), *_fractions(text), *_digits(text), *_words(text)):
        if not any(used[number.start : number.end]):
            used[number.start : number.end] = b"\x01" * (number.end - number.start)
            found.append(number)
    return sorted(found, key=lambda number: number.start)


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with the given spans replaced by blanks."""
    marks = list(text)
    for start, end in spans:
        marks[start:end] = " " * (end - start)
    return "".join(marks)


def _plain(text: str) -> Iterator[Number]:
    for match in _PLAIN.finditer(text):
        middle, half = _PLAIN_WORDS[match[0].lower()]
        yield Number(
            start=match.start(),
            end=match.end(),
            shown=match[0],
            readings=((Decimal(middle), half),),
        )


def _mixed(text: str) -> Iterator[Number]:
    """Yield "one and a half days"."""
    for match in _MIXED.finditer(text):
        whole = number_of([match["whole"].lower()]) if match["whole"].isalpha() else match["whole"]
        if whole is None:
            continue
        unit = _UNIT.match(text, match.end())
        named = unit[1].lower() if unit and len(unit[1]) > 1 and unit[1].lower() in UNITS else None
        bound, _ = _bound(text, match.start(), match.end())
        part = Decimal(1) / (2 if match["part"].lower() == "half" else 4)
        yield Number(
            start=match.start(),
            end=match.end(),
            shown=match[0],
            readings=((Decimal(whole) + part, Decimal("0.125")),),
            bound=bound,
            unit=named,
        )


def _fractions(text: str) -> Iterator[Number]:
    for match in _FRACTION.finditer(text):
        part = (match["part"] or "half").lower()
        count = (match["count"] or "a").lower()
        share = Decimal(100 * SMALL.get(count, 1)) / _PARTS[part]
        bound, start = _bound(text, match.start(), match.end())
        yield Number(
            start=start,
            end=match.end(),
            shown=match[0],
            readings=((share, Decimal(1)),),
            bound=bound,
            percent=True,
            fraction=True,
        )


def _digits(text: str) -> Iterator[Number]:
    hours_end = -1
    for match in _DIGITS.finditer(text):
        unit, end = _unit(text, match)
        if unit == "m" and 0 <= match.start() - hours_end <= 1:
            unit = "min"  # "1h 30m"
        hours_end = end if unit in ("h", "hr", "hrs", "hour", "hours") else -1
        if match["code"] is not None and unit is None:
            continue  # a code such as "5HT2"
        readings = tuple(_readings(match))
        bound, _ = _bound(text, match.start(), end)
        yield Number(
            start=match.start(),
            end=end,
            shown=text[match.start("sign" if match["sign"] else "body") : end].strip(),
            readings=readings,
            bound="above" if match["more"] else bound,
            percent=match["percent"] is not None,
            ordinal=match["ordinal"] is not None,
            unit=unit,
            pieces=_pieces(match["body"]),
        )


def _pieces(body: str) -> tuple[Decimal, ...]:
    parts = body.split(" ")
    return tuple(map(Decimal, parts)) if len(parts) > 1 and all(map(str.isdigit, parts)) else ()


def _unit(text: str, match: re.Match[str]) -> tuple[str | None, int]:
    if match["code"] is not None:
        name = match["code"].lower()
        return (name, match.end()) if name in UNITS else (None, match.end())
    if match["percent"] or match["ordinal"]:
        return None, match.end()
    following = _UNIT.match(text, match.end())
    name = following[1].lower() if following else ""
    if (
        following is None
        or name not in UNITS
        or (len(name) == 1 and following[1] not in (name, "L"))
    ):
        return None, match.end()
    return name, following.end()


def _readings(match: re.Match[str]) -> Iterator[tuple[Decimal, Decimal]]:
    body = match["body"]
    scale = Decimal(10) ** (
        _SCALES.get((match["scale"] or "").lower(), 0) + int((match["exp"] or "e0")[1:])
        if len(match["exp"] or "") < 6
        else 0
    )
    sign = -1 if match["sign"] in ("-", "−") else 1
    plain = re.sub(r"['’\u00a0\u202f\u2009 ]", "", body)
    last = max(plain.rfind("."), plain.rfind(","))
    written = (
        {re.sub(r"[.,]", "", plain[:last]) + "." + plain[last + 1 :]} if last >= 0 else {plain}
    )
    grouped = re.sub(r"[.,]", "", plain)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", plain):
        written = {grouped}  # 12,345 is a whole number in English, not a fraction
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+", plain):
        written |= {grouped} if plain.count(".") == 1 else set()
        written = {grouped} if plain.count(".") > 1 else written
    for each in sorted(written):
        try:
            value = Decimal(each)
        except InvalidOperation:
            continue
        places = len(each.partition(".")[2])
        yield sign * value * scale, scale * Decimal(5) / 10 ** (places + 1)


def _words(text: str) -> Iterator[Number]:
    for match in NUMBER_WORDS.finditer(text):
        words = re.split(r"[\s-]+", match[0].lower())
        if words == ["one"] and not _is_count(text, match):
            continue
        value = number_of(words)
        if value is None:
            continue
        following = re.compile(r"\s?(?:%|per\s?cent\b|percent\b)").match(text, match.end())
        unit = _UNIT.match(text, match.end())
        named = unit[1].lower() if unit and len(unit[1]) > 1 and unit[1].lower() in UNITS else None
        bound, _ = _bound(text, match.start(), match.end())
        rough = Decimal(10**6) if value >= 10**6 else Decimal(1)
        yield Number(
            start=match.start(),
            end=following.end() if following else match.end(),
            shown=match[0],
            readings=((Decimal(value), rough / 2),),
            bound=bound,
            percent=following is not None,
            unit=named,
        )


def _is_count(text: str, match: re.Match[str]) -> bool:
    """Return whether "one" is a count ("exactly one patient"), unlike "one of them" or "no one"."""
    before = words_before(text, match.start(), 1)
    after = _WORD.search(text, match.end())
    follows = after[0].lower() if after else ""
    if re.match(
        rf"\s+(?:in|out\s+of)\s+(?:every\s+)?(?:{NUMBER_WORD})\b", text[match.end() :], re.I
    ):
        return True
    if follows in ("", "of", "that", "which", "who", "with", "to", "can", "more", "another"):
        return False
    return before in ("", "is", "was", "only", "just", "exactly", "found", "has", "had", "are")


def _bound(text: str, start: int, end: int) -> tuple[Bound, int]:
    before = text[max(0, start - 40) : start]
    for bound, pattern in _HEDGES:
        if pattern.search(before):
            return bound, start
    for bound, pattern in _AFTER:
        if pattern.match(text, end):
            return bound, start
    return "exact", start


def words_before(text: str, place: int, count: int) -> str:
    """Return the `count` words before a place, in lower case, joined by blanks."""
    before = re.split(r"[.!?:;]\s", text[max(0, place - 80) : place])[-1]
    return " ".join(word.lower() for word in _WORD.findall(before)[-count:])


def words_after(text: str, place: int, count: int) -> str:
    """Return the `count` words after a place, in lower case, joined by blanks."""
    behind = re.split(r"[.!?:;](?:\s|$)", text[place : place + 80])[0]
    return " ".join(word.lower() for word in _WORD.findall(behind)[:count])
