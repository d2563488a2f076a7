"""A database schema as plain data: read by `database`, carried by labels, frozen in a bundle.

It stands below every room so that a monitor can check table and column references
without a database being installed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
    """Tables with their columns, and the declared foreign keys.

    `tables` maps a table's folded name to its columns' folded names and declared types, in the
    database's order.
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
