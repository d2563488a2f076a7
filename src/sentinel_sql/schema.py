"""A database schema as plain data: read by `database`, carried by labels, frozen in a bundle.

It stands below every room so that a monitor can check table and column references
without a database being installed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sentinel_sql.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ForeignKey:
    """A declared reference from one column to another; all names in lower case."""

    table: str
    column: str
    to_table: str
    to_column: str


@dataclass(frozen=True, kw_only=True)
class Schema:
    """Tables with their columns, and the declared foreign keys.

    `tables` maps a table's lower-case name to its columns' lower-case names and declared
    types, in the database's order.
    """

    tables: Mapping[str, Mapping[str, str]]
    foreign_keys: tuple[ForeignKey, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """Hash of the content; two databases with the same tables, columns and keys share it."""
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the schema as JSON-ready data; `from_json` reads it back."""
        return {
            "tables": {name: dict(columns) for name, columns in self.tables.items()},
            "foreign_keys": [
                [key.table, key.column, key.to_table, key.to_column] for key in self.foreign_keys
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        """Read what `to_json` wrote.

        Raises:
            InputError: the data isn't a schema.
        """
        try:
            tables: Mapping[str, Mapping[str, str]] = {
                str(name): {str(column): str(kind) for column, kind in columns.items()}
                for name, columns in data["tables"].items()
            }
            rows: Iterable[list[str]] = data["foreign_keys"]
            keys = tuple(
                ForeignKey(table=t, column=c, to_table=tt, to_column=tc) for t, c, tt, tc in rows
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "the schema can't be read: expected 'tables' and 'foreign_keys' as written by "
                "sentinel; make it again with `sentinel label`"
            ) from error
        return cls(tables=tables, foreign_keys=keys)
