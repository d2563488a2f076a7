"""References of a query that don't resolve, and joins without a foreign key.

Names resolve as the query's dialect resolves them: through aliases, common table expressions,
derived tables and, from a nested query, the queries around it. Doubtful references aren't counted,
such as those to a table with unknown columns, or a double-quoted word that SQLite would read as a
string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sentinel_sql.monitor.features.keys import BaseColumn, Keys
from sentinel_sql.monitor.features.stored_names import stored_names
from sentinel_sql.schema import folded
from sentinel_sql.sql_tree import known_dialect

Columns = Mapping[str, BaseColumn | None]
"""The columns of a source by name, with the table's column behind each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Counts over one query: unresolved references, and joins without a foreign key."""

    failed: int = 0
    bad_joins: int = 0


def analyse(query: exp.Expr, keys: Keys, dialect: str | None = None) -> References:
    """Count the unresolved references and the joins without a foreign key of a parsed query."""
    walk = _Walk(keys, known_dialect(dialect))
    walk.query(query, ctes={}, outer=None)
    return References(failed=walk.failed, bad_joins=walk.bad_joins)


@dataclass(kw_only=True, slots=True)
class _Scope:
    """The sources that one SELECT can name. The columns of a source are None if unknown."""

    sources: dict[str, Columns | None] = field(default_factory=dict)
    anonymous: list[Columns | None] = field(default_factory=list)
    merged: set[str] = field(default_factory=set)
    outer: _Scope | None = None

    @property
    def all_columns(self) -> list[Columns | None]:
        return [*self.sources.values(), *self.anonymous]


class _Walk:
    """One pass over one query, with its counts."""

    def __init__(self, keys: Keys, dialect: str) -> None:
        self._keys = keys
        self._names = stored_names(keys, dialect)
        self.failed = 0
        self.bad_joins = 0

    def query(
        self, node: exp.Expr, ctes: Mapping[str, Columns | None], outer: _Scope | None
    ) -> Columns | None:
        """Resolve a query and return its output columns, or None if they aren't known."""
        ctes = self._with_ctes(node, ctes, outer)
        if isinstance(node, exp.Subquery):
            return self.query(node.this, ctes, outer)
        if isinstance(node, exp.SetOperation):
            # A loop instead of recursion, because a UNION of a thousand parts nests a thousand
            # levels deep on the left.
            parts: list[exp.Expr] = []
            left: exp.Expr = node
            while isinstance(left, exp.SetOperation) and not (
                left is not node and left.args.get("with_")
            ):
                parts.append(left.expression)
                left = left.this
            columns = self.query(left, ctes, outer)
            for part in reversed(parts):
                self.query(part, ctes, outer)
            return columns
        if isinstance(node, exp.Select):
            return self._select(node, ctes, outer)
        return None

    def _with_ctes(
        self, node: exp.Expr, ctes: Mapping[str, Columns | None], outer: _Scope | None
    ) -> Mapping[str, Columns | None]:
        with_ = node.args.get("with_")
        if with_ is None:
            return ctes
        known = dict(ctes)
        recursive = bool(with_.args.get("recursive"))
        for cte in with_.expressions:
            name = self._names.alias_of(cte)
            named = [self._names.of(column) for column in cte.args["alias"].columns]
            if recursive or named:
                known[name] = dict.fromkeys(named) if named else None
            columns = self.query(cte.this, known, outer)
            if named:
                bases = list(columns.values()) if columns is not None else []
                if len(bases) != len(named):
                    bases = [None] * len(named)
                columns = dict(zip(named, bases, strict=True))
            known[name] = columns
        return known

    def _select(
        self, node: exp.Select, ctes: Mapping[str, Columns | None], outer: _Scope | None
    ) -> Columns | None:
        scope = _Scope(outer=outer)
        from_ = node.args.get("from_")
        joins: list[exp.Join] = list(node.args.get("joins") or ())
        if from_ is not None:
            self._source(from_.this, scope, ctes)
        for join in joins:
            self._join(join, scope, ctes)
        output = self._output(node, scope)
        aliases = {
            self._names.alias_of(item) for item in node.expressions if isinstance(item, exp.Alias)
        }
        clauses = [
            *node.expressions,
            *(join.args["on"] for join in joins if join.args.get("on") is not None),
            *(
                value
                for name in ("where", "group", "having", "order", "limit", "offset", "qualify")
                if (value := node.args.get(name)) is not None
            ),
            *(node.args.get("windows") or ()),
        ]
        for clause in clauses:
            self._clause(clause, scope, ctes, aliases)
        for condition in [node.args.get("where"), *(join.args.get("on") for join in joins)]:
            if condition is not None:
                self._joins_in(condition, scope)
        return output

    def _source(self, node: exp.Expr, scope: _Scope, ctes: Mapping[str, Columns | None]) -> None:
        columns: Columns | None = None
        if isinstance(node, exp.Table):
            columns = self._table(node, ctes)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            # A derived table sees the outer queries, but not the other sources of its own query.
            columns = self.query(node, ctes, scope.outer)
        elif isinstance(node, exp.Subquery | exp.Paren):
            self._source(node.this, scope, ctes)
            for join in node.args.get("joins") or ():
                self._join(join, scope, ctes)
            if not node.alias:
                return
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias) and alias.columns:
            columns = None  # its columns have other names here
        name = self._names.alias_of(node) or self._names.of(node.this)
        if name and name not in scope.sources:
            scope.sources[name] = columns
        else:
            scope.anonymous.append(columns)
        for join in node.args.get("joins") or () if isinstance(node, exp.Table) else ():
            self._join(join, scope, ctes)

    def _table(self, node: exp.Table, ctes: Mapping[str, Columns | None]) -> Columns | None:
        if not isinstance(node.this, exp.Identifier) or node.args.get("pivots"):
            return None
        name = self._names.of(node.this)
        if name in ctes and not node.db:
            return ctes[name]
        key = self._names.table(node)
        if key:
            return self._names.columns(key)
        self.failed += key is not None
        return None

    def _join(self, join: exp.Join, scope: _Scope, ctes: Mapping[str, Columns | None]) -> None:
        before = scope.all_columns
        self._source(join.this, scope, ctes)
        after = scope.all_columns[-1] if scope.all_columns else None
        if join.args.get("method") == "NATURAL":
            scope.merged.update(after or ())
        for column in join.args.get("using") or ():
            name = self._names.of(column)
            scope.merged.add(name)
            if after is None or any(source is None for source in before):
                continue
            holders = [source for source in before if source is not None and name in source]
            if name not in after or not holders:
                self.failed += 1
                continue
            self._judge(holders[0][name], after[name])

    def _output(self, node: exp.Select, scope: _Scope) -> Columns | None:
        output: dict[str, BaseColumn | None] = {}
        for item in node.expressions:
            if isinstance(item, exp.Star) or (
                isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
            ):
                owner = self._names.of(item.args.get("table"))
                starred = [scope.sources.get(owner)] if owner else scope.all_columns
                for source in starred:
                    if source is None:
                        return None
                    for name, base in source.items():
                        output.setdefault(name, base)
                continue
            inner = item.this if isinstance(item, exp.Alias) else item
            name = self._names.alias_of(item)
            if not name:
                name = self._names.of(inner.this) or folded(item.name)
                if not self._names.sqlite and not isinstance(inner, exp.Column):
                    return None  # the database names it, in its own way
            found = self._base(inner, scope) if isinstance(inner, exp.Column) else None
            # SQLite names an unnamed expression by its text, which the tree doesn't keep.
            output[name or f"?{len(output)}"] = found[1] if found else None
        return output

    def _clause(
        self,
        clause: exp.Expr,
        scope: _Scope,
        ctes: Mapping[str, Columns | None],
        aliases: set[str],
    ) -> None:
        for node in _own_nodes(clause):
            if isinstance(node, exp.Column):
                self.failed += not self._resolves(node, scope, aliases)
            elif isinstance(node, exp.Query) and node is not clause:
                self.query(node, ctes, scope)
            elif isinstance(node, exp.In) and isinstance(node.args.get("field"), exp.Column):
                # `x IN name` names a table in SQLite, and a list in DuckDB.
                name = folded(node.args["field"].name)
                known = name in ctes or name in self._keys.schema.tables
                if self._names.sqlite:
                    self.failed += not (known or self._names.in_catalogue(name))

    def _resolves(self, column: exp.Column, scope: _Scope, aliases: set[str]) -> bool:
        names = self._names
        name, owner = names.of(column.this), names.of(column.args.get("table"))
        at: _Scope | None = scope
        if owner:
            while at is not None:
                if owner in at.sources:
                    source = at.sources[owner]
                    star = isinstance(column.this, exp.Star)
                    return source is None or star or name in source or name in names.row_ids
                at = at.outer
            # DuckDB reads a field of a column in the same way
            return bool(column.args.get("db")) or (not names.sqlite and _has(scope, owner))
        if isinstance(column.this, exp.Star) or name in aliases or name in names.words:
            return True
        if names.sqlite and column.this.quoted:
            return True
        if _has(scope, name):
            return True
        while at is not None:
            # other databases than SQLite also take the name of a source for its rows
            if at.all_columns and name in names.row_ids:
                return True
            if not names.sqlite and name in at.sources:
                return True
            at = at.outer
        return False

    def _base(self, column: exp.Column, scope: _Scope) -> tuple[Columns, BaseColumn | None] | None:
        """Return the source of a column, and the table's column behind it."""
        name = self._names.of(column.this)
        owner = self._names.of(column.args.get("table"))
        at: _Scope | None = scope
        while at is not None:
            if owner:
                source = at.sources.get(owner)
                if owner in at.sources:
                    return (source, source[name]) if source and name in source else None
            else:
                if any(source is None for source in at.all_columns):
                    return None
                holders = [source for source in at.all_columns if source and name in source]
                if holders:
                    alone = len(holders) == 1 or name in at.merged
                    return (holders[0], holders[0][name]) if alone else None
            at = at.outer
        return None

    def _joins_in(self, condition: exp.Expr, scope: _Scope) -> None:
        for node in _own_nodes(condition):
            if not isinstance(node, exp.EQ):
                continue
            left, right = node.this.unnest(), node.expression.unnest()
            if isinstance(left, exp.Column) and isinstance(right, exp.Column):
                found = self._base(left, scope), self._base(right, scope)
                if found[0] and found[1] and found[0][0] is not found[1][0]:
                    self._judge(found[0][1], found[1][1])

    def _judge(self, left: BaseColumn | None, right: BaseColumn | None) -> None:
        if left is not None and right is not None and not self._keys.justify_join(left, right):
            self.bad_joins += 1


def _has(scope: _Scope | None, name: str) -> bool:
    """Return whether a source here or further out has a column, or may have it."""
    while scope is not None:
        if any(source is None or name in source for source in scope.all_columns):
            return True
        scope = scope.outer
    return False


def _own_nodes(clause: exp.Expr) -> Iterator[exp.Expr]:
    """Walk a clause. Nested queries are yielded, but not entered."""
    yield from clause.walk(prune=lambda node: isinstance(node, exp.Query))
