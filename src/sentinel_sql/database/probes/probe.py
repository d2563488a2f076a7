"""Probes of an executed query: small counts that its result doesn't show.

They are row counts along the join chain, the share of NULLs in each result column, for a text that
no row has the most similar stored value, and for a text that rows have its other spellings in the
same column. Time and work are bounded. A value that can't be found within the bounds is None ("not
known"). Probing never raises.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sentinel_sql.database.coverage.cover import DatabaseGrounder
from sentinel_sql.database.executor import Database, ExecutionResult, Limits
from sentinel_sql.database.probes.join_chain import chain_counts
from sentinel_sql.database.probes.query_sources import QuerySources
from sentinel_sql.database.probes.text_lookups import (
    TextLookup,
    column_name,
    nearest,
    table_name,
    text_lookups,
)
from sentinel_sql.database.sqlite.safety import only_statement
from sentinel_sql.database.value_index.column_choice import is_personal
from sentinel_sql.database.value_index.index import ValueIndex
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.sql_tree import known_dialect, parse_all

PROBE_LIMITS = Limits(seconds=0.5, rows=5_001, cell=1_000, total=8_000_000)
"""Bounds of one probe (our choice). Open the database of a `Prober` with these."""

STEP_SECONDS = 1.0
"""Seconds after which no further probe of a step starts (our choice)."""

LEAST_SECONDS = 0.05
"""Seconds that the probes of a quick query may take while a run goes on (our choice)."""

MOST_VALUES = 5_000
"""Most distinct values of a column that are compared (our choice); with more, not known."""

MOST_WORDS = 6
"""Most words of a text by which its neighbours in the index are looked up (our choice)."""

LEAST_LIKENESS = 0.5
"""Least likeness of a word that stands in for a word which no text has (our choice)."""

MOST_SPELLINGS = 50
MOST_LOOKUPS = 8
MOST_COLUMNS = 30
LONGEST_PROBED = 20_000
MOST_BRACKETS = 200
_KEPT_QUERIES = 500
_KEPT_COLUMNS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class NearMiss:
    """A text that no row of its column has, and the most similar stored value.

    `value` and `similarity` (in [0, 1]) are None if the column's values couldn't be read. `value`
    is None, too, if the column's name says that it identifies people.
    """

    literal: str
    column: str
    value: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MissedSpellings:
    """A text that rows have, and how many other spellings of it the same condition leaves out."""

    literal: str
    column: str
    count: int


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
        spellings: the texts with other spellings in their columns; None without a value index.
    """

    chain: tuple[int | None, ...] = ()
    nulls: tuple[float | None, ...] = ()
    lookups: int | None = None
    near_misses: tuple[NearMiss, ...] = ()
    spellings: tuple[MissedSpellings, ...] | None = None


class Prober:
    """Probes queries over one database; safe to use from several threads.

    Args:
        database: opened with `PROBE_LIMITS`, so that a probe can't be slow.
        index: its value index, also for coverage records of questions. Texts of indexed columns
            are looked up there, however many they are, and other spellings are known only with it.
        seconds: time after which no further probe of a query starts.
        keep_values: whether coverage records keep stored texts, never those of people.

    Attributes:
        grounder: makes coverage records of questions; None without an index.
    """

    def __init__(
        self,
        database: Database,
        *,
        index: ValueIndex | None = None,
        seconds: float = STEP_SECONDS,
        keep_values: bool = False,
    ) -> None:
        self._database = database
        self._index = index
        self._indexed = frozenset(
            (it.table, it.column) for it in (index.columns if index is not None else ())
        )
        self._dialect = known_dialect(database.dialect)
        self._seconds = seconds
        self.grounder = (
            None if index is None else DatabaseGrounder(database, index, keep_values=keep_values)
        )
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, Probing] = OrderedDict()
        self._values: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    @property
    def database(self) -> Database:
        """The probed database."""
        return self._database

    def probe(self, sql: str, *, own_seconds: float | None = None) -> Probing:
        """Probe one query that returned a result.

        Args:
            sql: the query.
            own_seconds: the time that the query itself took, while a run goes on: its probes get
                no more, but at least `LEAST_SECONDS`.
        """
        with self._lock:
            if sql in self._cache:
                self._cache.move_to_end(sql)
                return self._cache[sql]
        try:
            found = self._probe(sql, own_seconds)
        except Exception:  # a failing probe must never fail a step
            found = Probing()
        with self._lock:
            self._cache[sql] = found
            if len(self._cache) > _KEPT_QUERIES:
                self._cache.popitem(last=False)
        return found

    def _probe(self, sql: str, own_seconds: float | None) -> Probing:
        seconds = self._seconds
        if own_seconds is not None:
            seconds = min(seconds, max(own_seconds, LEAST_SECONDS))
        until = time.monotonic() + seconds
        nulls = self._nulls(sql, until)
        query = _parse(sql, self._dialect)
        if query is None:
            return Probing(nulls=nulls)
        sources = QuerySources(query, self._database.schema)
        chain = tuple(
            self._count(count, until)
            for count in chain_counts(query, sources, dialect=self._dialect)
        )
        lookups, misses, spellings = 0, [], []
        for lookup in _first(text_lookups(query, sources, dialect=self._dialect), MOST_LOOKUPS):
            found = self._execute(lookup.sql, until)
            if found is not None:
                lookups += 1
                if found.kind == "empty":
                    misses.append(self._near(lookup, until))
                elif missed := self._missed_spellings(lookup, until):
                    spellings.append(missed)
        return Probing(
            chain=chain,
            nulls=nulls,
            lookups=lookups,
            near_misses=tuple(misses),
            spellings=None if self._index is None else tuple(spellings),
        )

    def _nulls(self, sql: str, until: float) -> tuple[float | None, ...]:
        statement = self._only_statement(sql)
        if statement is None:
            return ()
        # The bracket is on its own line, because the statement may end in a comment.
        wrapped = f"({statement}\n)"
        shape = self._execute(f"SELECT * FROM {wrapped} AS probed LIMIT 0", until)  # noqa: S608
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

    def _only_statement(self, sql: str) -> str | None:
        if self._dialect == "sqlite":
            return only_statement(sql)
        query = _parse(sql, self._dialect)
        return query.sql(dialect=self._dialect) if isinstance(query, exp.Query) else None

    def _count(self, sql: str, until: float) -> int | None:
        result = self._execute(sql, until)
        count = result.rows[0][0] if result is not None and result.rows else None
        return count if isinstance(count, int) else None

    def _near(self, lookup: TextLookup, until: float) -> NearMiss:
        column = f"{lookup.table}.{lookup.column}"
        values = self._indexed_texts(lookup) or self._values_of(lookup.table, lookup.column, until)
        found = nearest(lookup.sought, values) if values else None
        if found is None:
            return NearMiss(literal=lookup.literal, column=column)
        personal = is_personal(lookup.table, lookup.column)
        return NearMiss(
            literal=lookup.literal,
            column=column,
            value=None if personal else found[0],
            similarity=round(found[1], 4),
        )

    def _indexed_texts(self, lookup: TextLookup) -> tuple[str, ...]:
        """Return the column's indexed texts that share a word, or one spelled alike; maybe none."""
        if self._index is None or (lookup.table, lookup.column) not in self._indexed:
            return ()
        found = set()
        for word in words_of(lookup.sought)[:MOST_WORDS]:
            alike = [word] if self._index.count(word) else []
            alike += [other for other, _ in self._index.alike(word, least=LEAST_LIKENESS)]
            for other in alike:
                found |= {
                    entry.text
                    for entry in self._index.with_words([other])
                    if (entry.table, entry.column) == (lookup.table, lookup.column)
                }
        return tuple(sorted(found))

    def _missed_spellings(self, lookup: TextLookup, until: float) -> MissedSpellings | None:
        """Return how many texts of the same words in the column the condition leaves out."""
        words = words_of(lookup.sought)
        if self._index is None or not words:
            return None
        others = [
            entry.text
            for entry in self._index.same_words(words)
            if (entry.table, entry.column) == (lookup.table, lookup.column)
            and entry.text != lookup.literal
        ]
        if not others:
            return None
        name = column_name(self._database.schema, lookup.table, lookup.column)
        texts = ", ".join(
            exp.Literal.string(text).sql(dialect=self._dialect) for text in others[:MOST_SPELLINGS]
        )
        missed = self._count(
            f"SELECT COUNT(DISTINCT {name}) FROM "  # noqa: S608
            f"{table_name(self._database.schema, lookup.table)} "
            f"WHERE {name} IN ({texts}) AND NOT ({lookup.condition})",
            until,
        )
        if not missed:
            return None
        column = f"{lookup.table}.{lookup.column}"
        return MissedSpellings(literal=lookup.literal, column=column, count=missed)

    def _values_of(self, table: str, column: str, until: float) -> tuple[str, ...]:
        """Return the column's texts in order; none if there are too many to compare."""
        with self._lock:
            if (table, column) in self._values:
                self._values.move_to_end((table, column))
                return self._values[table, column]
        schema = self._database.schema
        name = column_name(schema, table, column)
        # a column of SQLite holds values of any type, and one elsewhere those of its type
        texts_only = f"typeof({name}) = 'text'" if self._dialect == "sqlite" else f"{name} <> ''"
        result = self._execute(
            f"SELECT DISTINCT {name} FROM {table_name(schema, table)} WHERE {texts_only} "  # noqa: S608
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


def _parse(sql: str, dialect: str) -> exp.Expr | None:
    # Nesting slows the parser down; these bounds are those of the monitor's features.
    if len(sql) > LONGEST_PROBED or sql.count("(") > MOST_BRACKETS:
        return None
    trees = parse_all(sql, dialect=dialect)
    return trees[0] if len(trees) == 1 else None


def _first(lookups: Iterator[TextLookup], most: int) -> Iterator[TextLookup]:
    for _, lookup in zip(range(most), lookups, strict=False):
        yield lookup
