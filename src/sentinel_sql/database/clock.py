"""The database's clock: 'now' and its relatives in SQL mean the database's time, not the machine's.

The SQL is rewritten token by token before it runs, and only where a time function asks for the
current time; `docs/database.md` lists each case. Ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sentinel_sql.database.executor import Cell
from sentinel_sql.database.sql_tokens import Token, tokenize
from sentinel_sql.errors import InputError

KNOWN_CLOCKS: Mapping[str, str] = {
    "mimic_iii": "2105-12-31 23:59:00",
    "eicu": "2105-12-31 23:59:00",
    "mimic_iv": "2100-12-31 23:59:00",
}
"""Current times by database name, as the EHRSQL and EHRSQL-2024 data sets fix them (paper
section 4.1). Any other database's clock is its user's to give."""

CLOCK_FUNCTION = "sentinel_clock"
"""SQL function of the executor's: gives the clock for the text 'now', and all else unchanged."""

# Position of each function's first time value, and how many it takes in a row.
_TIME_VALUES: Mapping[str, tuple[int, int]] = {
    "date": (0, 1),
    "time": (0, 1),
    "datetime": (0, 1),
    "julianday": (0, 1),
    "unixepoch": (0, 1),
    "strftime": (1, 1),
    "timediff": (0, 2),
}
_CURRENT = ("current_timestamp", "current_date", "current_time")
_ZONES = ("localtime", "utc")
_NAMES_FOLLOW = ("as", "from", "join", "with")

_FORM = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)

Edit = tuple[int, int, str]


def checked_clock(clock: str) -> str:
    """Return `clock` if it is a time `YYYY-MM-DD HH:MM:SS`.

    Raises:
        InputError: it is not.
    """
    try:
        if _FORM.fullmatch(clock):
            datetime.fromisoformat(clock)
            return clock
    except ValueError:
        pass
    raise InputError(f"clock {clock!r} is no time; write it as 'YYYY-MM-DD HH:MM:SS'")


def default_clock(name: str) -> str:
    """Return the clock of a database by its name; the machine's time now if it isn't known."""
    known = KNOWN_CLOCKS.get(name.lower())
    return known or datetime.now().replace(microsecond=0).isoformat(sep=" ")


def to_clock(value: Cell, clock: str) -> Cell:
    """Return `clock` if `value` is the text 'now' in any case, else `value`, as SQLite would."""
    return clock if isinstance(value, str) and value.lower() == "now" else value


def with_clock(sql: str, clock: str, tokens: Sequence[Token] | None = None) -> str:
    """Return `sql` with every request for the current time answered by `clock`.

    Args:
        sql: one statement.
        clock: the database's current time, `YYYY-MM-DD HH:MM:SS`.
        tokens: `tokenize(sql)`, where the caller has it already.
    """
    tokens = tokenize(sql) if tokens is None else tokens
    edits = list(_keyword_edits(tokens, clock))
    calls = list(_calls(tokens))
    edits += [edit for call in calls for edit in _call_edits(call, clock)]
    answered = {start for start, _, _ in edits}
    if any(_is_now(token) and token.start not in answered for token in tokens):
        # Some 'now' reaches its function by another way than as a plain argument (coalesce,
        # CASE, a common table expression) or isn't a time at all: only the running value tells.
        edits += [edit for call in calls for edit in _wrapping_edits(call)]
    if not edits:
        return sql
    pieces, position = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [sql[position:start], text]
        position = end
    return "".join(pieces) + sql[position:]


class _Call:
    """A call of a time function: its name, its arguments' tokens, its closing parenthesis."""

    def __init__(self, name: str, arguments: list[list[Token]], closing: Token) -> None:
        self.name = name
        self.arguments = arguments
        self.closing = closing
        first, count = _TIME_VALUES[name]
        self.values = arguments[first : first + count]
        self.modifiers = arguments[first + count :]
        self.is_bare = len(arguments) == first and name != "timediff"


def _keyword_edits(tokens: Sequence[Token], clock: str) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.kind != "word" or token.text.lower() not in _CURRENT:
            continue
        before = tokens[index - 1].text.lower() if index else ""
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if before == "." or before in _NAMES_FOLLOW or after in (".", "("):
            continue  # here SQLite reads a name, not the keyword
        keyword = token.text.lower()
        value = {"current_date": clock[:10], "current_time": clock[11:]}.get(keyword, clock)
        yield token.start, token.end, f"'{value}'"


def _calls(tokens: Sequence[Token]) -> Iterator[_Call]:
    for index, token in enumerate(tokens[:-1]):
        if token.kind not in ("word", "quoted") or tokens[index + 1].text != "(":
            continue
        name = token.value.lower()
        if name in _TIME_VALUES and not (index and tokens[index - 1].text == "."):
            call = _call(name, tokens, index + 2)
            if call:
                yield call


def _call(name: str, tokens: Sequence[Token], start: int) -> _Call | None:
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[start:]:
        mark = token.text if token.kind == "mark" else ""
        if mark == ")" and depth == 0:
            return _Call(name, arguments if arguments != [[]] else [], token)
        if mark == "," and depth == 0:
            arguments.append([])
            continue
        depth += (mark == "(") - (mark == ")")
        arguments[-1].append(token)
    return None


def _call_edits(call: _Call, clock: str) -> Iterator[Edit]:
    if call.is_bare:
        separator = ", " if call.arguments else ""
        yield call.closing.start, call.closing.start, f"{separator}'{clock}'"
    for argument in call.values:
        if len(argument) == 1 and _is_now(argument[0]):
            yield argument[0].start, argument[0].end, f"'{clock}'"
    for argument in call.modifiers:
        # The clock has no time zone; without this the machine's would shift it.
        if len(argument) == 1 and argument[0].value.lower() in _ZONES:
            yield argument[0].start, argument[0].end, "'+0 days'"


def _wrapping_edits(call: _Call) -> Iterator[Edit]:
    for argument in call.values:
        if argument and not (len(argument) == 1 and argument[0].kind in ("string", "number")):
            start, end = argument[0].start, argument[-1].end
            yield start, start, f"{CLOCK_FUNCTION}("
            yield end, end, ")"


def _is_now(token: Token) -> bool:
    return token.kind in ("string", "quoted") and token.value.lower() == "now"
