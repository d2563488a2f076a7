"""References of a query that don't resolve, and joins without a foreign key.

Names resolve as SQLite resolves them: through aliases, common table expressions, derived tables
and, from a nested query, the queries around it. Doubtful references aren't counted, such as those
to a table with unknown columns, or a double-quoted word that SQLite would read as a string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from sentinel_sql.schema import Schema, folded

ROW_IDS = frozenset({"rowid", "oid", "_rowid_"})
CATALOGUE = frozenset(
    {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema", "dual"}
)

BaseColumn = tuple[str, str]
Columns = Mapping[str, "BaseColumn | None"]


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Counts over one query: unresolved references, and joins without a foreign key."""

    failed: int = 0
    bad_joins: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Keys:
    """The columns that a schema's foreign keys connect.

    Two objects are equal only if they are the same object, so that they can be keys of a cache.
    """

    schema: Schema

    @cached_property
    def _targets(self) -> Mapping[BaseColumn, frozenset[BaseColumn]]:
        direct: dict[BaseColumn, set[BaseColumn]] = {}
        for key in self.schema.foreign_keys:
            source, target = (key.table, key.column), (key.to_table, key.to_column)
            direct.setdefault(source, {source}).add(target)
            direct.setdefault(target, {target})
        changed = True
        while changed:
            changed = False
            for reached in direct.values():
                further = set().union(*(direct[column] for column in reached)) - reached
                reached |= further
                changed = changed or bool(further)
        return {column: frozenset(reached) for column, reached in direct.items()}

    def ties(self, table: str, column: str) -> bool:
        """Return whether a declared foreign key leads from the column, or to it."""
        return (table, column) in self._targets

    @cached_property
    def identifying(self) -> Mapping[str, frozenset[str]]:
        """The columns of each table to which other tables refer."""
        found: dict[str, set[str]] = {}
        for key in self.schema.foreign_keys:
            found.setdefault(key.to_table, set()).add(key.to_column)
        return {table: frozenset(columns) for table, columns in found.items()}

    @cached_property
    def names(self) -> frozenset[str]:
        """The schema's table and column names."""
        columns = (column for table in self.schema.tables.values() for column in table)
        return frozenset([*self.schema.tables, *columns])

    def justify_join(self, left: BaseColumn, right: BaseColumn) -> bool:
        """Return whether foreign keys justify a join of the two columns.

        They do if a key leads from one column to the other, or if both lead to the same column
        (ours): two tables that each reference `admissions.hadm_id` may be joined on it. A
        self-join on a key column is justified, too.
        """
        nothing: frozenset[BaseColumn] = frozenset()
        return bool(self._targets.get(left, nothing) & self._targets.get(right, nothing))


def analyse(query: exp.Expr, keys: Keys) -> References:
    """Count the unresolved references and the joins without a foreign key of a parsed query."""
    walk = _Walk(keys)
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

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
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
            name = folded(cte.alias)
            named = [folded(column.name) for column in cte.args["alias"].columns]
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
        aliases = {folded(item.alias) for item in node.expressions if isinstance(item, exp.Alias)}
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
        name = folded(node.alias_or_name)
        if name and name not in scope.sources:
            scope.sources[name] = columns
        else:
            scope.anonymous.append(columns)
        for join in node.args.get("joins") or () if isinstance(node, exp.Table) else ():
            self._join(join, scope, ctes)

    def _table(self, node: exp.Table, ctes: Mapping[str, Columns | None]) -> Columns | None:
        if not isinstance(node.this, exp.Identifier):
            return None
        name = folded(node.name)
        if name in ctes and not node.db:
            return ctes[name]
        if name in CATALOGUE or (node.db and folded(node.db) != "main"):
            return None
        known = self._keys.schema.tables.get(name)
        if known is None:
            self.failed += 1
            return None
        return {column: (name, column) for column in known}

    def _join(self, join: exp.Join, scope: _Scope, ctes: Mapping[str, Columns | None]) -> None:
        before = scope.all_columns
        self._source(join.this, scope, ctes)
        after = scope.all_columns[-1] if scope.all_columns else None
        if join.args.get("method") == "NATURAL":
            scope.merged.update(after or ())
        for column in join.args.get("using") or ():
            name = folded(column.name)
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
                owner = folded(item.table) if isinstance(item, exp.Column) else ""
                starred = [scope.sources.get(owner)] if owner else scope.all_columns
                for source in starred:
                    if source is None:
                        return None
                    for name, base in source.items():
                        output.setdefault(name, base)
                continue
            name = folded(item.alias_or_name)
            inner = item.this if isinstance(item, exp.Alias) else item
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
                # `x IN name` names a table.
                name = folded(node.args["field"].name)
                known = name in ctes or name in self._keys.schema.tables or name in CATALOGUE
                self.failed += not known

    def _resolves(self, column: exp.Column, scope: _Scope, aliases: set[str]) -> bool:
        name, owner = folded(column.name), folded(column.table)
        at: _Scope | None = scope
        if owner:
            while at is not None:
                if owner in at.sources:
                    source = at.sources[owner]
                    star = isinstance(column.this, exp.Star)
                    return source is None or star or name in source or name in ROW_IDS
                at = at.outer
            return bool(column.args.get("db"))
        if isinstance(column.this, exp.Star) or name in aliases or column.this.quoted:
            return True
        while at is not None:
            sources = at.all_columns
            if any(source is None or name in source for source in sources):
                return True
            if sources and name in ROW_IDS:
                return True
            at = at.outer
        return False

    def _base(self, column: exp.Column, scope: _Scope) -> tuple[Columns, BaseColumn | None] | None:
        """Return the source of a column, and the table's column behind it."""
        name, owner = folded(column.name), folded(column.table)
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


def _own_nodes(clause: exp.Expr) -> Iterator[exp.Expr]:
    """Walk a clause. Nested queries are yielded, but not entered."""
    yield from clause.walk(prune=lambda node: isinstance(node, exp.Query))
