"""Finds where a query ends in a reply, with regard to strings, fences and other text."""

from __future__ import annotations

import re

from sentinel_sql.agent.template_tokens import MARKER, MARKER_PATTERN

UNCLOSED_STRINGS = 8
"""Most queries of a reply with an unclosed string before quotes are ignored (our choice), as each
makes the reader scan the whole rest."""

_STATEMENT = re.compile(
    r"(?:SELECT|WITH|VALUES|EXPLAIN|PRAGMA|SHOW|DESCRIBE|INSERT|UPDATE|DELETE|REPLACE|MERGE|CREATE"
    r"|DROP|ALTER|TRUNCATE|ATTACH|DETACH|VACUUM|REINDEX|ANALYZE|BEGIN|COMMIT|SET|GRANT|CALL)\b",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"(?:\s|\(|--[^\n]*+(?:\n|\Z))*+")
_OPENING = re.compile(
    rf"(?:\s|{MARKER_PATTERN}|<\w{{1,30}}>)*+(?P<fence>```[ \t]*+\w*+[ \t]*+\n?)?"
    rf"(?:\s|{MARKER_PATTERN})*+"
    r"(?:`(?!`))?"
)

# A line that begins like this continues the query above it.
_GOES_ON = re.compile(
    r"(?:SELECT|FROM|WHERE|AND|OR|NOT|IN|IS|ON|AS|USING|JOIN|INNER|LEFT|RIGHT|FULL|OUTER|CROSS"
    r"|NATURAL|ORDER|GROUP|BY|HAVING|LIMIT|OFFSET|FETCH|UNION|INTERSECT|EXCEPT|ALL|DISTINCT|CASE"
    r"|WHEN|THEN|ELSE|END|LIKE|ILIKE|GLOB|BETWEEN|EXISTS|WITH|VALUES|WINDOW|OVER|PARTITION|FILTER"
    r"|ROWS|RANGE|ASC|DESC|NULLS|COLLATE|ESCAPE|NULL|INTERVAL|QUALIFY|LATERAL|ASOF)\b"
    r"|[(),=<>+*/%|\"'‘“.\[]|::|--|/\*|!=|-\s*[\d(]|\d",
    re.IGNORECASE,
)
# A query that ends a line like this continues on the next line.
_EXPECTS = re.compile(
    r"(?:[,(=<>+\-*/%|.]|\b(?:SELECT|DISTINCT|FROM|WHERE|AND|OR|NOT|IN|IS|ON|AS|USING|JOIN|INNER"
    r"|LEFT|RIGHT|FULL|OUTER|CROSS|ORDER|GROUP|BY|HAVING|LIMIT|OFFSET|UNION|ALL|INTERSECT|EXCEPT"
    r"|CASE|WHEN|THEN|ELSE|LIKE|ILIKE|GLOB|QUALIFY|LATERAL|BETWEEN|EXISTS|WITH|RECURSIVE|VALUES|OVER|PARTITION|TABLE"
    r"|INTO|SET|UPDATE|ESCAPE))\Z",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[\w)'\"`*][.!?:][*`)]*\s*\Z")
_PROSE_START = re.compile(r"[A-Z][a-z']+ [a-z]")
# Characters that the scanner must handle; all text between them is copied.
_SPECIAL = re.compile(r"['\"‘’“”;`\n()/<\[-]")
_SPACE = re.compile(r"[ \t\n]*+")
_TYPOGRAPHIC = {"‘": "'", "’": "'", "“": '"', "”": '"'}
_CLOSES = {"‘": "’‘'", "’": "’‘'", "“": '”“"', "”": '”“"'}


def looks_like_sql(text: str) -> bool:
    """Return whether a text begins with an SQL statement, after comments and parentheses."""
    return QueryReader(text, _STATEMENT).begins_at(0)


class QueryReader:
    """Extracts queries from one reply, in linear time.

    Args:
        text: the whole reply.
        tag: a pattern that ends a query at the start of a line.
    """

    def __init__(self, text: str, tag: re.Pattern[str]) -> None:
        self._text = text
        self._tag = tag
        self._last_comment_end = text.rfind("*/")
        self._unclosed_left = UNCLOSED_STRINGS

    def take(self, start: int) -> tuple[str | None, int]:
        """Return the query that begins at `start`, and its end.

        Outside of strings it ends at a `;`, a closing fence, a token of a chat template or a tag,
        or at a line that doesn't continue it. String literals stay unchanged, byte for byte.

        Args:
            start: where the query may begin; blanks, a fence or a backtick may come first.

        Returns:
            The query without its `;`, and the offset after it; (None, start) if none begins there.
        """
        text = self._text
        opening = _OPENING.match(text, start)
        if opening is None or not self.begins_at(opening.end()):
            return None, start
        fenced = opening["fence"] is not None
        sql: str | None = None
        end = start
        if self._unclosed_left:
            sql, end = self._scan(opening.end(), fenced=fenced, quotes=True)
        if sql is None:
            # An unclosed string would include the whole rest, so quotes are ignored here.
            self._unclosed_left = max(self._unclosed_left - 1, 0)
            sql, end = self._scan(opening.end(), fenced=fenced, quotes=False)
        if sql is None:
            return None, start
        if sql.count("`") % 2:
            sql = sql.rstrip().removesuffix("`")
        sql = sql.strip()
        return (sql, end) if looks_like_sql(sql) else (None, start)

    def begins_at(self, at: int) -> bool:
        """Return whether a statement begins there, after comments and parentheses."""
        text = self._text
        while True:
            lead = _BLANKS.match(text, at)
            at = lead.end() if lead else at
            if not text.startswith("/*", at) or at + 2 > self._last_comment_end:
                return _STATEMENT.match(text, at) is not None
            at = text.find("*/", at + 2) + 2

    def _scan(self, start: int, *, fenced: bool, quotes: bool) -> tuple[str | None, int]:
        """Copy the query from `start` on; (None, start) if a string in it is unclosed."""
        text = self._text
        out: list[str] = []
        at = start
        depth = 0
        while at < len(text):
            special = _SPECIAL.search(text, at)
            stop = special.start() if special else len(text)
            if stop > at:
                out.append(text[at:stop])
                at = stop
                continue
            char = text[at]
            if quotes and char in "'\"":
                close = _string_end(text, at)
                if close < 0:
                    return None, start
                out.append(text[at:close])
                at = close
            elif quotes and char in _TYPOGRAPHIC:
                close = _typographic_end(text, at)
                if close < 0:
                    out.append(_TYPOGRAPHIC[char])
                    at += 1
                else:
                    plain = _TYPOGRAPHIC[char]
                    out.append(plain + text[at + 1 : close - 1] + plain)
                    at = close
            elif text.startswith("--", at):
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                token = MARKER.search(text, at, end)
                out.append(text[at : token.start() if token else end])
                if token:
                    return "".join(out), token.end()
                at = end
            elif text.startswith("/*", at) and at + 2 <= self._last_comment_end:
                end = text.find("*/", at + 2) + 2
                out.append(MARKER.sub("", text[at:end]))
                at = end
            elif char == ";":
                return "".join(out), at + 1
            elif text.startswith("```", at):
                return "".join(out), at + 3
            elif char in "<[" and (token := MARKER.match(text, at)):
                return "".join(out), token.end()
            elif char == "\n":
                blanks = _SPACE.match(text, at)
                following = blanks.end() if blanks else at + 1
                if self._ends_at_line(following, out, fenced=fenced, depth=depth):
                    return "".join(out), at
                out.append(text[at:following])
                at = following
            else:
                depth += (char == "(") - (char == ")")
                out.append(char)
                at += 1
        return "".join(out), at

    def _ends_at_line(self, following: int, out: list[str], *, fenced: bool, depth: int) -> bool:
        """Return whether the query ends before the line whose text begins at `following`."""
        text = self._text
        if following >= len(text):
            return True
        line_start = text.rfind("\n", 0, following) + 1
        if self._tag.match(text, line_start):
            return True
        if fenced:
            return False
        end = text.find("\n", following)
        line = text[following : len(text) if end < 0 else end]
        if _SENTENCE_END.search(line) and _PROSE_START.match(line):
            return True
        before = "".join(out[-9:]).rstrip()[-20:]
        return not (depth > 0 or _GOES_ON.match(line) or _EXPECTS.search(before))


def _string_end(text: str, at: int) -> int:
    """Return the offset after the string that opens at `at`, or -1; doubled quotes are content."""
    quote = text[at]
    close = text.find(quote, at + 1)
    while close >= 0 and text[close + 1 : close + 2] == quote:
        close = text.find(quote, close + 2)
    return close + 1 if close >= 0 else -1


def _typographic_end(text: str, at: int) -> int:
    """Return the offset after the literal that a typographic quote opens on this line, or -1."""
    closers = _CLOSES[text[at]]
    for end in range(at + 1, len(text)):
        if text[end] == "\n":
            return -1
        if text[end] in closers:
            return end + 1
    return -1
