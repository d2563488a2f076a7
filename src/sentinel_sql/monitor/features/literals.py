"""Which literals of a query are grounded: found in the question or in an earlier result.

A literal found in neither suggests an invented value. The paper names the idea without details;
these rules are ours:

- Numbers are compared as numbers; `5`, `5.0` and `five` are equal.
- A text is compared in lower case and must be found as a whole. A LIKE pattern is grounded if
  each part between its wildcards is.
- A date can also be grounded part by part (year, month, day, time), because a question says
  `05/2100` where SQL says `2100-05-01`. The first and last day or month, and the start and end of
  a day, need no grounding: they are bounds that follow from the wording.
- `40s` also grounds 49, the end of the decade.
- Exempt are the clock's constants, 0 and 1, factors between units of time, positions (LIMIT,
  OFFSET, ORDER BY 2), strftime formats, date modifiers such as `-1 month`, names of the schema's
  tables and columns, and the empty string. They belong to the form of a query.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sentinel_sql.sql_tree import known_dialect

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[ t](\d{2}:\d{2})(?::\d{2})?)?)?)?")
_MONTH_DAY = re.compile(r"(\d{2})-(\d{2})")
_DECADE = re.compile(r"\b(\d*0)'?s\b")
_TIME_FACTORS = frozenset({24.0, 60.0, 365.0, 365.25, 1440.0, 3600.0, 86400.0})
_FORMAT = re.compile(r"(?:%[a-z]|[-:/ t.])+", re.IGNORECASE)
_MODIFIER = re.compile(
    r"start of (?:day|month|year)|weekday \d|unixepoch|localtime|utc|auto|now|subsec"
    r"|[+-]?\s*\d+(?:\.\d+)? (?:second|minute|hour|day|month|year)s?"
)
_RESULT_HEAD = re.compile(r"\d+\+? rows x \d+ cols; sample ")
_NUMBER_WORDS: Mapping[str, int] = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "once": 1, "twice": 2, "thrice": 3,
}  # fmt: skip
_MONTHS: Mapping[str, int] = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_POSITIONS = (exp.Limit, exp.Offset, exp.Ordered, exp.Group)
_FORMS_ELSEWHERE = (exp.Interval, exp.Extract, exp.TimestampTrunc, exp.DateTrunc, exp.Bracket)
"""Expressions that SQLite doesn't have, whose literals belong to the form of a query."""
_UNIT_FUNCTIONS = frozenset({"date_part", "date_trunc", "date_diff", "date_add", "date_sub"})
_BOUND_MONTHS = frozenset({"01", "12"})
_BOUND_DAYS = frozenset({"01", "28", "29", "30", "31"})
_BOUND_TIMES = frozenset({"00:00", "23:59"})


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal that needs grounding.

    Attributes:
        text: in lower case.
        number: it was written as a number.
        pattern: it is the pattern of a LIKE or GLOB.
    """

    text: str
    number: bool = False
    pattern: bool = False


class Evidence:
    """The texts and numbers of the question and of earlier results."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._numbers: set[float] = set()

    def add(self, text: str) -> None:
        """Add the question, or the text of a result. The time depends on that text only."""
        folded = _fold(_RESULT_HEAD.sub("", text, count=1))
        self._texts.append(folded)
        self._numbers.update(float(number) for number in _NUMBER.findall(folded))
        self._numbers.update(float(decade) + 9 for decade in _DECADE.findall(folded))
        for word in re.findall(r"[a-z]+", folded):
            if word in _NUMBER_WORDS:
                self._numbers.add(_NUMBER_WORDS[word])
            elif word[:3] in _MONTHS:
                self._numbers.add(_MONTHS[word[:3]])

    def grounds(self, literal: Literal) -> bool:
        """Return whether the literal is in these texts."""
        if literal.number:
            return float(literal.text) in self._numbers
        if literal.pattern:
            return all(self._holds(part) for part in re.split("[%_]+", literal.text) if part)
        return self._holds(literal.text)

    def _holds(self, text: str) -> bool:
        text = text.strip()
        if _NUMBER.fullmatch(text):
            return float(text) in self._numbers or self._has_text(text)
        return self._has_text(text) or self._grounds_date(text)

    def _has_text(self, text: str) -> bool:
        return any(text in said for said in self._texts)

    def _grounds_date(self, text: str) -> bool:
        if match := _DATE.fullmatch(text):
            year, month, day, time = match.groups()
        elif match := _MONTH_DAY.fullmatch(text):
            year, time = None, None
            month, day = match.groups()
        else:
            return False
        return (
            (year is None or float(year) in self._numbers)
            and (month is None or month in _BOUND_MONTHS or float(month) in self._numbers)
            and (day is None or day in _BOUND_DAYS or float(day) in self._numbers)
            and (time is None or time in _BOUND_TIMES or self._has_text(time))
        )


def literals_of(
    query: exp.Expr,
    *,
    clock: str | None,
    names: Collection[str],
    dialect: str | None = None,
) -> list[Literal]:
    """Return the literals of a query that need grounding, without the exempt ones.

    Args:
        query: the parsed query.
        clock: the database's own current time, or None.
        names: the schema's table and column names, in lower case.
        dialect: the query's SQL; None for SQLite's.
    """
    constants = _clock_constants(clock)
    elsewhere = known_dialect(dialect) != "sqlite"
    found = []
    for node in query.find_all(exp.Literal):
        text = _fold(node.this)
        parent = node.parent
        if elsewhere and _is_form(parent):
            continue
        if node.is_string:
            pattern = isinstance(parent, exp.Like | exp.ILike | exp.Glob)
            if not text or text in constants or text in names or _MODIFIER.fullmatch(text):
                continue
            if not pattern and _FORMAT.fullmatch(text):
                continue
            found.append(Literal(text, pattern=pattern))
        elif _is_number(text):
            value = float(text)
            structural = value in (0.0, 1.0) or value in _TIME_FACTORS or text in constants
            if not structural and not isinstance(parent, _POSITIONS):
                found.append(Literal(text, number=True))
    return found


def _is_form(parent: exp.Expr | None) -> bool:
    if isinstance(parent, exp.Anonymous):
        return parent.name.lower() in _UNIT_FUNCTIONS
    return isinstance(parent, _FORMS_ELSEWHERE)


def ungrounded_fraction(literals: Iterable[Literal], evidence: Evidence) -> float:
    """Return the share of ungrounded literals, in [0, 1]; 0 if there are no literals."""
    verdicts = [evidence.grounds(literal) for literal in literals]
    return verdicts.count(False) / len(verdicts) if verdicts else 0.0


def _fold(text: str) -> str:
    return " ".join(text.lower().split())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _clock_constants(clock: str | None) -> frozenset[str]:
    if not clock:
        return frozenset()
    date, _, time = clock.lower().partition(" ")
    parts = {clock.lower(), date, date[:7], date[:4], time, time[:5], f"{date} {time[:5]}"}
    return frozenset(parts - {""})
