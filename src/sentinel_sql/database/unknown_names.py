"""How each database says that a query names a column or a table that it doesn't have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

_SQLITE: Final = "no such column: {}"
_COLUMN_ERRORS: Final[Mapping[str, str]] = {
    "postgres": 'column "{}" does not exist',
    "duckdb": 'Binder Error: Referenced column "{}" not found in FROM clause!',
}
_FORMS: Final[Sequence[tuple[Literal["column", "table"], re.Pattern[str]]]] = (
    # SQLite
    ("column", re.compile(r"no such column: (?:\w+\.)?(\w+)")),
    ("table", re.compile(r"no such table: (\w+)")),
    # PostgreSQL; a qualified column comes without quotes
    ("column", re.compile(r'column "([^"]+)" does not exist')),
    ("column", re.compile(r"column (?:[^\s.]+\.)?(.+?) does not exist")),
    ("table", re.compile(r'relation "([^"]+)" does not exist')),
    ("table", re.compile(r'missing FROM-clause entry for table "([^"]+)"')),
    # DuckDB
    ("column", re.compile(r'Referenced column "([^"]+)" not found')),
    ("column", re.compile(r'does not have a column named "([^"]+)"')),
    ("table", re.compile(r'Table with name "?(.+?)"? does not exist')),
    ("table", re.compile(r'Referenced table "([^"]+)" not found')),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnknownName:
    """A name of a query that the database doesn't have, as the error writes it."""

    kind: Literal["column", "table"]
    name: str


def unknown_name(error: str) -> UnknownName | None:
    """Return which name a database's error calls unknown; None for another error."""
    for kind, form in _FORMS:
        if found := form.search(error):
            return UnknownName(kind=kind, name=found[1])
    return None


def unknown_column_error(column: str, dialect: str) -> str:
    """Return the error of a query that names a column which its tables don't have."""
    return _COLUMN_ERRORS.get(dialect, _SQLITE).format(column)
