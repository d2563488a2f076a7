"""Checks whether a result holds a stated number: the same, rounded, converted or derived."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations

from sentinel_sql.decision.sentence.contents import Contents
from sentinel_sql.decision.sentence.numbers import Number, words_after, words_before
from sentinel_sql.decision.sentence.units import UNITS

_TOTAL = re.compile(r"\b(?:total|altogether|in all|sum|combined|overall|together)\b", re.I)
_OF_ALL = re.compile(r"\b(?:out\s+)?of(?:\s+(?:the|all|these|those))?\W*$", re.I)
_MEAN = re.compile(r"\b(?:average|averages|averaged|mean)\b", re.I)
_DIFFERENCE = re.compile(
    r"\b(?:loss|lost|gain(?:ed)?|saved|outnumber\w*|exceed\w*|ahead|behind|margin|points?|more|less|fewer|higher|lower|difference|differs?|gap|increase[ds]?|decrease[ds]?|rose"
    r"|fell|grew|drop(?:ped)?|change[ds]?|later|earlier|longer|shorter|older|younger|apart)\b",
    re.I,
)
_TIMES = re.compile(r"\b(?:times|fold|twice|double)\b", re.I)
_FALL = re.compile(
    r"\b(?:decrease[ds]?|decline[ds]?|drop(?:ped|s)?|fell|falls?|lower|loss|lost|less|down|fewer"
    r"|below|minus|negative|overdrawn|deficit|debt|owe[ds]?|short|reduc\w+|before|ago)\b",
    re.I,
)
_OTHERS = ("more", "others", "other", "additional", "remaining", "further", "rest")
_YEAR = re.compile(r"[12]\d{3}")
_JUST = re.compile(r"\b(?:just|only|exactly|is|was)\s+$", re.I)
_HUNDRED = Decimal(100)
_SCALES = frozenset({Decimal(5), Decimal(10), Decimal(100)})
_DAY = 86_400
_ROUGH_SHARE = Decimal(5)
"""Hundredths that "about a third" may be off, ours."""
_MOST_DATES = 20
"""Most dates between which time spans are computed (our choice)."""


def holds_number(number: Number, contents: Contents, *, text: str, asked_units: set[str]) -> bool:
    """Return whether a result holds a number of a sentence.

    Args:
        number: a number from `numbers_in`.
        contents: contents of the result.
        text: the sentence.
        asked_units: units that the question names.
    """
    if number.ordinal:
        places = contents.count if contents.count is not None else 10**9
        value = number.readings[0][0]
        ranked = 1 <= value <= places and not contents.has_single
        return ranked or _direct(number, contents)
    if _direct(number, contents) and not _other_unit(number, contents, asked_units):
        return True
    counts = contents.counts
    if number.unit is None and not number.percent:
        exact = {value for value, _ in number.readings}
        if any(Decimal(count) in exact or _within(number, [Decimal(count)]) for count in counts):
            return True
        alone = contents.has_single and contents.single_number is None
        if (
            alone
            and exact == {Decimal(1)}
            and _JUST.search(text[max(0, number.start - 20) : number.start])
        ):
            return True  # "just one: heparin"
        others = words_after(text, number.end, 1) in _OTHERS
        if others and any(0 < value < max(counts, default=0) for value in exact):
            return True
    if number.unit is not None and (
        _converted(number, contents, asked_units) or _apart(number, contents)
    ):
        return True
    return _within(number, _derived(number, contents, text))


def combined_units_held(
    numbers: Sequence[Number], contents: Contents, asked_units: set[str]
) -> bool:
    """Return whether "2 days and 3 hours" is a number of the result in some unit."""
    sizes = [UNITS[number.unit] for number in numbers if number.unit is not None]
    total = sum(
        (number.readings[0][0] * size for number, (_, size) in zip(numbers, sizes, strict=True)),
        Decimal(0),
    )
    smallest = min(size for _, size in sizes)
    family = sizes[0][0]
    return any(
        contents.holds((total - smallest / 2) / size, (total + smallest / 2) / size)
        for size in _unit_sizes(family, contents, asked_units)
    )


def _direct(number: Number, contents: Contents) -> bool:
    """Compare with the numbers of the result; a percentage also with its hundredth."""
    for low, high in _ranges(number):
        share = number.fraction or number.percent
        if share and contents.holds(low / _HUNDRED, high / _HUNDRED):
            return True
        if contents.holds(low, high):
            return True
    return False


def _ranges(number: Number) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield the intervals in which a number of the result agrees with the stated one."""
    for value, half in number.readings:
        if number.bound == "above" and value > 0:
            yield value - half, 2 * value
        elif number.bound == "below" and value > 0:
            yield value / 2, value + half
        elif number.bound == "about":
            # "About 63.5" says more than "about 63", and "about 512" more than "about 500".
            last = _unit_of_last_digit(value) or 2 * half
            fives = 5 if value / last % 10 == 5 else 1
            rough = max(last / 2, min(abs(value) / 20, last * fives))
            if number.fraction:
                rough = max(rough, _ROUGH_SHARE)
            yield value - rough, value + rough
        else:
            yield value - half, value + half


def _unit_of_last_digit(value: Decimal) -> Decimal:
    """Return the power of ten that a rough number is rounded to: 100 for 500, 10 for 510."""
    if value != value.to_integral_value() or value == 0:
        return Decimal(0)
    whole = abs(int(value))
    zeros = len(str(whole)) - len(str(whole).rstrip("0"))
    return Decimal(10) ** zeros if zeros else Decimal(0)


def _within(number: Number, candidates: Iterable[Decimal]) -> bool:
    ranges = list(_ranges(number))
    return any(low <= value <= high for value in candidates for low, high in ranges)


def _unit_sizes(family: str, contents: Contents, asked_units: set[str]) -> set[Decimal]:
    """Return the sizes of the units that the result's numbers may have."""
    named = {unit for unit in contents.units if unit is not None} or asked_units
    sizes = {UNITS[unit][1] for unit in named if UNITS[unit][0] == family}
    return sizes or {size for kind, size in UNITS.values() if kind == family}


def _other_unit(number: Number, contents: Contents, asked_units: set[str]) -> bool:
    """Return whether a number has another unit than the result: 5 hours for 5 days."""
    if number.unit is None:
        return False
    family, size = UNITS[number.unit]
    named = {unit for unit in contents.units if unit is not None} or asked_units
    sizes = {UNITS[unit][1] for unit in named if UNITS[unit][0] == family}
    return bool(sizes) and size not in sizes


def _converted(number: Number, contents: Contents, asked_units: set[str]) -> bool:
    family, size = UNITS[number.unit or ""]
    return any(
        contents.holds(low * size / other, high * size / other)
        for low, high in _ranges(number)
        for other in _unit_sizes(family, contents, asked_units) - {size}
    )


def _apart(number: Number, contents: Contents) -> bool:
    """Return whether two dates of the result lie that far apart, counting the last day or not."""
    family, size = UNITS[number.unit or ""]
    days = sorted(date(*day) for day in contents.days if None not in day)[:_MOST_DATES]  # type: ignore[arg-type]
    if family != "time":
        return False
    return any(
        low * size <= ((two - one).days + extra) * _DAY <= high * size
        for one, two in combinations(days, 2)
        for extra in (0, 1)
        for low, high in _ranges(number)
    )


def _derived(number: Number, contents: Contents, text: str) -> Iterator[Decimal]:
    """Yield sums, means, shares and differences of a short table, where the words ask for them."""
    columns = contents.few_columns()
    near = f"{text[max(0, number.start - 60) : number.start]} {text[number.end : number.end + 40]}"
    cells = [value for column in columns for value in column]
    if _FALL.search(near):
        yield from (-value for value in cells)
        if number.percent:
            yield from (-value * _HUNDRED for value in cells)
    if _TOTAL.search(near) or _OF_ALL.search(text[max(0, number.start - 20) : number.start]):
        yield from (sum(column, Decimal(0)) for column in columns if len(column) > 1)
        if all(len(column) == 1 for column in columns):
            yield sum(cells, Decimal(0))
    if _MEAN.search(near):
        yield from (sum(column, Decimal(0)) / len(column) for column in columns if len(column) > 1)
    changes = _DIFFERENCE.search(near) is not None
    if number.percent and not changes:
        for column in [*columns, cells]:
            total = sum(column, Decimal(0))
            if len(column) > 1 and total:
                yield from (value * _HUNDRED / total for value in column)
    pairs = list(combinations(cells, 2)) if len(cells) <= 20 else []
    if changes:
        yield from (abs(one - two) for one, two in pairs)
        if number.percent:
            yield from (abs(one - two) * _HUNDRED for one, two in pairs)
    if _TIMES.search(near) or number.percent:
        scale = _HUNDRED if number.percent else Decimal(1)
        for one, two in pairs:
            for top, bottom in ((one, two), (two, one)):
                if bottom and number.percent and changes:
                    yield abs(top - bottom) * scale / abs(bottom)
                elif bottom:
                    yield top * scale / bottom


def repeats_question(number: Number, *, text: str, question: str, asked: set[Decimal]) -> bool:
    """Return whether a number only repeats the question or the query, as a year or a threshold.

    The words around it decide: "in 2100" and "older than 65" repeat, "there are 65" is a claim.

    Args:
        number: a number from `numbers_in`.
        text: the sentence.
        question: the text of the question.
        asked: numbers in the question and in the query's conditions.
    """
    if words_before(text, number.start, 1) == "per":
        return True
    if text[max(0, number.start - 1) : number.start] == "/" and number.readings[0][0] in _SCALES:
        return True  # a rating of 9.3/10
    if not any(value in asked for value, _ in number.readings):
        return False
    before = words_before(text, number.start, 2).split()
    if before and before[-1] in _REPEATS and before[-2:] not in _CLAIMS:
        return True
    if number.bound in ("above", "below"):
        return True
    if before and before[-1] not in _STATES and _YEAR.fullmatch(number.shown):
        return before[-2:] not in _CLAIMS  # "the 2009 race"
    after = words_after(text, number.end, 1)
    # The same word stands next to it in the question: "top 10", "65 years".
    shown = re.escape(number.shown.strip(".,"))
    sides = []
    if before and before[-1] not in _STATES:
        sides.append(rf"\b{re.escape(before[-1])}\W+{shown}(?!\w)")
    if after and before[-1:] != ["of"] and not (before and before[-1] in _STATES):
        sides.append(rf"(?<!\w){shown}\W+{re.escape(after)}\b")
    return any(re.search(side, question, re.IGNORECASE) for side in sides)


_REPEAT_WORDS = """
in during since until till before after from to by between and within for on at than over above
below under least most exceeding of top first last latest next id number code patient admission
stay visit aged age year years ward room type level
"""
_REPEATS = frozenset(_REPEAT_WORDS.split())
_STATE_WORDS = """
is are was were be been has have had there only just exactly found counted total equals returned
gives gave shows counts all these those both
"""
_STATES = frozenset(_STATE_WORDS.split())
_CLAIMS = (
    ["total", "of"], ["number", "of"], ["count", "of"], ["sum", "of"], ["average", "of"],
    ["mean", "of"], ["maximum", "of"], ["minimum", "of"], ["comes", "to"], ["amounts", "to"],
    ["value", "of"], ["result", "of"], ["median", "of"], ["rate", "of"], ["equal", "to"],
)  # fmt: skip
