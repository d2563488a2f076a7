"""Makes queries that count the rows of a query's first table and after each of its joins."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sentinel_sql.database.probes.query_sources import QuerySources, relations

LONGEST_CHAIN = 8
"""Most sources of a counted chain (our choice), since each source costs one query."""


def chain_counts(query: exp.Expr, sources: QuerySources) -> list[str]:
    """Return one counting query for each source of the join chain; none without a chain.

    The first query counts the rows of the first source under the conditions on this source alone.
    Each further query adds one join, and the conditions on the sources joined so far. The last has
    all conditions of WHERE, so it counts the rows that the query groups, aggregates or returns. The
    chain is that of the outermost SELECT, or of the SELECT that it only wraps.
    """
    select = _select_with_chain(query)
    if select is None:
        return []
    reads = list(relations(select))
    if not 1 <= len(reads) <= LONGEST_CHAIN:
        return []
    joins = select.args.get("joins") or []
    conditions = [(part, _place_needed(part, select, sources)) for part in _conditions(select)]
    last = len(reads) - 1
    return [
        _count(
            query,
            select,
            joins=joins[:stage],
            conditions=[part for part, needed in conditions if needed <= stage or stage == last],
        )
        for stage in range(len(reads))
    ]


def _select_with_chain(query: exp.Expr) -> exp.Select | None:
    select: object = query
    while isinstance(select, exp.Select):
        reads = list(relations(select))
        if not reads:
            return None
        wraps = len(reads) == 1 and isinstance(reads[0], exp.Subquery)
        if not wraps or select.args.get("where") is not None:
            return select
        inner = reads[0].unnest()
        # A subquery with its own WITH, LIMIT, DISTINCT or GROUP BY counts as one source.
        if not isinstance(inner, exp.Select) or any(
            inner.args.get(part) is not None
            for part in ("with_", "limit", "offset", "distinct", "group")
        ):
            return select
        select = inner
    return None


def _count(
    query: exp.Expr, select: exp.Select, *, joins: list[exp.Join], conditions: list[exp.Expr]
) -> str:
    counting = exp.Select(
        expressions=[exp.Count(this=exp.Star())],
        from_=select.args["from_"].copy(),
        joins=[join.copy() for join in joins],
    )
    if conditions:
        counting.set("where", exp.Where(this=exp.and_(*(part.copy() for part in conditions))))
    common = query.args.get("with_")
    if common is not None:
        counting.set("with_", common.copy())
    return counting.sql(dialect="sqlite")


def _place_needed(part: exp.Expr, select: exp.Select, sources: QuerySources) -> int:
    """Return the first place in the chain where a condition can be evaluated; the end if unsure."""
    names = [source.name for source in sources.of(select)]
    needed = 0
    for column in part.find_all(exp.Column):
        origin = sources.origin(column)
        if origin is None:
            return len(names)
        if origin.select is select:
            needed = max(needed, names.index(origin.source.name))
    return needed


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the parts of WHERE that are joined by AND."""
    where = select.args.get("where")
    if where is not None:
        yield from where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
