"""The table of a column in a query, and the kind of values that the column holds.

The table follows from the query's aliases; the kind from the schema's types and the column's
name. Without a schema the name alone decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from sqlglot import exp

from sentinel_sql.monitor.features.keys import Keys
from sentinel_sql.schema import folded

ColumnKind = Literal["count", "truth", "time", "number", "identifier", "text", "unknown"]

_TIME_NAME = re.compile(r"time$|date$|^do[bd]$|_at$|_on$|^day$|^year$|^month$")
_KEY_NAME = re.compile(r"(?:^|_)(?:id|code|key|no|uuid)$|[a-z]id$")
_TIME_TYPE = re.compile(r"TIME|DATE", re.IGNORECASE)
_NUMBER_TYPE = re.compile(r"INT|REAL|DOUB|FLOA|NUM|DEC|MONEY", re.IGNORECASE)


def kind_of_column(name: str, declared: str, *, key: bool = False) -> ColumnKind:
    """Return what a column holds, from its name, its declared type and whether it is a key."""
    if _TIME_TYPE.search(declared) or (_TIME_NAME.search(name) and not key):
        return "time"
    if key or _KEY_NAME.search(name):
        return "identifier"
    return "number" if _NUMBER_TYPE.search(declared) else "text" if declared else "unknown"


class ColumnSources:
    """The tables of one query, and the tables and kinds of its columns.

    Attributes:
        tables: names in lower case, in the order of the query, with repeats.
        aliases: from the name that the query uses to the table's own name.
    """

    def __init__(self, tables: Iterable[exp.Table], keys: Keys | None) -> None:
        self._keys = keys
        self.aliases: dict[str, str] = {}
        self.tables: list[str] = []
        for node in tables:
            name = (
                folded(node.name) if keys is None else keys.schema.key_of_table(node.name, node.db)
            )
            self.tables.append(name)
            self.aliases[folded(node.alias_or_name)] = name

    def table_of(self, column: exp.Column) -> str:
        """Return the table that a column comes from, or an empty text if it is unknown."""
        owner = folded(column.table)
        if owner:
            return self.aliases.get(owner, "")
        name = folded(column.name)
        if self._keys is None:
            return self.tables[0] if len(set(self.tables)) == 1 else ""
        known = self._keys.schema.tables
        return next((table for table in self.tables if name in known.get(table, ())), "")

    def kind_of(self, column: exp.Column) -> ColumnKind:
        """Return what a column of the query holds."""
        name = folded(column.name)
        table = self.table_of(column)
        declared, key = "", False
        if self._keys is not None:
            declared = self._keys.schema.tables.get(table, {}).get(name, "")
            key = self._keys.ties(table, name)
        return kind_of_column(name, declared, key=key)
