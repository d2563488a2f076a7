"""Finds ties in gold queries: rows of equal rank, whose order or cut is arbitrary (ours).

`ORDER BY value DESC LIMIT 3` over two rows that share the third place has two right answers, and a
database may return either. The query is executed again with its sort keys. An answer is then
compared with the right answer that is closest to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.database.executor import Cell, ExecutionResult
from sentinel_sql.labels.answer_form import select_form
from sentinel_sql.labels.cells import comparable
from sentinel_sql.sql_tree import known_dialect, parse_one

_Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranks:
    """All rows that an ordered gold query chooses from, by rank; rows of one rank are tied.

    The query returns the rows from `first` up to, but not including, `last`.
    """

    tiers: tuple[tuple[_Row, ...], ...]
    first: int
    last: int

    @property
    def cut_through_a_tie(self) -> bool:
        """Whether the query returns only some of several different rows of one rank."""
        return any(
            0 < len(self._returned_places(start, tier)) < len(tier) and len(set(tier)) > 1
            for start, tier in self._tiers_with_starts()
        )

    @property
    def order_within_a_tie(self) -> bool:
        """Whether several different rows of one rank are returned, in arbitrary order."""
        return any(
            len(self._returned_places(start, tier)) > 1 and len(set(tier)) > 1
            for start, tier in self._tiers_with_starts()
        )

    def nearest(self, gold: ExecutionResult, answer: ExecutionResult) -> ExecutionResult:
        """Return the right answer that is closest to `answer`; `gold` itself if none is closer.

        Of each rank, the rows at the same places of the answer are taken first, in their order.
        """
        everything = [row for tier in self.tiers for row in tier]
        known, given = comparable(everything, answer.rows, digits=None)
        form = dict(zip(everything, (Counter(row) for row in known), strict=True))
        answered = [Counter(row) for row in given]
        rows: list[_Row] = []
        for start, tier in self._tiers_with_starts():
            places = self._returned_places(start, tier)
            left = list(tier)
            here = answered[len(rows) : len(rows) + len(places)]
            # then rows from anywhere in the answer, in case order doesn't count
            for other in (*here, *answered):
                if len(left) <= len(tier) - len(places):
                    break
                found = next((row for row in left if form[row] <= other), None)
                if found is not None:
                    left.remove(found)
                    rows.append(found)
            missing = len(places) - (len(tier) - len(left))
            rows += left[:missing]
        return replace(gold, rows=tuple(rows))

    def _tiers_with_starts(self) -> list[tuple[int, tuple[_Row, ...]]]:
        found, start = [], 0
        for tier in self.tiers:
            found.append((start, tier))
            start += len(tier)
        return found

    def _returned_places(self, start: int, tier: Sequence[_Row]) -> range:
        return range(max(start, self.first), min(start + len(tier), self.last))


def ranks(
    gold_sql: str,
    gold: ExecutionResult,
    execute: Callable[[str], ExecutionResult],
    *,
    dialect: str = "sqlite",
) -> Ranks | None:
    """Return the ranks of a gold query's rows; None where it neither orders nor cuts them.

    Rows that are cut without an order are of one rank. None, too, where nobody can tell.

    Args:
        gold_sql: the query as it is executed.
        gold: its result.
        execute: runs a query over the same database.
        dialect: the SQL of this database, by sqlglot's name.
    """
    if gold.kind != "rows" or gold.truncated:
        return None
    keyed = _with_keys(gold_sql, known_dialect(dialect))
    if keyed is None:
        return None
    sql, keys, first, count = keyed
    result = execute(sql)
    width = len(gold.columns)
    if result.kind != "rows" or result.truncated or len(result.columns) != width + keys:
        return None
    tiers = tuple(
        tuple(row[:width] for row in tier)
        for _, tier in groupby(result.rows, key=lambda row: row[width:])
    )
    total = sum(map(len, tiers))
    last = total if count is None else min(total, first + count)
    found = Ranks(tiers=tiers, first=min(first, total), last=last)
    # if the number of rows differs, the query was misread
    return found if last - found.first == len(gold.rows) else None


def inner_cuts(sql: str, *, dialect: str = "sqlite") -> list[str]:
    """Return the subqueries of a query that order or cut rows for it, as queries of their own.

    One that refers to the query around it stands for itself no more, and fails where it is run.
    """
    dialect = known_dialect(dialect)
    try:
        tree = parse_one(sql, dialect=dialect)
    except (SqlglotError, RecursionError, ValueError):
        return []
    common = tree.args.get("with_")
    found = []
    for inner in tree.find_all(exp.Select):
        if inner is tree or inner.args.get("limit") is None or inner.find_ancestor(exp.Exists):
            continue
        alone = inner.copy()
        if common is not None and not inner.find_ancestor(exp.With):
            alone.set("with_", common.copy())
        found.append(alone.sql(dialect=dialect))
    return found


def _with_keys(sql: str, dialect: str) -> tuple[str, int, int, int | None] | None:
    """Return the query with its sort keys as further columns and without its cut.

    Behind it stand the number of keys, and of the cut the first row's place and the rows' number.
    """
    try:
        tree = parse_one(sql, dialect=dialect)
    except (SqlglotError, RecursionError, ValueError):
        return None
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select):
        return None
    if order is None and (tree.args.get("limit") is None or select_form(sql, dialect).ordered):
        return None
    cut = [_whole(tree.args.get(part)) for part in ("limit", "offset")]
    if None in cut:
        return None
    limit, offset = cut
    named = {item.alias: item.this for item in tree.expressions if isinstance(item, exp.Alias)}
    keys: list[exp.Expr] = []
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        if isinstance(key, exp.Literal) and key.is_int:
            place = int(key.name)
            if any(isinstance(item, exp.Star) for item in tree.expressions[:place]):
                return None
            if not 1 <= place <= len(tree.expressions):
                return None
            key = tree.expressions[place - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table and key.name in named:
            key = named[key.name]
        keys.append(key.copy())
    if tree.args.get("distinct") is not None:
        # a key that isn't selected would make rows differ that don't
        selected = [item.unalias() for item in tree.expressions]
        if any(key not in selected for key in keys):
            return None
    keyed = tree.copy()
    keyed.set("limit", None)
    keyed.set("offset", None)
    for number, key in enumerate(keys):
        keyed.append("expressions", exp.alias_(key, f"sentinel_rank_{number}"))
    count = None if limit == -1 else limit
    return keyed.sql(dialect=dialect), len(keys), max(0, offset or 0), count


def _whole(part: object) -> int | None:
    """Return the number of a LIMIT or OFFSET; -1 if there is none, None if it is computed."""
    if part is None:
        return -1
    number = part.expression if isinstance(part, exp.Limit | exp.Offset) else None
    return int(number.name) if isinstance(number, exp.Literal) and number.is_int else None
