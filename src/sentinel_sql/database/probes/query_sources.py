"""Finds the table that each column of a query comes from, by the schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sentinel_sql.schema import Schema, folded


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A source of a SELECT: its name there, and its table in the schema, or None if derived."""

    name: str
    table: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The source of a column, and the SELECT that has this source."""

    select: exp.Select
    source: Source


class QuerySources:
    """The sources of every SELECT of one parsed query."""

    def __init__(self, query: exp.Expr, schema: Schema) -> None:
        self._schema = schema
        self._derived = {folded(cte.alias_or_name) for cte in query.find_all(exp.CTE)}
        self._sources: dict[int, list[Source]] = {}

    def of(self, select: exp.Select) -> list[Source]:
        """Return the sources of one SELECT: its FROM, then each join in order."""
        found = self._sources.get(id(select))
        if found is None:
            found = [self._source(node) for node in relations(select)]
            self._sources[id(select)] = found
        return found

    def origin(self, column: exp.Column) -> Origin | None:
        """Return where a column comes from, or None if that is unsure."""
        name, qualifier = folded(column.name), folded(column.table)
        select = column.find_ancestor(exp.Select)
        while isinstance(select, exp.Select):
            sources = self.of(select)
            if qualifier:
                fitting = [source for source in sources if source.name == qualifier]
            else:
                fitting = [source for source in sources if self.has(source, name)]
                if not fitting:
                    # A single derived source may have any column.
                    fitting = [source for source in sources if source.table is None]
            if len(fitting) == 1:
                return Origin(select=select, source=fitting[0])
            if fitting:
                return None
            select = select.find_ancestor(exp.Select)
        return None

    def has(self, source: Source, column: str) -> bool:
        """Return whether a source surely has a column of that lower-case name."""
        return source.table is not None and column in self._schema.tables[source.table]

    def _source(self, node: exp.Expr) -> Source:
        name = folded(node.alias_or_name)
        table = folded(node.name) if isinstance(node, exp.Table) else ""
        known = table in self._schema.tables and table not in self._derived
        return Source(name=name, table=table if known else None)


def relations(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the sources of a SELECT: tables, derived tables and others."""
    start = select.args.get("from_")
    if start is not None:
        yield start.this
        for join in select.args.get("joins") or ():
            yield join.this
