"""A database schema as plain data: read by `database`, carried by labels, frozen in a bundle.

It stands below every room so that a monitor can check table and column references
without a database being installed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from sentinel_sql.arguments import checked_fields
from sentinel_sql.errors import InputError

_BARE = re.compile(r"[A-Za-z_\u00a1-\U0010ffff][0-9A-Za-z_$\u00a1-\U0010ffff]*")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RESERVED_WORDS = """
ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE
CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DEFERRABLE DELETE DISTINCT
DROP ELSE END ESCAPE EXCEPT EXISTS FOREIGN FROM FULL GROUP HAVING IN INDEX INNER INSERT
INTERSECT INTO IS ISNULL JOIN LEFT LIMIT NATURAL NOT NOTHING NOTNULL NULL ON OR ORDER
OUTER PRIMARY REFERENCES RETURNING RIGHT SELECT SET TABLE THEN TO TRANSACTION UNION
UNIQUE UPDATE USER USING VALUES WHEN WHERE WINDOW WITH
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
"""Words that SQL takes for no name unless they are quoted; some dialects reserve more."""

_FOLDED = str.maketrans(ascii_uppercase, ascii_lowercase)


def folded(name: str) -> str:
    """Return a name as databases compare it: A to Z in lower case, all other letters as they are.

    To SQLite `Name` and `NAME` are one name, and `Имя` and `имя` are two.
    """
    return name.translate(_FOLDED)


def written(name: str) -> str:
    """Return a name as SQL has to write it: in double quotes where it needs them, on one line."""
    if _BARE.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + _UNPRINTABLE.sub(_escaped, name.replace('"', '""')) + '"'


def _escaped(match: re.Match[str]) -> str:
    # no SQL has such a name on one line; this says what is in it, and can't end the line
    return match[0].encode("unicode_escape").decode("ascii")


@dataclass(frozen=True, kw_only=True)
class ForeignKey:
    """A declared reference from one column to another; all names folded."""

    table: str
    column: str
    to_table: str
    to_column: str


@checked_fields
@dataclass(frozen=True, kw_only=True)
class Schema:
    """Tables with their columns, the declared keys, and how SQL writes the names.

    Every name is a key: a table's folded name, or `schema.table` outside the default schema, and
    a column's folded name. Tables and columns stand in the database's order. All but `tables` may
    be empty, and need no entry for every table.

    Attributes:
        tables: table → column → declared type.
        foreign_keys: the declared references.
        primary_keys: table → the columns of its primary key, in the key's order.
        table_sql: table → how SQL writes its name, where that isn't `written(table)`.
        column_sql: table → column → how SQL writes its name, where that isn't `written(column)`.
        table_comments: table → its comment in the database.
        column_comments: table → column → its comment in the database.
    """

    tables: Mapping[str, Mapping[str, str]]
    foreign_keys: tuple[ForeignKey, ...] = ()
    primary_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    table_sql: Mapping[str, str] = field(default_factory=dict)
    column_sql: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    table_comments: Mapping[str, str] = field(default_factory=dict)
    column_comments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def sha256(self) -> str:
        """Hash of tables, columns, types and foreign keys; spellings and comments don't count."""
        canonical = json.dumps(self._identity(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def sql_of_table(self, table: str) -> str:
        """Return a table's name as a query has to write it, quoted and qualified if necessary."""
        return self.table_sql.get(table) or written(table)

    def sql_of_column(self, table: str, column: str) -> str:
        """Return a column's name as a query has to write it, without its table."""
        return self.column_sql.get(table, {}).get(column) or written(column)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as JSON-ready data without empty parts; `from_json` reads it back."""
        more: dict[str, Any] = {
            "primary_keys": {table: list(columns) for table, columns in self.primary_keys.items()},
            "table_sql": dict(self.table_sql),
            "column_sql": {table: dict(names) for table, names in self.column_sql.items()},
            "table_comments": dict(self.table_comments),
            "column_comments": {
                table: dict(texts) for table, texts in self.column_comments.items()
            },
        }
        return self._identity() | {name: part for name, part in more.items() if part}

    def _identity(self) -> dict[str, Any]:
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
            rows: Iterable[list[str]] = data["foreign_keys"]
            return cls(
                tables=_nested_texts(data["tables"]),
                foreign_keys=tuple(
                    ForeignKey(table=t, column=c, to_table=tt, to_column=tc)
                    for t, c, tt, tc in rows
                ),
                primary_keys={
                    str(table): tuple(str(column) for column in _list(columns))
                    for table, columns in data.get("primary_keys", {}).items()
                },
                table_sql=_texts(data.get("table_sql", {})),
                column_sql=_nested_texts(data.get("column_sql", {})),
                table_comments=_texts(data.get("table_comments", {})),
                column_comments=_nested_texts(data.get("column_comments", {})),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "the schema can't be read: expected 'tables' and 'foreign_keys' as written by "
                "sentinel; make it again with `sentinel label`"
            ) from error


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(text) for name, text in data.items()}


def _nested_texts(data: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {str(table): _texts(columns) for table, columns in data.items()}


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise TypeError("not a list")
    return data
