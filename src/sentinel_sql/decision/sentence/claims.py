"""Finds statements of the agent's sentence that the query's result doesn't hold.

The check needs no model. It reads numbers, dates, times and names. A number agrees with a result
that holds the same number, also rounded, as a percentage or in another unit. If the words say so,
it may also be a count, total, share or difference of the rows. A number that only repeats the
question or a condition of the query is no statement. Names are recognised in English sentences
only; in other languages only numbers, dates and quoted names are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.sentence.contents import Contents, as_number, folded, units_in
from sentinel_sql.decision.sentence.dates import Moment, agrees, moments_in
from sentinel_sql.decision.sentence.names import MOST_ROWS, SentenceNames
from sentinel_sql.decision.sentence.numbers import Number, blanked, numbers_in
from sentinel_sql.decision.sentence.numbers_held import (
    combined_units_held,
    holds_number,
    repeats_question,
)
from sentinel_sql.decision.sentence.units import UNITS
from sentinel_sql.errors import InputError
from sentinel_sql.result_line import cell_text, whole_characters

_LONGEST = 20_000
"""Characters of a sentence that are read, ours: what stands behind them nobody has compared."""
_MARKDOWN = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|^#+\s*", re.MULTILINE)
_ENUMERATED = re.compile(r"^[^\S\n]*(?:\(?\d{1,3}[.)]|[-*•])\s+", re.MULTILINE)
_INLINE = re.compile(r"(?<![\w(])\(?(\d{1,2})[.)]\s")
_CONDITION = re.compile(
    r"(?:[<>=]=?|<>|!=|\bbetween|\band|\blike|\bin\s*\(|\boffset|\blimit|,)\s*"
    r"('(?:[^']|'')*'|-?\d+(?:\.\d+)?)(?![\w.(])",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"\b(?:round|substr|substring|coalesce|nullif|ifnull|printf)\s*\(", re.I)
_TEXTS = re.compile(r"'((?:[^']|'')*)'")
_NONE = re.compile(
    r"\bno\b(?!\s+(?:more|fewer|less|other|others|longer|doubt|matter|later|earlier|further)\b)"
    r"|\bnone\b|\bnobody\b|\bnot\s+(?:\w+\s+)?any\b|n['’]t\s+(?:\w+\s+)?any\b|\bnot\s+(?:a\s+single|one)\b",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\s*(?:in(?:\s+every)?|out\s+of(?:\s+every)?|/|:|to)\s*", re.IGNORECASE)
_SHARE = Decimal("0.01")
"""Tolerance of a ratio such as "1 in 4" (our choice)."""
_SEVERAL = re.compile(
    r"\b(?:some|several|many|numerous|multiple|various|plenty\s+of|lots\s+of|a\s+(?:few|number|handful)"
    r"(?:\s+of)?)\s+(?:\w+\s+)?\w+s\b",
    re.IGNORECASE,
)
_SAME = re.compile(r"\W*(?:or|i\.?\s?e\.?|that\s+is|equals?)?\W*", re.IGNORECASE)
_YES = re.compile(r"\W*yes\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Claims:
    """The agent's sentence, as the agent wrote it."""

    text: str

    @classmethod
    def read(cls, text: str) -> Claims:
        """Check that the sentence is text.

        Raises:
            InputError: the argument is no text.
        """
        if not isinstance(text, str):
            raise InputError(
                f"text= can't be of type {type(text).__name__}: give the agent's "
                "sentence for the user"
            )
        return cls(text=text)

    def missing_in(self, seen: LiveResult, *, question: str, sql: str | None) -> tuple[str, ...]:
        """Return the parts of the sentence that the result doesn't hold, as they are written.

        Args:
            seen: the result.
            question: the text of the question.
            sql: the query that gave the result.
        """
        text = _plain(self.text)
        contents = Contents.of(seen)
        sql = whole_characters(sql or "")
        columns = [str(name) for name in seen.names or ()]
        asked = [*moments_in(question), *moments_in(" ".join(_TEXTS.findall(sql)))]
        moments = moments_in(text)
        missing = [
            its.shown
            for its in moments
            if not (_agrees_with_moment(its, contents, asked) or _holds_pair(its, contents))
        ]
        rest = blanked(text, ((its.start, its.end) for its in moments))
        numbers = numbers_in(_without_names(rest, contents))
        spans = [(its.start, its.end) for its in moments]
        spans += [(its.start, its.end) for its in numbers]
        named = SentenceNames.of(
            text, contents, question=question, spans=spans, sources=(sql, *columns)
        )
        held: list[Number] = []
        check = _Check(contents=contents, text=rest, question=question, sql=sql, asked=asked)
        for number in numbers:
            if check.holds(number):
                held.append(number)
            elif not check.repeats(number):
                missing.append(number.shown)
        missing = _without_agreeing_pairs(missing, numbers, check)
        missing += named.in_another_row(_names_beside(held, contents))
        missing += named.in_another_column(held, columns)
        missing += named.missing()
        missing += _contradictions(text, contents, says_more=bool(held or named.mentioned))
        if len(self.text) > _LONGEST:
            missing.append(f"what stands behind its first {_LONGEST:,} characters")
        return tuple(dict.fromkeys(missing))


class _Check:
    """Compares stated numbers with the result, the question and the query."""

    def __init__(
        self,
        *,
        contents: Contents,
        text: str,
        question: str,
        sql: str,
        asked: Sequence[Moment],
    ) -> None:
        self._contents = contents
        self._text = text
        self._question = question
        self.units = units_in([question])
        values = {value for number in numbers_in(question) for value, _ in number.readings}
        values |= set(_conditions(sql))
        values |= {Decimal(day[0]) for its in asked for day in its.days if day[0] is not None}
        self._asked = values

    def holds(self, number: Number) -> bool:
        if holds_number(number, self._contents, text=self._text, asked_units=self.units):
            return True
        if len(number.pieces) < 2:  # "2 511" may be two numbers
            return False
        return all(
            self._contents.holds(piece, piece) or piece in self._asked for piece in number.pieces
        )

    def repeats(self, number: Number) -> bool:
        return repeats_question(number, text=self._text, question=self._question, asked=self._asked)

    def combined(self, numbers: Sequence[Number]) -> bool:
        return combined_units_held(numbers, self._contents, self.units)

    def same(self, one: Number, two: Number) -> bool:
        """Tell "48 hours (2 days)": one duration or amount in two units."""
        if not _SAME.fullmatch(self._text[one.end : two.start]):
            return False
        (first, half), (second, other) = one.readings[0], two.readings[0]
        size, size2 = UNITS[one.unit or ""][1], UNITS[two.unit or ""][1]
        return abs(first * size - second * size2) <= max(half * size, other * size2)

    def ratio(self, one: Number, two: Number) -> bool:
        """Return whether "1 in 4", "2/3" or "3:2" is a share or a ratio of the result."""
        joined = self._text[one.end : two.start]
        top, bottom = one.readings[0][0], two.readings[0][0]
        if not _RATIO.fullmatch(joined) or bottom == 0:
            return False
        share = top / bottom
        return any(
            self._contents.holds((share - _SHARE) * scale, (share + _SHARE) * scale)
            for scale in (1, 100)
        )

    def between(self, one: Number, two: Number) -> bool:
        """Return whether "between 500 and 520" holds for a number of the result."""
        joined = self._text[one.end : two.start].strip().lower()
        before = self._text[max(0, one.start - 10) : one.start].lower()
        if not (joined in ("and", "to", "-", "–") and ("between" in before or joined != "and")):
            return False
        low, high = one.readings[0][0], two.readings[0][0]
        return low < high <= 2 * low and self._contents.holds(low, high)


def _plain(text: str) -> str:
    text = whole_characters(text[:_LONGEST])
    text = _ENUMERATED.sub("\n", _MARKDOWN.sub("", text))
    inline = list(_INLINE.finditer(text))
    item_numbers = [int(match[1]) for match in inline]
    if len(item_numbers) > 1 and item_numbers == list(range(1, len(item_numbers) + 1)):
        text = blanked(text, (match.span() for match in inline))
    return text.strip()


def _agrees_with_moment(moment: Moment, contents: Contents, asked: Sequence[Moment]) -> bool:
    if moment.clock is not None:
        hour, minute, second = moment.clock
        clocks = contents.clocks | {its.clock for its in asked if its.clock is not None}
        return any(
            (h, m) == (hour, minute) and (second is None or s in (None, second))
            for h, m, s in clocks
        )
    days = contents.days | {day for its in asked for day in its.days}
    if not days and all(day[0] is None and day[2] is None for day in moment.days):
        return True  # a month's name without any date to compare it with
    if any(agrees(day, theirs) for day in moment.days for theirs in days):
        return True
    # A year and a month as two numbers of the result, of the question or of the query.
    return any(
        all(part is None or contents.holds(Decimal(part), Decimal(part)) for part in day)
        and not contents.has_single
        for day in moment.days
    )


def _holds_pair(moment: Moment, contents: Contents) -> bool:
    """Tell "February 7" of a row that holds February and a 7: a month's figure, and no date."""
    figures = {(month, day) for year, month, day in moment.days if year is None and day is not None}
    for row in contents.rows[:MOST_ROWS] if figures else ():
        months = {day[1] for cell in row for its in moments_in(cell_text(cell)) for day in its.days}
        numbers = {as_number(cell) for cell in row}
        if any(month in months and Decimal(day) in numbers for month, day in figures):
            return True
    return False


def _without_names(text: str, contents: Contents) -> str:
    """Blank out texts of the result with digits, so that they aren't read as numbers."""
    coded = [cell for cell in contents.texts if any(map(str.isdigit, cell))]
    inside = f" {folded(text)} "
    for cell in coded:
        if f" {cell} " in inside:
            pattern = r"\W+".join(map(re.escape, cell.split()))
            text = re.sub(
                rf"(?<!\w){pattern}(?!\w)", lambda match: " " * len(match[0]), text, flags=re.I
            )
    return text


def _conditions(sql: str) -> Iterator[Decimal]:
    """Yield the numbers in a query's conditions, except 0 and 1."""
    for match in _CONDITION.finditer(_FUNCTION.sub(" ", sql)):
        for number in numbers_in(match[1].strip("'%")):
            yield from (value for value, _ in number.readings if value not in (0, 1))


def _without_agreeing_pairs(
    missing: Sequence[str], numbers: Sequence[Number], check: _Check
) -> list[str]:
    """Drop pairs of numbers that agree together: "2 days and 3 hours", "between 500 and 520"."""
    fine: set[str] = set()
    for one, two in pairwise(numbers):
        if one.unit and two.unit and UNITS[one.unit][0] == UNITS[two.unit][0]:
            sizes = UNITS[one.unit][1], UNITS[two.unit][1]
            combined = sizes[0] > sizes[1] and check.combined([one, two])
            stated = not {one.shown, two.shown} <= set(missing)
            if combined or (stated and check.same(one, two)):
                fine |= {one.shown, two.shown}
        elif check.between(one, two) or check.ratio(one, two):
            fine |= {one.shown, two.shown}
    return [shown for shown in missing if shown not in fine]


def _names_beside(numbers: Sequence[Number], contents: Contents) -> dict[str, set[str]]:
    """Return, for each number in a cell, the texts of the rows with that number."""
    if not 1 < len(contents.rows) <= MOST_ROWS:
        return {}
    beside: dict[str, set[str]] = {}
    rows = []
    for row in contents.rows:
        cells = [as_number(cell) for cell in row]
        names = {
            folded(cell_text(cell)) for cell, its in zip(row, cells, strict=True) if its is None
        }
        rows.append(([its for its in cells if its is not None], names))
    for number in {number.shown: number for number in numbers}.values():
        if number.bound != "exact" or number.percent:
            continue
        for values, names in rows:
            if any(abs(its - value) <= half for its in values for value, half in number.readings):
                beside.setdefault(number.shown, set()).update(names)
    return beside


def _contradictions(text: str, contents: Contents, *, says_more: bool) -> Iterator[str]:
    """Yield a "no" or "yes" that the result contradicts."""
    number = contents.single_number
    empty = contents.count == 0 or (contents.has_single and contents.single in (None, ""))
    something = not empty and number != 0
    if number is None and contents.has_single:
        something = folded(cell_text(contents.single)) not in ("no", "false", "n", "none")
    none = _NONE.search(text)
    if none is not None and something and not says_more:
        yield none[0]
    if _YES.match(text) and not something and not says_more:
        yield "yes"
    several = _SEVERAL.search(text)
    if several is not None and none is None and (empty or number == 0) and not says_more:
        yield several[0]
