"""Finds the texts that a query compares columns with, and the most similar stored value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from sqlglot import exp

from sentinel_sql.database.probes.query_sources import QuerySources
from sentinel_sql.schema import Schema, folded

LONGEST_TEXT = 200
"""Longest part of a literal or a stored value that is compared, in characters (our choice)."""

_NO_NAME = re.compile(r"[\d\s:./%_+-]*")
"""Numbers, dates and times, for which a similar value means nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextLookup:
    """A text that a query looks for in a column by a condition; `sql` checks if a row meets it."""

    literal: str
    table: str
    column: str
    condition: str
    sql: str

    @property
    def sought(self) -> str:
        """The text without the wildcards of a LIKE pattern."""
        return " ".join(re.split(r"[%_]+", self.literal)).strip()


def text_lookups(
    query: exp.Expr, sources: QuerySources, *, dialect: str = "sqlite"
) -> Iterator[TextLookup]:
    """Yield each text that a query compares a table's column with by =, IN or LIKE, once."""
    seen: set[str] = set()
    for node in query.find_all(exp.EQ, exp.In, exp.Like, exp.ILike):
        for column, literal, condition in _comparisons(node, dialect):
            origin = sources.origin(column)
            if origin is None or origin.source.table is None or _NO_NAME.fullmatch(literal):
                continue
            name, table = folded(column.name), origin.source.table
            if not sources.has(origin.source, name):
                continue
            lookup = TextLookup(
                literal=literal,
                table=table,
                column=name,
                condition=condition,
                sql=f"SELECT 1 FROM {table_name(sources.schema, table)} "  # noqa: S608
                f"WHERE {condition} LIMIT 1",
            )
            if lookup.sql not in seen:
                seen.add(lookup.sql)
                yield lookup


def nearest(text: str, values: Iterable[str]) -> tuple[str, float] | None:
    """Return the value most similar to a text, and the similarity in [0, 1]; None without values.

    The similarity is that of `difflib`: twice the characters in matching blocks over all
    characters, without case and outer blanks. The first of equally similar values wins.
    """
    sought = _fold(text)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(sought)
    best: tuple[str, float] | None = None
    for value in values:
        matcher.set_seq1(_fold(value))
        least = -1.0 if best is None else best[1]
        # Two cheap upper bounds come first, so that few values need the whole comparison.
        if matcher.real_quick_ratio() > least and matcher.quick_ratio() > least:
            similarity = matcher.ratio()
            if similarity > least:
                best = (value, similarity)
    return best


def table_name(schema: Schema, table: str) -> str:
    """Return a table's name in quotes, or as the schema says that SQL writes it."""
    return schema.table_sql.get(table) or _quoted(table)


def column_name(schema: Schema, table: str, column: str) -> str:
    """Return a column's name in quotes, or as the schema says that SQL writes it."""
    return schema.column_sql.get(table, {}).get(column) or _quoted(column)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _comparisons(node: exp.Expr, dialect: str) -> Iterator[tuple[exp.Column, str, str]]:
    """Yield (column, text, condition on the bare column) of one comparison."""
    if isinstance(node, exp.In):
        sides = [(node.this, other) for other in node.expressions]
    else:
        sides = [(node.this, node.expression), (node.expression, node.this)]
    for left, right in sides:
        column, text = _bare(left), _text(_bare(right))
        if isinstance(column, exp.Column) and text is not None:
            ahead, behind = _unqualified(left), _unqualified(right)
            if isinstance(node, exp.Like | exp.ILike):
                yield column, text, type(node)(this=ahead, expression=behind).sql(dialect=dialect)
                return
            yield column, text, exp.EQ(this=ahead, expression=behind).sql(dialect=dialect)
            if not isinstance(node, exp.In):
                return


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Lower | exp.Upper | exp.Trim | exp.Paren):
        node = node.this
    return node


def _text(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)[:LONGEST_TEXT]
    return None


def _unqualified(node: exp.Expr) -> exp.Expr:
    bare = node.copy()
    for column in [bare] if isinstance(bare, exp.Column) else list(bare.find_all(exp.Column)):
        column.set("table", None)
    return bare


def _fold(text: str) -> str:
    return " ".join(text[:LONGEST_TEXT].casefold().split())
