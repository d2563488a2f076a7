"""Makes 'now' in SQLite's SQL mean the database's own time, not the machine's (ours).

The SQL is rewritten token by token before it runs, but only where a time function asks for the
current time. `docs/reference/sql-limits.md` lists each case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentinel_sql.database.executor import Cell
from sentinel_sql.database.sqlite.sql_tokens import Token, tokenize

CLOCK_FUNCTION = "sentinel_clock"
"""SQL function of the executor: returns the clock for 'now', and any other value unchanged."""

# Position of each function's first time value, and the number of time values.
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

_ASKING_WORDS = ("now", "current_", *_ZONES)
# A time function without its time value: date(), strftime('%Y'). It also matches if a comment or a
# computed format may hide that.
_ASKING_CALL = re.compile(
    r"(?:date|time|julianday|unixepoch)\W*\(\s*(?:\)|--|/\*)"
    r"|(?:date|time|julianday|unixepoch)\W*(?:--|/\*)"
    r"|strftime(?!\(\s*'[^']*'\s*,)"
)

Edit = tuple[int, int, str]
"""Start and end of a part of the SQL, and its replacement."""


def to_clock(value: Cell, clock: str) -> Cell:
    """Return `clock` if `value` is the text 'now' in upper or lower case, else `value`."""
    return clock if isinstance(value, str) and value.lower() == "now" else value


def may_ask_time(sql: str) -> bool:
    """Return whether `sql` may ask for the current time or a zone; fast, and True in doubt."""
    text = sql.lower()
    return any(word in text for word in _ASKING_WORDS) or _ASKING_CALL.search(text) is not None


def with_clock(sql: str, clock: str) -> str:
    """Return `sql` with every request for the current time replaced by `clock`.

    Args:
        sql: one statement.
        clock: the database's current time, `YYYY-MM-DD HH:MM:SS`.
    """
    if not may_ask_time(sql):
        return sql
    tokens = tokenize(sql)
    edits = list(_keyword_edits(tokens, clock))
    calls = list(_calls(tokens))
    edits += [edit for call in calls for edit in _call_edits(call, clock)]
    answered = {start for start, _, _ in edits}
    if any(_is_text(token, "now") and token.start not in answered for token in tokens):
        # Some 'now' isn't a plain argument of a function ("now", coalesce, CASE, a common table
        # expression), or is no time at all. Only its value at run time shows which.
        edits += [edit for call in calls for edit in _wrapping_edits(call)]
    if not edits:
        return sql
    pieces, position = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [sql[position:start], text]
        position = end
    return "".join(pieces) + sql[position:]


Argument = tuple[Token, Token]
"""First and last token of an argument; equal for a single token."""


@dataclass(slots=True)
class _Call:
    """A call of a time function: its name, its arguments, its closing parenthesis."""

    name: str
    arguments: list[Argument]
    closing: Token

    @property
    def values(self) -> Sequence[Argument]:
        first, count = _TIME_VALUES[self.name]
        return self.arguments[first : first + count]

    @property
    def modifiers(self) -> Sequence[Argument]:
        return self.arguments[sum(_TIME_VALUES[self.name]) :]

    @property
    def asks_without_value(self) -> bool:
        # SQLite takes a missing time value for 'now'
        return len(self.arguments) == _TIME_VALUES[self.name][0] and self.name != "timediff"


def _keyword_edits(tokens: Sequence[Token], clock: str) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.kind != "word" or token.text.lower() not in _CURRENT:
            continue
        before = tokens[index - 1].text.lower() if index else ""
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if before == "." or before in _NAMES_FOLLOW or after in (".", "("):
            continue  # SQLite reads a name here, not the keyword
        keyword = token.text.lower()
        value = {"current_date": clock[:10], "current_time": clock[11:]}.get(keyword, clock)
        yield token.start, token.end, f"'{value}'"


def _calls(tokens: Sequence[Token]) -> Iterator[_Call]:
    # one pass with a stack of open parentheses, so that nesting costs no extra time
    stack: list[tuple[str, list[int]]] = []
    for index, token in enumerate(tokens):
        if token.kind != "mark" or token.text not in ("(", ",", ")"):
            continue
        if token.text == "(":
            stack.append((_time_function_before(tokens, index), [index + 1]))
        elif stack and token.text == ",":
            stack[-1][1].append(index + 1)
        elif stack:
            name, starts = stack.pop()
            if name and not _names_a_table(tokens, index + 1):
                ends = [start - 1 for start in starts[1:]] + [index]
                # SQLite will report an empty argument
                spans = [(i, j) for i, j in zip(starts, ends, strict=True) if i < j]
                yield _Call(name, [(tokens[i], tokens[j - 1]) for i, j in spans], token)


def _time_function_before(tokens: Sequence[Token], index: int) -> str:
    if index == 0 or tokens[index - 1].kind not in ("word", "quoted"):
        return ""
    if index > 1 and tokens[index - 2].text == ".":
        return ""
    name = tokens[index - 1].value.lower()
    return name if name in _TIME_VALUES else ""


def _names_a_table(tokens: Sequence[Token], index: int) -> bool:
    # `WITH date(column) AS (…)` looks like a call
    following = [token.text.lower() for token in tokens[index : index + 2]]
    return following[:1] == ["as"] and following[1:] in (["("], ["materialized"], ["not"])


def _call_edits(call: _Call, clock: str) -> Iterator[Edit]:
    if call.asks_without_value:
        separator = ", " if call.arguments else ""
        yield call.closing.start, call.closing.start, f"{separator}'{clock}'"
    for first, last in call.values:
        if first is last and first.kind == "string" and _is_text(first, "now"):
            yield first.start, first.end, f"'{clock}'"
    for first, last in call.modifiers:
        # The clock has no time zone, so the machine's zone must not shift it.
        if first is last and _is_text(first, *_ZONES):
            yield first.start, first.end, "'+0 days'"


def _wrapping_edits(call: _Call) -> Iterator[Edit]:
    for first, last in call.values:
        if first is not last or first.kind not in ("string", "number"):
            yield first.start, first.start, f"{CLOCK_FUNCTION}("
            yield last.end, last.end, ")"


def _is_text(token: Token, *values: str) -> bool:
    # SQLite reads a name in double quotes as a text if no column has that name
    return token.text[:1] in ("'", '"') and token.value.lower() in values
