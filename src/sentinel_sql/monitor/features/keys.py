"""The columns that a schema's foreign keys connect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sentinel_sql.schema import Schema

BaseColumn = tuple[str, str]
"""A table and its column, by their keys in the schema."""


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
        return {column: _reached(column, direct) for column in direct}

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

    @cached_property
    def _neighbours(self) -> Mapping[str, frozenset[str]]:
        """The tables that a foreign key ties to each table."""
        found: dict[str, set[str]] = {}
        for key in self.schema.foreign_keys:
            found.setdefault(key.table, set()).add(key.to_table)
            found.setdefault(key.to_table, set()).add(key.table)
        return {table: frozenset(others) for table, others in found.items()}

    def tables_between(self, tables: frozenset[str]) -> int | None:
        """Return how many further tables connect these, None if foreign keys don't connect them.

        The nearest table is connected first, which is the shortest way for two tables and close
        to it for more.
        """
        waiting = sorted(tables)
        if len(waiting) < 2:
            return 0
        joined = {waiting.pop(0)}
        while waiting:
            way = _shortest_way(joined, frozenset(waiting), self._neighbours)
            if way is None:
                return None
            joined |= way
            waiting = [table for table in waiting if table not in joined]
        return len(joined - tables)

    def justify_join(self, left: BaseColumn, right: BaseColumn) -> bool:
        """Return whether foreign keys justify a join of the two columns.

        They do if a key leads from one column to the other, or if both lead to the same column
        (ours): two tables that each reference `admissions.hadm_id` may be joined on it. A
        self-join on a key column is justified, too.
        """
        nothing: frozenset[BaseColumn] = frozenset()
        return bool(self._targets.get(left, nothing) & self._targets.get(right, nothing))


def _reached(
    column: BaseColumn, direct: Mapping[BaseColumn, set[BaseColumn]]
) -> frozenset[BaseColumn]:
    """Return the columns to which keys lead from a column, itself among them."""
    reached, waiting = {column}, [column]
    while waiting:
        further = direct[waiting.pop()] - reached
        reached |= further
        waiting += further
    return frozenset(reached)


def _shortest_way(
    start: set[str], goals: frozenset[str], neighbours: Mapping[str, frozenset[str]]
) -> frozenset[str] | None:
    """Return the tables of a shortest way from some tables to the nearest goal, or None."""
    came: dict[str, str | None] = dict.fromkeys(sorted(start))
    waiting = list(came)
    for table in waiting:
        if table in goals:
            way: set[str] = set()
            at: str | None = table
            while at is not None and at not in start:
                way.add(at)
                at = came[at]
            return frozenset(way)
        for other in sorted(neighbours.get(table, ())):
            if other not in came:
                came[other] = table
                waiting.append(other)
    return None


def keys_of(schema: Schema | None) -> Keys | None:
    """Return the schema's keys, or None without a schema."""
    return None if schema is None else Keys(schema=schema)
