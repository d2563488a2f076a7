"""Probes of an executed query: what its result doesn't show, and a few small counts do.

Row counts along the join chain, the share of NULLs in each result column, and, for a text that
no row has, the stored value nearest to it. Bounded in time and work; whatever can't be had within
the bounds is None, "not known", and nothing here ever raises.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sentinel_sql.database.executor import Database, ExecutionResult, Limits
from sentinel_sql.database.join_chain import chain_counts
from sentinel_sql.database.query_sources import QuerySources
from sentinel_sql.database.safety import only_statement
from sentinel_sql.database.text_lookups import TextLookup, nearest, quoted, text_lookups
from sentinel_sql.sql_tree import parse_all

PROBE_LIMITS = Limits(seconds=0.5, rows=5_001, cell=1_000, total=8_000_000)
"""Bounds of one probe; ours. Open the database with these for a `Prober`."""

STEP_SECONDS = 2.0
"""Seconds after which no further probe of a step is started; ours."""

MOST_VALUES = 5_000
"""Distinct values of a column among which the nearest is sought; ours: of more, not known."""

MOST_LOOKUPS = 8
MOST_COLUMNS = 30
LONGEST_PROBED = 20_000
MOST_BRACKETS = 200
_KEPT_QUERIES = 500
_KEPT_COLUMNS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class NearMiss:
    """A text that no row of its column has, and the stored value nearest to it.

    `value` and `similarity` (in [0, 1]) are None where the column's values couldn't be had.
    """

    literal: str
    column: str
    value: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Probing:
    """What the probes of one query found.

    Attributes:
        chain: rows of the first table under its own conditions, then after each join; None each
            where not known. Empty where there is no chain to count.
        nulls: share of NULLs in each column of the result, in [0, 1]; None each where not known.
            Empty for a result without rows.
        lookups: texts that were looked up in their columns; None where the query can't be read.
        near_misses: those that no row has.
    """

    chain: tuple[int | None, ...] = ()
    nulls: tuple[float | None, ...] = ()
    lookups: int | None = None
    near_misses: tuple[NearMiss, ...] = ()


class Prober:
    """Probes queries over one database; safe to use from several threads.

    Args:
        database: opened with `PROBE_LIMITS`, so that a probe can't be slow.
        seconds: after which no further probe of one query is started.
    """

    def __init__(self, database: Database, *, seconds: float = STEP_SECONDS) -> None:
        self._database = database
        self._seconds = seconds
        self._lock = threading.Lock()
        self._probed: OrderedDict[str, Probing] = OrderedDict()
        self._values: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    @property
    def database(self) -> Database:
        """The database that is probed."""
        return self._database

    def probe(self, sql: str) -> Probing:
        """Probe one query that was executed with a result."""
        with self._lock:
            if sql in self._probed:
                self._probed.move_to_end(sql)
                return self._probed[sql]
        try:
            found = self._probe(sql)
        except Exception:  # a probe may fail in any way, and never costs a step
            found = Probing()
        with self._lock:
            self._probed[sql] = found
            if len(self._probed) > _KEPT_QUERIES:
                self._probed.popitem(last=False)
        return found

    def _probe(self, sql: str) -> Probing:
        until = time.monotonic() + self._seconds
        nulls = self._nulls(sql, until)
        query = _parsed(sql)
        if query is None:
            return Probing(nulls=nulls)
        sources = QuerySources(query, self._database.schema)
        chain = tuple(self._count(count, until) for count in chain_counts(query, sources))
        looked_up, missed = 0, []
        for lookup in _first(text_lookups(query, sources), MOST_LOOKUPS):
            found = self._execute(lookup.sql, until)
            if found is not None:
                looked_up += 1
                if found.kind == "empty":
                    missed.append(self._near(lookup, until))
        return Probing(chain=chain, nulls=nulls, lookups=looked_up, near_misses=tuple(missed))

    def _nulls(self, sql: str, until: float) -> tuple[float | None, ...]:
        statement = only_statement(sql)
        if statement is None:
            return ()
        # On a line of its own: the statement may end in a comment.
        wrapped = f"({statement}\n)"
        shape = self._execute(f"SELECT * FROM {wrapped} LIMIT 0", until)  # noqa: S608
        if shape is None or not shape.columns:
            return ()
        names = [f"c{number}" for number in range(len(shape.columns))]
        shown = names[:MOST_COLUMNS]
        counts = ", ".join(f"COUNT({name})" for name in shown)
        counted = self._execute(
            f"WITH probed({', '.join(names)}) AS {wrapped} "  # noqa: S608
            f"SELECT COUNT(*), {counts} FROM probed",
            until,
        )
        if counted is None or not counted.rows:
            return (None,) * len(shown)
        rows, *filled = (cell if isinstance(cell, int) else 0 for cell in counted.rows[0])
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
        """Return the column's texts in order; none where there are too many to compare."""
        with self._lock:
            if (table, column) in self._values:
                self._values.move_to_end((table, column))
                return self._values[table, column]
        name = quoted(column)
        result = self._execute(
            f"SELECT DISTINCT {name} FROM {quoted(table)} WHERE typeof({name}) = 'text' "  # noqa: S608
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
        """Run a probe; None where there is no time left or it didn't run."""
        if time.monotonic() >= until:
            return None
        result = self._database.execute(sql)
        return result if result.kind in ("rows", "empty") else None


def _parsed(sql: str) -> exp.Expr | None:
    # The parser's time grows with the nesting; the bounds are those of the monitor's features.
    if len(sql) > LONGEST_PROBED or sql.count("(") > MOST_BRACKETS:
        return None
    trees = parse_all(sql)
    return trees[0] if len(trees) == 1 else None


def _first(lookups: Iterator[TextLookup], most: int) -> Iterator[TextLookup]:
    for _, lookup in zip(range(most), lookups, strict=False):
        yield lookup
