"""Reads dates and times of day in text: ISO dates, dates in digits, and month names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

Day: TypeAlias = tuple[int | None, int | None, int | None]
"""Year, month, day; None for a part that isn't stated."""

Clock: TypeAlias = tuple[int, int, int | None]
"""Hour, minute, second; None if the second isn't stated."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sept sep", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAME = rf"(?P<name>{'|'.join(_MONTHS)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d-])(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
        r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})(?![\d-])",
        r"(?<![\d/.-])(?P<one>\d{1,2})(?P<mark>[/.-])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4})(?!\d)",
        rf"\b{_DAY}\s+(?:of\s+)?{_NAME}(?:,?\s+(?P<year>\d{{4}})\b)?",
        rf"\b{_NAME}\s+(?:the\s+)?{_DAY}(?!\d|\s*%)(?:,?\s+(?P<year>\d{{4}})\b)?",
        rf"\b{_NAME},?\s+(?:of\s+)?(?P<year>\d{{4}})\b",
        rf"(?<=\bin\s){_NAME}|(?<=\bof\s){_NAME.replace('?P<name>', '?P<alone>')}",
    )
)
_TIME = re.compile(
    r"(?<![\d:])(?:T)?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?(?![\d:])"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?|\b(?P<only>\d{1,2})\s?(?P<part>[ap])\.?m\b\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """A date or a time of day that a text states, with its place in the text.

    `days` holds each date that it may mean (3/5/2100 is in March or in May). `clock` is the time
    of day. Only one of the two is set.
    """

    start: int
    end: int
    shown: str
    days: frozenset[Day] = frozenset()
    clock: Clock | None = None


def moments_in(text: str) -> list[Moment]:
    """Return the dates and times of day in a text, in order."""
    taken = bytearray(len(text))
    found: list[Moment] = []
    for moment in (*_days(text), *_clocks(text)):
        if not any(taken[moment.start : moment.end]):
            taken[moment.start : moment.end] = b"\x01" * (moment.end - moment.start)
            found.append(moment)
    return sorted(found, key=lambda moment: moment.start)


def agrees(stated: Day, found: Day) -> bool:
    """Return whether a stated date agrees with a date of the result in all stated parts."""
    return all(ours is None or ours == theirs for ours, theirs in zip(stated, found, strict=True))


def _days(text: str) -> Iterator[Moment]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            year = int(groups["year"]) if groups.get("year") else None
            day = int(groups["day"]) if groups.get("day") else None
            days: set[Day]
            if groups.get("one"):
                one, two = int(groups["one"]), int(groups["two"])
                days = {(year, one, two), (year, two, one)}
            elif name := groups.get("name") or groups.get("alone"):
                if name.lower() in ("may", "march", "mar") and name.islower():
                    continue  # the verbs "may" and "march", not the months
                days = {(year, _MONTHS[name.lower()], day)}
            else:
                days = {(year, int(groups["month"]), day)}
            real = frozenset(each for each in days if _is_real(each))
            if real:
                yield Moment(
                    start=match.start(), end=match.end(), shown=match[0].rstrip("."), days=real
                )


def _clocks(text: str) -> Iterator[Moment]:
    for match in _TIME.finditer(text):
        hour = int(match["hour"] or match["only"])
        half = (match["half"] or match["part"] or "").lower()
        if half:
            if not 1 <= hour <= 12:
                continue
            hour = hour % 12 + (12 if half == "p" else 0)
        minute = int(match["minute"] or 0)
        if hour < 24 and minute < 60:
            second = int(match["second"]) if match["second"] else None
            yield Moment(
                start=match.start(),
                end=match.end(),
                shown=match[0].strip(" ."),
                clock=(hour, minute, second),
            )


def _is_real(day: Day) -> bool:
    try:
        date(day[0] or 2000, day[1] or 1, day[2] or 1)
    except ValueError:
        return False
    return True
