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
from sqlglot.errors import TokenError

from sentinel_sql.sql_tree import Token, tokens_of, trees_of

LONGEST_SQL: Final = 100_000
"""Longest statement in characters. One of this length is parsed in some tenths of a second."""

MOST_SUBSCRIPTS: Final = 50
"""Most second subscripts, as in `a[1][2]`: sqlglot's time grows with the cube of those in a row."""

DEEPEST: Final = 100
"""Most parentheses within each other: from some hundreds on sqlglot gives up, and slowly."""

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
    """,
    re.VERBOSE | re.DOTALL,
)
_MARK: Final = re.compile(r"['\"$]|--|/\*")
_BLOCK_MARK: Final = re.compile(r"/\*|\*/")
_BRACKET: Final = re.compile(r"\]\s*\[|[()\[\]]")


class RefusedError(Exception):
    """A statement that may not run, and why, in one line; `execute` turns it into a result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One statement: its text without comments, the text's tokens, and its tree."""

    sql: str
    dialect: str
    tokens: tuple[Token, ...]
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
    except RefusedError:
        raise
    except RecursionError as error:
        raise RefusedError("not allowed: it is nested too deeply") from error
    except Exception as error:  # whatever an agent writes must not end a collection
        raise RefusedError(f"can't be parsed as {dialect}: {_place(error)}") from error
    if not trees:
        raise RefusedError("no SQL statement was given")
    if len(trees) > 1:
        raise RefusedError("not allowed: only one statement may run at a time")
    return Statement(
        sql=text.rstrip(" \t\r\n\f;"), dialect=dialect, tokens=tuple(tokens), tree=trees[0]
    )


def _without_comments(sql: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with a space for each comment, and (start, end) of all that is in quotes."""
    if _MARK.search(sql) is None:
        _check_nesting(sql)
        return sql, []
    parts: list[str] = []
    quoted: list[tuple[int, int]] = []
    code: list[str] = []
    at = length = 0
    while (found := _PARTS.search(sql, at)) is not None:
        kept = sql[at : found.start()]
        code.append(kept)
        if found["comment"] is not None or found["block"] is not None:
            at = found.end() if found["block"] is None else _end_of_block(sql, found.end())
            kept += " "
        else:
            start = length + len(kept)
            kept += found[0]
            quoted.append((start, start + len(found[0]) - 1))
            at = found.end()
        parts.append(kept)
        length += len(kept)
    code.append(sql[at:])
    _check_nesting("".join(code))
    return "".join([*parts, sql[at:]]), quoted


def _check_nesting(code: str) -> None:
    """Refuse what takes sqlglot long."""
    depth = subscripts = 0
    for bracket in _BRACKET.findall(code):
        if bracket in "([":
            depth += 1
        elif bracket in ")]":
            depth -= 1
        else:
            subscripts += 1
        if depth > DEEPEST or subscripts > MOST_SUBSCRIPTS:
            raise RefusedError("not allowed: it is nested too deeply")


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
    if isinstance(error, TokenError):
        return "a string, a quoted name or a comment has no end"
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        return f"{first['description']} at line {first['line']}, column {first['col']}"
    return " ".join(str(error).split())[:200] or type(error).__name__
