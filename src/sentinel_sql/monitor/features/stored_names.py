"""The names of a schema as a query's dialect compares them.

SQLite and DuckDB compare names without regard to case. PostgreSQL folds a name without quotes to
lower case and takes a quoted one as it stands, so that `Name` and `"Name"` are two names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache

from sqlglot import exp

from sentinel_sql.monitor.features.keys import BaseColumn, Keys
from sentinel_sql.schema import folded

_SQLITE_ROW_IDS = frozenset({"rowid", "oid", "_rowid_"})
_POSTGRES_ROW_IDS = frozenset({"ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"})
_POSTGRES_WORDS = frozenset({"user", "session_user", "current_role", "current_catalog"})
_CATALOGUE = frozenset(
    {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema", "dual"}
)
_DEFAULT_SCHEMAS: Mapping[str, frozenset[str]] = {
    "sqlite": frozenset({"main"}),
    "postgres": frozenset({"public"}),
    "duckdb": frozenset({"main"}),
}
_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


class StoredNames:
    """A schema's names in one dialect.

    Attributes:
        sqlite: whether the dialect is SQLite's, in which a quoted word may be a text.
        row_ids: columns that every table has without declaring them.
        words: words without brackets that are functions.
    """

    def __init__(self, keys: Keys, dialect: str) -> None:
        self._schema = keys.schema
        self._dialect = dialect
        self.sqlite = dialect == "sqlite"
        self._exact = dialect == "postgres"
        self.row_ids = _POSTGRES_ROW_IDS if self._exact else _SQLITE_ROW_IDS
        self.words: frozenset[str] = _POSTGRES_WORDS if self._exact else frozenset()

    def of(self, identifier: object) -> str:
        """Return the name of an identifier in a form in which equal names are equal texts."""
        if not isinstance(identifier, exp.Identifier):
            return ""
        exact = self._exact and identifier.quoted
        return identifier.name if exact else folded(identifier.name)

    def alias_of(self, node: exp.Expr) -> str:
        """Return the alias of an expression or a source, or an empty text."""
        alias = node.args.get("alias")
        return self.of(alias.this if isinstance(alias, exp.TableAlias) else alias)

    def in_catalogue(self, name: str) -> bool:
        """Return whether a name may be one of the database's own tables."""
        return name in _CATALOGUE or (not self.sqlite and name.startswith(("pg_", "duckdb_")))

    def table(self, node: exp.Table) -> str | None:
        """Return the key of a table, `""` if the schema lacks it, or None if that is doubtful."""
        name, within = self.of(node.this), self.of(node.args.get("db"))
        key = self._tables.get(f"{within}.{name}" if within else name)
        if key is not None:
            return key
        if not within:
            return None if self.in_catalogue(name) else ""
        if within in _DEFAULT_SCHEMAS.get(self._dialect, ()):
            return None if self.in_catalogue(name) else self._tables.get(name, "")
        known = not self.sqlite and any(key.startswith(f"{within}.") for key in self._tables)
        return "" if known else None

    def columns(self, table: str) -> Mapping[str, BaseColumn]:
        """Return the columns of a table by their names."""
        keys = self._schema.tables[table]
        if not self._exact or table not in self._schema.column_sql:
            return {column: (table, column) for column in keys}
        return {
            _stored(self._schema.sql_of_column(table, column), column): (table, column)
            for column in keys
        }

    @cached_property
    def _tables(self) -> Mapping[str, str]:
        if not self._exact:
            return {key: key for key in self._schema.tables}
        return {
            _stored(self._schema.table_sql.get(key, key), key): key for key in self._schema.tables
        }


@lru_cache(maxsize=8)
def stored_names(keys: Keys, dialect: str) -> StoredNames:
    """Return the names of a schema in one dialect."""
    return StoredNames(keys, dialect)


def _stored(sql: str, key: str) -> str:
    """Return the stored form of a name that SQL writes so, parts joined by dots."""
    if '"' not in sql:
        return key
    parts = [(quoted or bare).replace('""', '"') for quoted, bare in _PART.findall(sql)]
    return ".".join(parts)
