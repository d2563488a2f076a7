"""Reads one SQL statement into a tree, or refuses it with a reason.

The tree decides whether the statement may run, but the database parses the text again. So both must
see the same text: comments are removed, and a statement is refused if sqlglot and PostgreSQL's
lexical rules (which DuckDB shares) disagree where its strings and quoted names begin and end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.sql_tree import Token, tokens_of, trees_of

LONGEST_SQL: Final = 100_000
"""Longest statement in characters. One of this length is parsed in some tenths of a second."""

MOST_BRACKETS: Final = 12
"""Most subscripts in a row, as in `a[1][2]`: sqlglot's time grows with their cube. PostgreSQL's
arrays have at most 6 dimensions."""

_PARTS: Final = re.compile(
    r"""
      (?P<comment> --[^\n\r]*)
    | (?P<block> /\*)
    | (?<![\w$]) (?P<escapes> [eE]'(?:[^'\\]|''|\\.)*'(?:\s*[\n\r]\s*'(?:[^'\\]|''|\\.)*')*)
    | (?<![\w$]) (?P<prefixed> (?:[bBxXnN]|[uU]&)'(?:[^']|'')*')
    | (?P<text> '(?:[^']|'')*')
    | (?<![\w$]) (?P<escaped_name> [uU]&"(?:[^"]|"")*")
    | (?P<name> "(?:[^"]|"")*")
    | (?<![\w$]) (?P<dollars> \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$)
    | (?P<subscripts> \](?:\s*\[))
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_MARK: Final = re.compile(r"/\*|\*/")


class RefusedError(Exception):
    """A statement that may not run, and why, in one line; `execute` turns it into a result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One statement: its text without comments, and its tree."""

    sql: str
    dialect: str
    tree: exp.Expr

    def written_name(self, call: exp.Expr) -> str | None:
        """Return how the text writes the name of a function, or None for a call without a name."""
        start, end = call.meta.get("start"), call.meta.get("end")
        return None if start is None or end is None else self.sql[start : end + 1]


def read_statement(sql: str, dialect: str) -> Statement:
    """Parse one statement.

    Args:
        sql: the text of an agent.
        dialect: by sqlglot's name; its lexical rules must be PostgreSQL's with
            `standard_conforming_strings` on.

    Raises:
        RefusedError: there are several statements or none, the text is too long, or sqlglot can't
            parse it.
    """
    if len(sql) > LONGEST_SQL:
        raise RefusedError(f"not allowed: longer than {LONGEST_SQL:,} characters")
    if "\0" in sql or not _is_unicode(sql):
        raise RefusedError("not allowed: the text holds a character that no database reads")
    text, quoted = _without_comments(sql)
    try:
        tokens = tokens_of(text, dialect=dialect)
        if _quoted_parts(text, tokens) != quoted:
            raise RefusedError(
                "not allowed: it isn't clear where a string or a quoted name ends; write it with "
                "plain quotes"
            )
        trees = trees_of(tokens, text, dialect=dialect)
    except (SqlglotError, ValueError, IndexError, AttributeError, TypeError) as error:
        raise RefusedError(f"can't be parsed as {dialect}: {_place(error)}") from error
    except RecursionError as error:
        raise RefusedError("not allowed: it is nested too deeply") from error
    if not trees:
        raise RefusedError("no SQL statement was given")
    if len(trees) > 1:
        raise RefusedError("not allowed: only one statement may run at a time")
    return Statement(sql=text.rstrip(" \t\r\n\f;"), dialect=dialect, tree=trees[0])


def _without_comments(sql: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with a space for each comment, and (start, end) of all that is in quotes."""
    parts: list[str] = []
    quoted: list[tuple[int, int]] = []
    at = length = subscripts = 0
    while (found := _PARTS.search(sql, at)) is not None:
        kept = sql[at : found.start()]
        if found["subscripts"] is not None:
            subscripts += 1
            if subscripts >= MOST_BRACKETS:
                raise RefusedError(f"not allowed: more than {MOST_BRACKETS} subscripts")
            kept, at = sql[at : found.end() - 1], found.end() - 1
        elif found["comment"] is not None or found["block"] is not None:
            at = found.end() if found["block"] is None else _end_of_block(sql, found.end())
            kept += " "
        else:
            start = length + len(kept)
            kept += found[0]
            quoted.append((start, start + len(found[0]) - 1))
            at = found.end()
        parts.append(kept)
        length += len(kept)
    return "".join([*parts, sql[at:]]), quoted


def _end_of_block(sql: str, at: int) -> int:
    depth = 1
    for mark in _BLOCK_MARK.finditer(sql, at):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    raise RefusedError("can't be parsed: a comment has no end")


def _quoted_parts(sql: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    found = []
    for token in tokens:
        if token.comments:
            return [(-1, -1)]
        written = sql[token.start : token.end + 1]
        if "'" in written or '"' in written or (written.startswith("$") and len(written) > 1):
            found.append((token.start, token.end))
    return found


def _is_unicode(sql: str) -> bool:
    try:
        sql.encode()
    except UnicodeEncodeError:
        return False
    return True


def _place(error: Exception) -> str:
    """Say where parsing stopped, without the terminal codes and the text that sqlglot adds."""
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        return f"{first['description']} at line {first['line']}, column {first['col']}"
    return " ".join(str(error).split())[:200] or type(error).__name__
