"""Makes double-quoted words names, and never texts (ours).

If no column has a double-quoted name, SQLite reads it as a text: `SELECT "phone"` returns `phone`
in every row. A word in grave accents is always a name, so statements run with grave accents
instead. Every version of SQLite and of Python's driver understands them. Views of the file stay
unchanged.
"""

from __future__ import annotations

import re

from sentinel_sql.database.sqlite.sql_tokens import Token, tokenize

_UNKNOWN = re.compile(r"no such column: (.*)", re.DOTALL)


class QuotedNames:
    """One statement with its double-quoted names in grave accents; `sql` is the text to run."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self._words: dict[str, str] = {}
        if '"' not in sql:
            return
        pieces, position = [], 0
        for token in tokenize(sql):
            if _is_double_quoted(token):
                pieces += [sql[position : token.start], self._in_accents(token)]
                position = token.end
        self.sql = "".join(pieces) + sql[position:]

    def as_written(self, column: str) -> str:
        """Return a result column's name with the quotes of the statement."""
        if "`" in column:
            for accents, quotes in self._words.items():
                column = column.replace(accents, quotes)
        return column

    def explain(self, error: str) -> str:
        """Return SQLite's error, with a hint on quotes if a double-quoted name is unknown."""
        unknown = _UNKNOWN.fullmatch(error)
        if unknown is None or _accented(unknown[1]) not in self._words:
            return self.as_written(error)
        return f"{error} (in double quotes it is a name; write a text in single quotes)"

    def _in_accents(self, token: Token) -> str:
        accents = _accented(token.value)
        self._words[accents] = token.text
        return accents


def _is_double_quoted(token: Token) -> bool:
    # without a closing quote it is an error either way
    return token.kind == "quoted" and len(token.text) > 1 and token.text[0] == token.text[-1] == '"'


def _accented(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
