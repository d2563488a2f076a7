"""Which key columns of a database hold a number, and which years its times span."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from sentinel_sql.database.executor import Database
from sentinel_sql.schema import written

MOST_COLUMNS: Final = 12
"""Most key columns in which a number is looked up (our choice)."""

MOST_TIMES: Final = 40
"""Most columns of times whose span is read (our choice)."""

SECONDS: Final = 1.0
"""Seconds after which no further column is looked at, for a number or for the span (our choice)."""

SLOW: Final = 0.25
"""Seconds after which a column isn't looked at again (our choice)."""

_KEPT: Final = 1_000
_NUMBER_TYPES: Final = ("int", "num", "dec", "serial")
_TIME_TYPES: Final = ("date", "time")


class KeyColumns:
    """Looks numbers up in the columns that other tables refer to, or else in primary keys.

    Time is bounded; what can't be looked up in time, or fails, is not known.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns = list(_key_columns(database))
        self._lock = threading.Lock()
        self._held: OrderedDict[int, tuple[tuple[str, str], ...] | None] = OrderedDict()
        self._years: tuple[int, int] | None = None
        self._looked = False

    def columns_with(self, number: int) -> tuple[tuple[str, str], ...] | None:
        """Return the key columns, as (table, column), that hold a number; None if not known."""
        with self._lock:
            if number in self._held:
                return self._held[number]
        found = self._look_up(number)
        with self._lock:
            self._held[number] = found
            if len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return found

    def year_in_span(self, year: int) -> bool | None:
        """Return whether a year lies within the stored times; None if they aren't known."""
        if not self._looked:
            self._years, self._looked = self._read_years(), True
        return None if self._years is None else self._years[0] <= year <= self._years[1]

    def _look_up(self, number: int) -> tuple[tuple[str, str], ...] | None:
        until = time.monotonic() + SECONDS
        held, known = [], bool(self._columns) and len(self._columns) <= MOST_COLUMNS
        for place in self._columns[:MOST_COLUMNS]:
            table, column = place
            began = time.monotonic()
            if began > until:
                known = False
                break
            result = self._database.execute(
                f"SELECT 1 FROM {self._table(table)} "  # noqa: S608
                f"WHERE {self._column(table, column)} = {number} LIMIT 1"
            )
            if result.kind == "rows":
                held.append(place)
            known &= result.kind in ("rows", "empty")
            if time.monotonic() - began > SLOW:
                self._columns = [other for other in self._columns if other != place]
        return tuple(held) if held or known else None

    def _read_years(self) -> tuple[int, int] | None:
        until = time.monotonic() + SECONDS
        places = [
            (table, column)
            for table, columns in self._database.schema.tables.items()
            for column, kind in columns.items()
            if any(part in kind.lower() for part in _TIME_TYPES)
        ]
        if len(places) > MOST_TIMES:
            return None
        years = []
        for table, column in places:
            if time.monotonic() > until:
                return None
            name = self._column(table, column)
            result = self._database.execute(
                f"SELECT MIN({name}), MAX({name}) FROM {self._table(table)}"  # noqa: S608
            )
            texts = [str(cell)[:4] for cell in (result.rows[0] if result.rows else ())]
            years += [int(text) for text in texts if text.isdigit()]
        return (min(years), max(years)) if years else None

    def _table(self, table: str) -> str:
        return self._database.schema.table_sql.get(table) or written(table)

    def _column(self, table: str, column: str) -> str:
        return self._database.schema.column_sql.get(table, {}).get(column) or written(column)


def _key_columns(database: Database) -> Iterator[tuple[str, str]]:
    schema = database.schema
    wanted = dict.fromkeys(
        (key.to_table, key.to_column) for key in schema.foreign_keys if key.to_column
    )
    if not wanted:  # a primary key that nothing refers to is often a mere row number
        wanted = dict.fromkeys(
            (table, keys[0]) for table, keys in schema.primary_keys.items() if len(keys) == 1
        )
    for table, column in wanted:
        kind = schema.tables.get(table, {}).get(column, "").lower()
        if not kind or any(part in kind for part in _NUMBER_TYPES):
            yield table, column
