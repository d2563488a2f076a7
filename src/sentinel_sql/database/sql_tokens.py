"""Cut SQL into SQLite's tokens, so that a `;` or a 'now' inside a string is never mistaken.

A full parser is neither needed nor exact enough here: safety and the clock only ask where
strings, quoted names, comments and words begin and end, and must agree with SQLite on every
text, also on one that SQLite will go on to reject. Ours.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

TokenKind = Literal["word", "string", "quoted", "blob", "number", "variable", "mark"]

# Possessive quantifiers (`*+`): a string with no closing quote runs to the end, as in SQLite,
# instead of being cut again at the last doubled quote.
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
    """One token that means something; white space and comments are left out.

    `start` and `end` are its offsets in the SQL.
    """

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """What a string or a quoted name stands for; the text itself of any other token."""
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
