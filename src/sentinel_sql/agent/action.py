"""Reads one action from a model's reply, and ignores other text that small models write.

The prompt asks for `THOUGHT: …` and then one of `SQL: …`, `FINAL_SQL: …`, `FINAL: null`, with
an optional line `BEST_SO_FAR: …`. The first action of a reply counts; what follows it is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sentinel_sql.agent.sql_text import QueryReader, looks_like_sql
from sentinel_sql.agent.template_tokens import MARKER, MARKER_PATTERN, strip_template
from sentinel_sql.trajectory.record import Action as ActionKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """What a reply asks for.

    `sql` is set only for the kinds `sql` and `final_sql`. Its string literals are those of the
    reply, byte for byte, but typographic quotes around a literal become plain quotes.
    """

    kind: ActionKind
    thought: str | None = None
    sql: str | None = None
    best_so_far: str | None = None


# Markdown that small models put around a tag: bullets, headings, quotes, bold, numbers, fences.
_BEFORE = (
    r"^(?:[ \t>*_#\-`]|<\w{1,30}>|"
    + MARKER_PATTERN
    + r")*+(?:\d++[.)][ \t]*+)?(?:STEP[ \t]*+\d++[ \t:.\-]*+)?[*_`]*+"
    r"(?:ACTION[ \t]*+:[ \t]*+)?"
)
_NAMES = (
    r"(?:(?P<thought>THOUGHTS?|THINK(?:ING)?|REASON(?:ING)?)"
    r"|(?P<best>BEST[ _\\\-]*SO[ _\\\-]*FAR(?:[ _\\\-]*(?:SQL|QUERY))?)"
    r"|(?P<final>FINAL(?:[ _\\\-]*(?:SQL|QUERY|ANSWER))*)"
    r"|(?P<sql>(?:EXPLORATORY[ _\\\-]*)?"
    r"(?:(?:SQL(?:ITE)?|POSTGRES(?:QL)?|DUCKDB)(?:[ _\\\-]*QUERY)?|QUERY))"
    r"|(?P<heard>OBSERVATIONS?|RESULTS?|OUTPUT|RESPONSE|QUESTION|USER|STEP[ \t]*\d+))"
)
_TAG = re.compile(
    _BEFORE + _NAMES + r"(?:[*_`]*[ \t]*:(?!:)[*_`]*"  # the colon, bold or not
    r"|[*_`]*[ \t]*(?=\n\s*```)"  # a heading over a fence
    r"|(?<=L)[ \t]+(?=(?:SELECT|WITH)\b))",  # FINAL_SQL SELECT …, the colon forgotten
    re.IGNORECASE | re.MULTILINE,
)
# A tag in the middle of a line; capitals and the text after it distinguish it from prose.
_INLINE = re.compile(
    r"(?<=[ \t.;,*`])(?:(?P<final>FINAL(?:_SQL)?)|(?P<sql>SQL)):[ \t]*"
    r"(?=(?:SELECT|WITH)\b|(?i:null)[.`*]*[ \t]*$)",
    re.MULTILINE,
)
_NULL = re.compile(
    rf"""(?:["'`*_(<\s]|{MARKER_PATTERN})*+(?:null|none|nil|n/a)\b["'`*_)>.;!]*+[ \t]*+"""
    rf"""(?:$|{MARKER_PATTERN}|\n|[(,:–—-]|because\b|since\b|as\b)""",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*```[ \t]*\w*[ \t]*$", re.MULTILINE)
# SELECT alone may be prose ("Select the patients…"), so capitals or all-lower only.
_BARE_SQL = re.compile(
    r"^[ \t`]*(?=(?:SELECT|select)\s|(?:WITH|with)\s+(?:(?i:RECURSIVE)\s+)?\w+\s*"
    r"(?:\([^)]{0,1000}\)\s*)?"
    r"(?i:AS)\s*(?:(?i:NOT\s+)?(?i:MATERIALIZED)\s*)?\()",
    re.MULTILINE,
)


def parse_reply(text: str) -> Action:
    """Return the first action of a reply, or kind `invalid` if there is none. Never raises.

    SQL without a tag counts as exploratory, so that only a query that the model calls final is
    committed. The last such query counts, since earlier ones are deliberation.
    """
    text = strip_template(text.replace("\r\n", "\n"))
    queries = QueryReader(text, _TAG)
    kind: ActionKind | None = None
    sql: str | None = None
    best: str | None = None
    thought_parts: list[str] = []
    position = 0
    in_thought = True
    at_line = _TAG.search(text)
    while True:
        if at_line is not None and at_line.start() < position:
            at_line = _TAG.search(text, position)
        # a tag within a line, if it can't be prose
        tag = _INLINE.search(text, position, at_line.start() if at_line else len(text)) or at_line
        before = text[position : tag.start() if tag else len(text)]
        if kind is None and in_thought:
            thought_parts.append(before)
        if tag is None:
            break
        position = tag.end()
        name = tag.lastgroup
        if name in ("sql", "final", "best"):
            in_thought = False
            if name != "best" and kind is not None:
                break
            found, end = queries.take(position)
            null = found is None and _NULL.match(text, position)
            if found is not None:
                position = end
            if name == "best":
                best = best or found
            elif found is not None:
                kind, sql = ("final_sql" if name == "final" else "sql"), found
            elif null and name == "final":
                kind = "final_null"
        elif name == "heard":
            if kind is not None:
                break
            in_thought = False
        else:
            if kind is not None:
                break
            in_thought = True
    if kind is None:
        return _action_without_tag(text, best, queries)
    return Action(kind=kind, thought=_tidy(thought_parts), sql=sql, best_so_far=best)


def _action_without_tag(text: str, best: str | None, queries: QueryReader) -> Action:
    last: tuple[int, str] | None = None
    position = 0
    while start := _BARE_SQL.search(text, position):
        sql, end = queries.take(start.end())
        if sql is not None and looks_like_sql(sql):
            last = (start.start(), sql)
        position = max(end, start.end() + 1)
    if last is None:
        return Action(kind="invalid", thought=_tidy([text]), best_so_far=best)
    thought = _tidy([text[: last[0]]])
    return Action(kind="sql", thought=thought, sql=last[1], best_so_far=best)


def _tidy(parts: list[str]) -> str | None:
    """Join the parts of the thought, without tags, fences and Markdown around them."""
    kept = (
        _FENCE.sub("", MARKER.sub("", _TAG.sub("", part))).strip().strip("*`").strip()
        for part in parts
    )
    return "\n".join(part for part in kept if part) or None
