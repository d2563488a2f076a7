"""What a query does, read from its syntax tree: what it returns, filters, joins and orders by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from sqlglot import exp

from sentinel_sql.monitor.families.column_kinds import ColumnKind, ColumnSources
from sentinel_sql.monitor.families.query_record import Filter, QueryFacts
from sentinel_sql.monitor.features.query_parser import parse_query
from sentinel_sql.monitor.surroundings import NOWHERE, Surroundings
from sentinel_sql.sql_tree import known_dialect

_AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.Glob)
_PREDICATES = (*_COMPARISONS, exp.Between, exp.In, exp.Is, exp.Exists, exp.And, exp.Or, exp.Not)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)
_KINDS_ELSEWHERE: tuple[tuple[tuple[type[exp.Expr], ...], ColumnKind], ...] = (
    ((exp.TimestampTrunc, exp.DateTrunc, exp.Localtimestamp, exp.Localtime), "time"),
    ((exp.Extract, exp.DateDiff, exp.Year, exp.Month, exp.Day), "number"),
)
"""Kinds of expressions that SQLite doesn't have."""
_TIME_TYPES = tuple(exp.DataType.TEMPORAL_TYPES)
_TIME_FUNCTIONS = frozenset(["date", "datetime", "time", "strftime"])
_YEAR = re.compile(r"(?<!\d)(?:19|20|21|22)\d\d(?!\d)")


@lru_cache(maxsize=1_024)  # a store is read several times, by fit, replays and views
def query_facts(sql: str, surroundings: Surroundings = NOWHERE) -> QueryFacts | None:
    """Return what a query does; None if it can't be parsed as a query."""
    query = parse_query(sql, surroundings.dialect)
    if query is None:
        return None
    try:
        return _Reader(query, surroundings).facts()
    except RecursionError:
        return None


class _Reader:
    """One pass over a query's tree."""

    def __init__(self, query: exp.Query, surroundings: Surroundings) -> None:
        self._query = query
        self._sqlite = known_dialect(surroundings.dialect) == "sqlite"
        self._nodes: dict[type[exp.Expr], list[Any]] = {}
        for node in query.walk():
            self._nodes.setdefault(type(node), []).append(node)
        self._columns = ColumnSources(self._all(exp.Table), surroundings.keys)

    def facts(self) -> QueryFacts:
        outer = _outermost(self._query)
        literals = [str(node.this).lower() for node in self._all(exp.Literal)]
        filters = tuple(self._filters())
        shown = outer.expressions if outer else []
        inside = [node for item in shown for node in _own_nodes(item)]
        aggregates = [node for node in inside if isinstance(node, _AGGREGATES)]
        limit = outer.args.get("limit") if outer else None
        order = outer.args.get("order") if outer else None
        nulls = [node for node in self._all(exp.Is) if isinstance(node.expression, exp.Null)]
        used, tied = self._used_and_tied()
        identifiers = {node.name.lower() for node in self._all(exp.Identifier)}
        return QueryFacts(
            returned=tuple(self._kind_of(item) for item in shown if not item.is_star),
            columns=tuple(
                dict.fromkeys(node.name.lower() for node in inside if isinstance(node, exp.Column))
            ),
            aggregates=frozenset(node.key for node in aggregates),
            counted=tuple(
                column.name.lower()
                for node in aggregates
                if isinstance(node, exp.Count)
                for column in node.find_all(exp.Column)
                if not isinstance(column.this, exp.Star)
            ),
            distinct=bool(outer and outer.args.get("distinct"))
            or any(isinstance(node, exp.Distinct) for node in inside),
            bare_beside_aggregate=bool(
                aggregates
                and outer
                and not outer.args.get("group")
                and any(
                    isinstance(node, exp.Column) and not node.find_ancestor(*_AGGREGATES)
                    for node in inside
                )
            ),
            tables=tuple(self._columns.tables),
            idle_tables=len(tied - used),
            used_tables=frozenset(used),
            aggregated=frozenset(
                self._columns.table_of(column)
                for node in aggregates
                if isinstance(node, exp.Sum | exp.Avg | exp.Count)
                and not isinstance(node.this, exp.Distinct)
                for column in node.find_all(exp.Column)
                if not isinstance(column.this, exp.Star)
            )
            - {""},
            filters=filters,
            orders=len(self._all(exp.Min, exp.Max))
            + sum(
                bool(node.args.get("order") and node.args.get("limit"))
                for node in self._all(exp.Select)
            ),
            ranks=bool(self._all(exp.Window, exp.Median, exp.PercentileCont, exp.PercentileDisc)),
            negates=bool(nulls or self._all(exp.Not, exp.Except, exp.NEQ)),
            descending=bool(order.expressions[0].args.get("desc"))
            if order is not None and order.expressions
            else None,
            limit=_whole_number(limit.expression) if isinstance(limit, exp.Limit) else None,
            grouped=bool(self._all(exp.Group)),
            subqueries=len(self._all(exp.Select)) - 1,
            mixed_or=any(
                isinstance(side, exp.And)
                for node in self._all(exp.Or)
                for side in (node.this, node.expression)
            ),
            divides=any(isinstance(node, exp.Div) for node in inside),
            subtracts=any(isinstance(node, exp.Sub) for node in inside),
            # SQLite keeps times as texts, whose difference is that of the years
            subtracts_times=self._sqlite
            and any(
                all(
                    isinstance(side, exp.Column) and self._columns.kind_of(side) == "time"
                    for side in (node.this.unnest(), node.expression.unnest())
                )
                for node in self._all(exp.Sub)
            ),
            contradicts=self._contradicts(nulls, filters),
            now="now" in literals
            or bool(self._all(exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime))
            or (not self._sqlite and bool(self._all(exp.Localtimestamp, exp.Localtime))),
            numbers=frozenset(
                float(number)
                for text in literals
                for number in re.findall(r"\d{1,15}(?:\.\d{1,9})?", text)
            ),
            years=frozenset(int(year) for text in literals for year in _YEAR.findall(text)),
            names=self._names(),
            literals=tuple(literals),
            words=" ".join([*sorted(identifiers), *literals]),
        )

    def _all(self, *kinds: type[exp.Expr]) -> list[Any]:
        """Return the nodes of exactly these kinds."""
        return [node for kind in kinds for node in self._nodes.get(kind, ())]

    def _names(self) -> frozenset[str]:
        named = {node.alias.lower() for node in self._all(exp.CTE)}
        given = named | {node.alias.lower() for node in self._all(exp.Alias)}
        columns = {node.name.lower() for node in self._all(exp.Column)}
        return frozenset([*(set(self._columns.tables) - named), *(columns - given)])

    def _kind_of(self, node: exp.Expr) -> ColumnKind:
        """Return the kind of one expression."""
        node = node.unalias().unnest()
        if isinstance(node, exp.Count):
            return "count"
        if isinstance(node, _PREDICATES):
            return "truth"
        if isinstance(node, exp.Column):
            return self._columns.kind_of(node)
        if isinstance(node, exp.Literal):
            return "text" if node.is_string else "truth"
        if isinstance(node, exp.Case):
            kinds = {self._kind_of(branch.args["true"]) for branch in node.args.get("ifs", ())}
            return kinds.pop() if len(kinds) == 1 else "unknown"
        if isinstance(node, exp.Min | exp.Max | exp.Coalesce | exp.Distinct):
            inner = node.this if node.this is not None else next(iter(node.expressions), None)
            return "unknown" if inner is None else self._kind_of(inner)
        if isinstance(node, exp.Subquery | exp.Select):
            outer = _outermost(node)
            return self._kind_of(outer.expressions[0]) if outer and outer.expressions else "unknown"
        if isinstance(node, exp.TimeToStr | exp.CurrentTimestamp | exp.CurrentDate) or (
            isinstance(node, exp.Anonymous) and node.name.lower() in _TIME_FUNCTIONS
        ):
            return "time"
        if not self._sqlite and isinstance(node, exp.Cast) and node.to.is_type(*_TIME_TYPES):
            return "time"
        if isinstance(
            node, (exp.Sum, exp.Avg, exp.Round, exp.Cast, exp.Abs, exp.Neg, *_ARITHMETIC)
        ):
            return "number"
        if not self._sqlite:
            return next(
                (kind for nodes, kind in _KINDS_ELSEWHERE if isinstance(node, nodes)), "unknown"
            )
        return "unknown"

    def _filters(self) -> Iterator[Filter]:
        for node in self._all(*_COMPARISONS, exp.Between, exp.In):
            if isinstance(node, _COMPARISONS):
                sides = (node.this, node.expression)
                operator = _OPERATORS.get(type(node), "like")
            elif isinstance(node, exp.Between):
                sides, operator = (node.this, node), "between"
            elif isinstance(node, exp.In) and node.expressions:
                sides, operator = (node.this, node), "in"
            else:
                continue
            found = [_only_column(side) for side in sides[: 1 if sides[1] is node else 2]]
            if sides[1] is node:
                column = found[0]
                literals = [
                    item
                    for part in (node.args.get("low"), node.args.get("high"), *node.expressions)
                    if part is not None
                    for item in part.find_all(exp.Literal)
                ]
            else:
                left, right = found
                if (left is None) == (right is None):
                    continue
                column = left or right
                other = sides[1] if left is not None else sides[0]
                if other.find(exp.Column) is not None or other.find(exp.Select) is not None:
                    continue
                literals = list(other.find_all(exp.Literal))
                if left is None:
                    operator = {"<": ">", ">": "<"}.get(operator, operator)
            if column is None or not literals:
                continue
            yield Filter(
                table=self._columns.table_of(column),
                column=column.name.lower(),
                kind=self._columns.kind_of(column),
                operator=operator,
                values=tuple(" ".join(str(item.this).lower().split()) for item in literals),
                numeric=not any(item.is_string for item in literals),
            )

    def _used_and_tied(self) -> tuple[set[str], set[str]]:
        """Return the tables that something else than a join uses, and those that a join ties."""
        used: set[str] = set()
        tied: set[str] = set()
        for node in self._all(exp.Column):
            table = node.table.lower() or self._columns.table_of(node)
            equality = node.parent
            ties = (
                isinstance(equality, exp.EQ)
                and isinstance(equality.this, exp.Column)
                and isinstance(equality.expression, exp.Column)
            )
            (tied if ties else used).add(self._columns.aliases.get(table, table))
        return used - {""}, tied if self._all(exp.Join) else set()

    def _contradicts(self, nulls: list[exp.Is], filters: tuple[Filter, ...]) -> bool:
        absent = {
            node.this.name.lower()
            for node in nulls
            if isinstance(node.this, exp.Column) and not isinstance(node.parent, exp.Not)
        }
        return any(item.column in absent for item in filters)


_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">",
    exp.LT: "<",
    exp.LTE: "<",
}


def _outermost(query: exp.Expr) -> exp.Select | None:
    while isinstance(query, exp.Subquery | exp.SetOperation):
        query = query.this
    return query if isinstance(query, exp.Select) else None


def _own_nodes(item: exp.Expr) -> Iterator[exp.Expr]:
    yield from item.walk(prune=lambda node: isinstance(node, exp.Query))


def _only_column(node: exp.Expr) -> exp.Column | None:
    """Return the column of an expression that contains exactly one, else None."""
    if isinstance(node, exp.Column):
        return node
    if isinstance(node, exp.Query | exp.Subquery):
        return None
    columns = list(node.find_all(exp.Column))
    return columns[0] if len(columns) == 1 else None


def _whole_number(node: exp.Expr | None) -> int | None:
    if isinstance(node, exp.Literal) and str(node.this).isdigit():
        return min(int(node.this), 10**9)
    return None
