"""Gold SQL in other dialects: written once for SQLite, and translated by sqlglot.

sqlglot translates most of it. The steps in `_STEPS` change what means something else elsewhere, so
that a query gives the same answer in every database.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.errors import InputError
from sentinel_sql.hospital.schema import TIME_COLUMNS
from sentinel_sql.sql_tree import parse_one

DIALECTS: Final = ("duckdb", "postgres")
"""The dialects into which SQL is translated."""

_DAY_MILLISECONDS = "86400000.0"
_JULIAN_OF_EPOCH = "210866760000000"
"""Milliseconds from the beginning of the Julian day numbers to 1970."""


def in_dialect(sql: str, dialect: str) -> str:
    """Return a SQLite query as another dialect writes it, with the same answer.

    Args:
        sql: one query in SQLite's SQL.
        dialect: `sqlite`, which leaves the query as it is, or one of `DIALECTS`.

    Raises:
        InputError: the dialect is unknown, or the query can't be read.
    """
    if dialect == "sqlite":
        return sql
    if dialect not in DIALECTS:
        raise InputError(
            f"SQL can't be translated into {dialect!r}: choose one of {', '.join(DIALECTS)}"
        )
    try:
        tree = parse_one(sql)
        for step in _STEPS:
            tree = step(tree)
        return tree.sql(dialect=dialect)
    except (SqlglotError, ValueError, RecursionError) as error:
        raise InputError(
            "a query can't be translated, because it can't be read as SQLite's SQL: correct it"
        ) from error


def _julian_days(tree: exp.Expr) -> exp.Expr:
    """Write julianday() as SQLite computes it: whole milliseconds by those of a day."""

    def days(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Anonymous) or node.name.lower() != "julianday":
            return node
        epoch = exp.Extract(this=exp.var("EPOCH"), expression=node.expressions[0])
        milliseconds = exp.Add(
            this=exp.Mul(this=epoch, expression=exp.Literal.number("1000")),
            expression=exp.Literal.number(_JULIAN_OF_EPOCH),
        )
        return exp.Paren(
            this=exp.Div(
                this=_double(exp.Paren(this=milliseconds)),
                expression=_double(exp.Literal.number(_DAY_MILLISECONDS)),
            )
        )

    return tree.transform(days)


def _declared_times(tree: exp.Expr) -> exp.Expr:
    """Take a column of times as it is; the copies declare it as one."""

    def bare(node: exp.Expr) -> exp.Expr:
        is_column = isinstance(node, exp.TsOrDsToTimestamp) and isinstance(node.this, exp.Column)
        return node.this if is_column else node

    return tree.transform(bare)


def _counted_conditions(tree: exp.Expr) -> exp.Expr:
    """Sum conditions as numbers, since only SQLite takes a condition for one."""
    for node in tree.find_all(exp.Sum):
        if isinstance(node.this, exp.Predicate | exp.Connector | exp.Not):
            node.set("this", exp.Cast(this=node.this.copy(), to=exp.DataType.build("int")))
    return tree


def _any_case(tree: exp.Expr) -> exp.Expr:
    """Let LIKE ignore case and read a time as a text, as in SQLite."""

    def matched(node: exp.Expr) -> exp.Expr:
        if type(node) is not exp.Like:
            return node
        found = node.this
        if isinstance(found, exp.Column) and found.name.lower() in TIME_COLUMNS:
            found = exp.Cast(this=found, to=exp.DataType.build("text"))
        return exp.ILike(this=found, expression=node.expression)

    return tree.transform(matched)


def _now(tree: exp.Expr) -> exp.Expr:
    """Write the text 'now' of a function of time as the current time."""

    def current(node: exp.Expr) -> exp.Expr:
        is_now = isinstance(node, exp.Literal) and node.is_string and node.name.lower() == "now"
        timed = isinstance(node.parent, exp.Func | exp.Cast)
        return exp.CurrentTimestamp() if is_now and timed else node

    return tree.transform(current)


def _double_floats(tree: exp.Expr) -> exp.Expr:
    """Cast to numbers of eight bytes: elsewhere REAL has four."""
    for node in tree.find_all(exp.Cast):
        if node.to.is_type("float"):
            node.set("to", exp.DataType.build("double"))
    return tree


def _named_sources(tree: exp.Expr) -> exp.Expr:
    """Give each nested query in FROM a name, which PostgreSQL before 16 asks for."""
    unnamed = [
        node
        for node in tree.find_all(exp.Subquery)
        if isinstance(node.parent, exp.From | exp.Join) and not node.alias
    ]
    for number, node in enumerate(unnamed, 1):
        node.set("alias", exp.TableAlias(this=exp.to_identifier(f"part_{number}")))
    return tree


def _columns_beside_aggregates(tree: exp.Expr) -> exp.Expr:
    """Take MIN(column) where a column stands beside an aggregate without GROUP BY.

    SQLite takes the column's value from one row, and others refuse the query. The two are the same
    where all rows share the value, as in the templates that do this: they ask about one admission.
    """
    for select in tree.find_all(exp.Select):
        if select.args.get("group") is not None:
            continue
        inside = [
            node
            for item in select.expressions
            for node in item.walk(prune=lambda node: isinstance(node, exp.Query))
        ]
        if not any(isinstance(node, exp.AggFunc) for node in inside):
            continue
        for node in inside:
            if isinstance(node, exp.Column) and not node.find_ancestor(exp.AggFunc):
                node.replace(exp.Min(this=node.copy()))
    return tree


def _ordered_ties(tree: exp.Expr) -> exp.Expr:
    """Return groups of equal rank in the order of their keys, as SQLite does.

    SQLite sorts the groups in the directions of ORDER BY if both have as many terms, else upwards.
    """
    for select in tree.find_all(exp.Select):
        group, order = select.args.get("group"), select.args.get("order")
        if group is None or order is None:
            continue
        ranked = list(order.expressions)
        alike = len(ranked) == len(group.expressions)
        for place, key in enumerate(group.expressions):
            if any(key == term.this for term in ranked):
                continue
            down = alike and bool(ranked[place].args.get("desc"))
            order.append(
                "expressions", exp.Ordered(this=key.copy(), desc=down, nulls_first=not down)
            )
    return tree


def _double(node: exp.Expr) -> exp.Cast:
    return exp.Cast(this=node, to=exp.DataType.build("double"))


_STEPS: Final[tuple[Callable[[exp.Expr], exp.Expr], ...]] = (
    _ordered_ties,
    _columns_beside_aggregates,
    _julian_days,
    _declared_times,
    _counted_conditions,
    _any_case,
    _now,
    _double_floats,
    _named_sources,
)
