"""Makes the current time in a statement the database's own, not the machine's.

The text is changed only where it asks for the time; all else stays as the agent wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from sentinel_sql.database.statements.statement import RefusedError, Statement
from sentinel_sql.sql_tree import Token

Literal: TypeAlias = Callable[[datetime], str]
"""Called with (clock); returns SQL for a part of it."""


def timestamp_with_zone(clock: datetime) -> str:
    """Return the clock as a timestamp in UTC."""
    return f"TIMESTAMPTZ '{clock:%Y-%m-%d %H:%M:%S}+00'"


def timestamp(clock: datetime) -> str:
    """Return the clock as a timestamp without a zone."""
    return f"TIMESTAMP '{clock:%Y-%m-%d %H:%M:%S}'"


def date(clock: datetime) -> str:
    """Return the clock's date."""
    return f"DATE '{clock:%Y-%m-%d}'"


def time(clock: datetime) -> str:
    """Return the clock's time of day without a zone."""
    return f"TIME '{clock:%H:%M:%S}'"


def time_with_zone(clock: datetime) -> str:
    """Return the clock's time of day in UTC."""
    return f"TIMETZ '{clock:%H:%M:%S}+00'"


def words(clock: datetime) -> str:
    """Return the clock as PostgreSQL's `timeofday()` writes it."""
    return f"TEXT '{clock:%a %b %d %H:%M:%S}.000000 {clock:%Y} UTC'"


@dataclass(frozen=True, kw_only=True)
class ClockRules:
    """How a dialect asks for the current time.

    Attributes:
        keywords: a word that stands alone, perhaps with a precision, → what it is.
        calls: a function without arguments → what it is.
        ages: functions that count from today's date if they have one argument.
        schemas: schemas that the name of a function may be qualified with.
        types: the first words of types of dates and times.
        strings: whether strings such as `'now'` and `'today'` are times.
    """

    keywords: Mapping[str, Literal]
    calls: Mapping[str, Literal]
    ages: Set[str]
    schemas: Set[str]
    types: Set[str]
    strings: bool


POSTGRES_CLOCK: Final = ClockRules(
    keywords={
        "current_date": date,
        "current_time": time_with_zone,
        "current_timestamp": timestamp_with_zone,
        "localtime": time,
        "localtimestamp": timestamp,
    },
    calls={
        "now": timestamp_with_zone,
        "transaction_timestamp": timestamp_with_zone,
        "statement_timestamp": timestamp_with_zone,
        "clock_timestamp": timestamp_with_zone,
        "timeofday": words,
    },
    ages=frozenset({"age"}),
    schemas=frozenset({"pg_catalog"}),
    types=frozenset({"date", "time", "timetz", "timestamp", "timestamptz"}),
    strings=True,
)

DUCKDB_CLOCK: Final = ClockRules(
    keywords=POSTGRES_CLOCK.keywords,
    calls={
        "now": timestamp_with_zone,
        "transaction_timestamp": timestamp_with_zone,
        "get_current_timestamp": timestamp_with_zone,
        "get_current_time": time_with_zone,
        "current_localtimestamp": timestamp,
        "current_localtime": time,
        "current_date": date,
        "today": date,
    },
    ages=frozenset({"age"}),
    schemas=frozenset(),
    types=POSTGRES_CLOCK.types,
    strings=False,
)

_DAYS: Final = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}
_SPECIAL: Final = re.compile(
    r"(?P<before>[\d\s:.]*?)\b(?P<word>now|today|tomorrow|yesterday)\b(?P<after>[\d\s:.+\-]*)",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"now|today|tomorrow|yesterday|current_|localtime|_timestamp|timeofday|age|'\s*'", re.IGNORECASE
)
_TEXT_BESIDE: Final = frozenset({"like", "ilike", "~", "~*", "||", "to"})
"""What stands beside a string that is surely a text."""


def with_clock(statement: Statement, clock: str, rules: ClockRules) -> str:
    """Return a statement's text with every request for the current time replaced.

    Args:
        statement: one that may run.
        clock: `YYYY-MM-DD HH:MM:SS`, in UTC.
        rules: those of its dialect.

    Raises:
        RefusedError: it asks for the time in a way that can't be replaced.
    """
    sql = statement.sql
    if not _ASKING.search(sql):
        return sql
    now = datetime.fromisoformat(clock)
    parts, at = [], 0
    for start, end, text in _Edits(sql, statement.tokens, now, rules).all():
        parts += [sql[at:start], text]
        at = end
    return "".join([*parts, sql[at:]])


class _Edits:
    """Finds what asks for the time in a statement."""

    def __init__(
        self, sql: str, tokens: Sequence[Token], clock: datetime, rules: ClockRules
    ) -> None:
        self._tokens = [token for token in tokens if token.start < len(sql)]
        self._written = [sql[token.start : token.end + 1] for token in self._tokens]
        self._words = [written.lower() for written in self._written]
        self._clock = clock
        self._rules = rules

    def all(self) -> list[tuple[int, int, str]]:
        """Return (start, end, replacement) of each, in order."""
        found = []
        place = 0
        while place < len(self._words):
            edit, place = self._at(place)
            if edit is not None:
                found.append(edit)
        return found

    def _at(self, place: int) -> tuple[tuple[int, int, str] | None, int]:
        """Return the edit at a token, and the place of the next token."""
        word = self._words[place]
        name = word.strip('"')
        if self._word(place + 1) == "(":
            if name in self._rules.calls and self._word(place + 2) == ")":
                start = self._start(place)
                text = self._rules.calls[name](self._clock)
                return self._edit(start, place + 2, text), place + 3
            if name in self._rules.ages and self._has_one_argument(place + 1):
                after = self._tokens[place + 1].end + 1
                return (after, after, f"{date(self._clock)}, "), place + 2
        if word in self._rules.keywords and self._word(place - 1) != ".":
            end = place
            if self._word(place + 1) == "(" and self._word(place + 3) == ")":
                end = place + 3  # a precision, which a whole second doesn't need
            return self._edit(place, end, self._rules.keywords[word](self._clock)), end + 1
        if not self._rules.strings:
            return None, place + 1
        if word.endswith("'") or (word.startswith("$") and len(word) > 1):
            return self._string(place), place + 1
        return None, place + 1

    def _string(self, place: int) -> tuple[int, int, str] | None:
        """Return the edit of a string such as `'today'`, None for another one."""
        last = place
        while self._word(last + 1).startswith("'"):
            last += 1
        text = "".join(written.strip("'") for written in self._written[place : last + 1])
        found = _SPECIAL.fullmatch(self._tokens[place].text if last == place else text)
        if found is None:
            return None
        if self._is_time(place, last):
            return self._edit(place, last, f"'{self._meant(found)}'")
        beside = {self._word(place - 1), self._word(last + 1)}
        if self._word(last + 1) == "::" or beside & _TEXT_BESIDE:
            return None  # a text, or another type
        raise RefusedError(
            f"not allowed: '{found['word']}' as a time of the machine's; write CURRENT_DATE or "
            f"CURRENT_TIMESTAMP, and '{found['word']}'::text where it is a text"
        )

    def _is_time(self, first: int, last: int) -> bool:
        types = self._rules.types
        before = self._word(first - 1)
        if before in types or before == "zone":
            return True
        if self._word(last + 1) == "::":
            return self._word(last + 2) in types
        is_cast = before == "(" and self._word(first - 2) == "cast"
        return is_cast and self._word(last + 1) == "as" and self._word(last + 2) in types

    def _meant(self, found: re.Match[str]) -> str:
        word = found["word"].lower()
        try:
            day = self._clock + timedelta(days=_DAYS[word])
        except OverflowError as error:
            raise RefusedError(f"not allowed: '{word}' is beyond the last year") from error
        if word == "now":
            return f"{day:%Y-%m-%d %H:%M:%S}+00"
        return " ".join(f"{found['before']} {day:%Y-%m-%d} {found['after']}".split())

    def _has_one_argument(self, opening: int) -> bool:
        depth = 0
        for word in self._words[opening:]:
            depth += (word in "([") - (word in ")]")
            if depth == 1 and word == ",":
                return False
            if depth == 0:
                break
        return True

    def _start(self, place: int) -> int:
        qualified = self._word(place - 1) == "."
        return place - 2 if qualified and self._word(place - 2) in self._rules.schemas else place

    def _word(self, place: int) -> str:
        return self._words[place] if 0 <= place < len(self._words) else ""

    def _edit(self, first: int, last: int, text: str) -> tuple[int, int, str]:
        return self._tokens[first].start, self._tokens[last].end + 1, text
