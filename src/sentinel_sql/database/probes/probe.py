"""Probes of an executed query: small counts that its result doesn't show.

They are row counts along the join chain, the share of NULLs in each result column, and, for a text
that no row has, the most similar stored value. Time and work are bounded. A value that can't be
found within the bounds is None ("not known"). Probing never raises.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sentinel_sql.database.executor import Database, ExecutionResult, Limits
from sentinel_sql.database.probes.join_chain import chain_counts
from sentinel_sql.database.probes.query_sources import QuerySources
from sentinel_sql.database.probes.text_lookups import TextLookup, nearest, quote_name, text_lookups
from sentinel_sql.database.sqlite.safety import only_statement
from sentinel_sql.sql_tree import parse_all

PROBE_LIMITS = Limits(seconds=0.5, rows=5_001, cell=1_000, total=8_000_000)
"""Bounds of one probe (our choice). Open the database of a `Prober` with these."""

STEP_SECONDS = 2.0
"""Seconds after which no further probe of a step starts (our choice)."""

MOST_VALUES = 5_000
"""Most distinct values of a column that are compared (our choice); with more, not known."""

MOST_LOOKUPS = 8
MOST_COLUMNS = 30
LONGEST_PROBED = 20_000
MOST_BRACKETS = 200
_KEPT_QUERIES = 500
_KEPT_COLUMNS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class NearMiss:
    """A text that no row of its column has, and the most similar stored value.

    `value` and `similarity` (in [0, 1]) are None if the column's values couldn't be read.
    """

    literal: str
    column: str
    value: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Probing:
    """The results of the probes of one query.

    Attributes:
        chain: number of rows of the first table under its own conditions, then after each join;
            None for a number that isn't known. Empty without a chain.
        nulls: share of NULLs in each column of the result, in [0, 1]; None for a share that isn't
            known. Empty for a result without rows.
        lookups: number of texts looked up in their columns; None if the query can't be read.
        near_misses: the texts that no row has.
    """

    chain: tuple[int | None, ...] = ()
    nulls: tuple[float | None, ...] = ()
    lookups: int | None = None
    near_misses: tuple[NearMiss, ...] = ()


class Prober:
    """Probes queries over one database; safe to use from several threads.

    Args:
        database: opened with `PROBE_LIMITS`, so that a probe can't be slow.
        seconds: time after which no further probe of a query starts.
    """

    def __init__(self, database: Database, *, seconds: float = STEP_SECONDS) -> None:
        self._database = database
        self._seconds = seconds
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, Probing] = OrderedDict()
        self._values: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    @property
    def database(self) -> Database:
        """The probed database."""
        return self._database

    def probe(self, sql: str) -> Probing:
        """Probe one query that returned a result."""
        with self._lock:
            if sql in self._cache:
                self._cache.move_to_end(sql)
                return self._cache[sql]
        try:
            found = self._probe(sql)
        except Exception:  # a failing probe must never fail a step
            found = Probing()
        with self._lock:
            self._cache[sql] = found
            if len(self._cache) > _KEPT_QUERIES:
                self._cache.popitem(last=False)
        return found

    def _probe(self, sql: str) -> Probing:
        until = time.monotonic() + self._seconds
        nulls = self._nulls(sql, until)
        query = _parse(sql)
        if query is None:
            return Probing(nulls=nulls)
        sources = QuerySources(query, self._database.schema)
        chain = tuple(self._count(count, until) for count in chain_counts(query, sources))
        lookups, misses = 0, []
        for lookup in _first(text_lookups(query, sources), MOST_LOOKUPS):
            found = self._execute(lookup.sql, until)
            if found is not None:
                lookups += 1
                if found.kind == "empty":
                    misses.append(self._near(lookup, until))
        return Probing(chain=chain, nulls=nulls, lookups=lookups, near_misses=tuple(misses))

    def _nulls(self, sql: str, until: float) -> tuple[float | None, ...]:
        statement = only_statement(sql)
        if statement is None:
            return ()
        # The bracket is on its own line, because the statement may end in a comment.
        wrapped = f"({statement}\n)"
        shape = self._execute(f"SELECT * FROM {wrapped} LIMIT 0", until)  # noqa: S608
        if shape is None or not shape.columns:
            return ()
        names = [f"c{number}" for number in range(len(shape.columns))]
        shown = names[:MOST_COLUMNS]
        counts = ", ".join(f"COUNT({name})" for name in shown)
        result = self._execute(
            f"WITH probed({', '.join(names)}) AS {wrapped} "  # noqa: S608
            f"SELECT COUNT(*), {counts} FROM probed",
            until,
        )
        if result is None or not result.rows:
            return (None,) * len(shown)
        rows, *filled = (cell if isinstance(cell, int) else 0 for cell in result.rows[0])
        return tuple(1.0 - count / rows for count in filled) if rows else ()

    def _count(self, sql: str, until: float) -> int | None:
        result = self._execute(sql, until)
        count = result.rows[0][0] if result is not None and result.rows else None
        return count if isinstance(count, int) else None

    def _near(self, lookup: TextLookup, until: float) -> NearMiss:
        column = f"{lookup.table}.{lookup.column}"
        values = self._values_of(lookup.table, lookup.column, until)
        found = nearest(lookup.sought, values) if values else None
        if found is None:
            return NearMiss(literal=lookup.literal, column=column)
        return NearMiss(
            literal=lookup.literal, column=column, value=found[0], similarity=round(found[1], 4)
        )

    def _values_of(self, table: str, column: str, until: float) -> tuple[str, ...]:
        """Return the column's texts in order; none if there are too many to compare."""
        with self._lock:
            if (table, column) in self._values:
                self._values.move_to_end((table, column))
                return self._values[table, column]
        name = quote_name(column)
        result = self._execute(
            f"SELECT DISTINCT {name} FROM {quote_name(table)} WHERE typeof({name}) = 'text' "  # noqa: S608
            f"LIMIT {MOST_VALUES + 1}",
            until,
        )
        if result is None:
            return ()
        texts = sorted(row[0] for row in result.rows if isinstance(row[0], str))
        values = tuple(texts) if len(texts) <= MOST_VALUES and not result.truncated else ()
        with self._lock:
            self._values[table, column] = values
            if len(self._values) > _KEPT_COLUMNS:
                self._values.popitem(last=False)
        return values

    def _execute(self, sql: str, until: float) -> ExecutionResult | None:
        """Run a probe; None if no time is left or it fails."""
        if time.monotonic() >= until:
            return None
        result = self._database.execute(sql)
        return result if result.kind in ("rows", "empty") else None


def _parse(sql: str) -> exp.Expr | None:
    # Nesting slows the parser down; these bounds are those of the monitor's features.
    if len(sql) > LONGEST_PROBED or sql.count("(") > MOST_BRACKETS:
        return None
    trees = parse_all(sql)
    return trees[0] if len(trees) == 1 else None


def _first(lookups: Iterator[TextLookup], most: int) -> Iterator[TextLookup]:
    for _, lookup in zip(range(most), lookups, strict=False):
        yield lookup
