"""Splits SQL into SQLite's tokens, so that a `;` or a 'now' in a string isn't misread (ours).

Safety and the clock only need to know where strings, quoted names, comments and words begin and
end. They must agree with SQLite on every text, also on one that SQLite rejects, and a full parser
isn't exact enough for that.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

TokenKind = Literal["word", "string", "quoted", "blob", "number", "variable", "mark"]

# The quantifiers `*+` are possessive. A string without a closing quote then runs to the end, as in
# SQLite, instead of ending at its last doubled quote.
_TOKEN = re.compile(
    r"""
      (?P<space> [ \t\n\f\r\ufeff]+ | --[^\n]* | /\*(?:(?!\*/).)*+(?:\*/)? )
    | (?P<blob> [xX]'[^']*'? )
    | (?P<string> '(?:[^']|'')*+'? )
    | (?P<quoted> "(?:[^"]|"")*+"? | `(?:[^`]|``)*+`? | \[[^\]]*\]? )
    | (?P<number> (?:[0-9]|\.[0-9])[0-9A-Za-z_.]* )
    | (?P<word> [A-Za-z_\x80-\U0010ffff][0-9A-Za-z_$\x80-\U0010ffff]* )
    | (?P<variable> [?:@\#$][0-9A-Za-z_$:\x80-\U0010ffff]* )
    | (?P<mark> . )
    """,
    re.VERBOSE | re.DOTALL,
)

_CLOSING = {"[": "]"}


class Token(NamedTuple):
    """One token other than white space or a comment.

    `start` and `end` are its offsets in the SQL.
    """

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """The content of a string or a quoted name; the text of any other token."""
        if self.kind not in ("string", "quoted"):
            return self.text
        closing = _CLOSING.get(self.text[0], self.text[0])
        body = self.text[1:]
        if body.endswith(closing):
            body = body[:-1]
        return body if closing == "]" else body.replace(closing * 2, closing)


def tokenize(sql: str) -> list[Token]:
    """Return the tokens of `sql` in order, without white space and comments. Never fails."""
    return [
        Token(match.lastgroup, match[0], *match.span())  # type: ignore[arg-type]
        for match in _TOKEN.finditer(sql)
        if match.lastgroup != "space"
    ]
