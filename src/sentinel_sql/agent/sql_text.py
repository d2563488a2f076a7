"""Where a query ends in running text: the one scanner that knows strings, fences and chatter."""

from __future__ import annotations

import re

_STATEMENT = re.compile(
    r"(?:SELECT|WITH|VALUES|EXPLAIN|PRAGMA|SHOW|DESCRIBE|INSERT|UPDATE|DELETE|REPLACE|MERGE|CREATE"
    r"|DROP|ALTER|TRUNCATE|ATTACH|DETACH|VACUUM|REINDEX|ANALYZE|BEGIN|COMMIT|SET|GRANT|CALL)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_OPENING = re.compile(r"\s*+(?P<fence>```[ \t]*+\w*+[ \t]*+\n?)?\s*+(?:`(?!`))?")

# A line that begins so goes on with the query above it.
_GOES_ON = re.compile(
    r"(?:SELECT|FROM|WHERE|AND|OR|NOT|IN|IS|ON|AS|USING|JOIN|INNER|LEFT|RIGHT|FULL|OUTER|CROSS"
    r"|NATURAL|ORDER|GROUP|BY|HAVING|LIMIT|OFFSET|FETCH|UNION|INTERSECT|EXCEPT|ALL|DISTINCT|CASE"
    r"|WHEN|THEN|ELSE|END|LIKE|ILIKE|GLOB|BETWEEN|EXISTS|WITH|VALUES|WINDOW|OVER|PARTITION|FILTER"
    r"|ROWS|RANGE|ASC|DESC|NULLS|COLLATE|ESCAPE|NULL|INTERVAL)\b"
    r"|[(),=<>+*/%|\"'‘“.\[]|--|/\*|!=|-\s*[\d(]|\d",
    re.IGNORECASE,
)
# A query that breaks off so needs what stands on the next line.
_EXPECTS = re.compile(
    r"(?:[,(=<>+\-*/%|.]|\b(?:SELECT|DISTINCT|FROM|WHERE|AND|OR|NOT|IN|IS|ON|AS|USING|JOIN|INNER"
    r"|LEFT|RIGHT|FULL|OUTER|CROSS|ORDER|GROUP|BY|HAVING|LIMIT|OFFSET|UNION|ALL|INTERSECT|EXCEPT"
    r"|CASE|WHEN|THEN|ELSE|LIKE|GLOB|BETWEEN|EXISTS|WITH|RECURSIVE|VALUES|OVER|PARTITION|TABLE"
    r"|INTO|SET|UPDATE|ESCAPE))\Z",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[\w)'\"`*][.!?:][*`)]*\s*\Z")
_PROSE_START = re.compile(r"[A-Z][a-z']+ [a-z]")
# All that the scanner must look at; what stands between is copied as it is.
_SPECIAL = re.compile(r"['\"‘’“”;`\n()/-]")
_TYPOGRAPHIC = {"‘": "'", "’": "'", "“": '"', "”": '"'}
_CLOSES = {"‘": "’‘'", "’": "’‘'", "“": '”“"', "”": '”“"'}


def looks_like_sql(text: str, start: int = 0) -> bool:
    """Return whether an SQL statement begins at `start`, comments and parentheses aside."""
    lead = _LEAD.match(text, start)
    return _STATEMENT.match(text, lead.end() if lead else start) is not None


def take_sql(text: str, start: int, tag: re.Pattern[str]) -> tuple[str | None, int]:
    """Take the query that begins at `start`, and tell where it ends.

    It ends at a `;`, a closing fence or a tag outside of strings, or at a line that doesn't go on
    with it. String literals stay byte for byte as they are.

    Args:
        text: the whole reply.
        start: where the query may begin; blanks, a fence or a backtick may come first.
        tag: what ends a query at the start of a line.

    Returns:
        The query without its `;`, and the offset behind it; (None, start) if none begins there.
    """
    opening = _OPENING.match(text, start)
    if opening is None or not looks_like_sql(text, opening.end()):
        return None, start
    fenced = opening["fence"] is not None
    sql, end = _scan(text, opening.end(), tag, fenced=fenced, quotes=True)
    if sql is None:
        # A string that never closes would swallow the rest, so quotes can't be trusted here.
        sql, end = _scan(text, opening.end(), tag, fenced=fenced, quotes=False)
    if sql is None:
        return None, start
    if sql.count("`") % 2:
        sql = sql.rstrip().removesuffix("`")
    sql = sql.strip()
    return (sql, end) if looks_like_sql(sql) else (None, start)


def _scan(
    text: str, start: int, tag: re.Pattern[str], *, fenced: bool, quotes: bool
) -> tuple[str | None, int]:
    """Copy the query from `start` on; (None, start) if a string in it never closes."""
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
            out.append(text[at:end])
            at = end
        elif text.startswith("/*", at) and (end := text.find("*/", at)) >= 0:
            out.append(text[at : end + 2])
            at = end + 2
        elif char == ";":
            return "".join(out), at + 1
        elif text.startswith("```", at):
            return "".join(out), at + 3
        elif char == "\n" and _ends_at_line(text, at, out, tag, fenced=fenced, depth=depth):
            return "".join(out), at
        else:
            depth += (char == "(") - (char == ")")
            out.append(char)
            at += 1
    return "".join(out), at


def _ends_at_line(
    text: str, at: int, out: list[str], tag: re.Pattern[str], *, fenced: bool, depth: int
) -> bool:
    """Tell whether the query ends at the newline at `at`."""
    following = at
    while following < len(text) and text[following] in " \t\n":
        following += 1
    if following >= len(text):
        return True
    line_start = text.rfind("\n", 0, following) + 1
    if tag.match(text, line_start):
        return True
    if fenced:
        return False
    end = text.find("\n", following)
    line = text[following : len(text) if end < 0 else end]
    sentence = _SENTENCE_END.search(line) and _PROSE_START.match(line)
    if sentence:
        return True
    return not (depth > 0 or _GOES_ON.match(line) or _EXPECTS.search("".join(out[-9:]).rstrip()))


def _string_end(text: str, at: int) -> int:
    """Return the offset behind the string that opens at `at`, or -1; doubled quotes are content."""
    quote = text[at]
    close = text.find(quote, at + 1)
    while close >= 0 and text[close + 1 : close + 2] == quote:
        close = text.find(quote, close + 2)
    return close + 1 if close >= 0 else -1


def _typographic_end(text: str, at: int) -> int:
    """Return the offset behind the literal that a typographic quote opens on this line, or -1."""
    closers = _CLOSES[text[at]]
    for end in range(at + 1, len(text)):
        if text[end] == "\n":
            return -1
        if text[end] in closers:
            return end + 1
    return -1
