"""Reads what a role may read of a PostgreSQL database: tables, views, columns and keys."""

from __future__ import annotations

from typing import Any, Final

import psycopg

from sentinel_sql.schema import ForeignKey, Schema, folded

_TABLES: Final = """
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), c.oid
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(c.oid, a.attnum, 'SELECT')
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE')
  AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass
    AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname <> coalesce(current_schema(), ''), n.nspname, c.oid, a.attnum
"""
"""A partition is read through its parent; tables of extensions aren't the user's."""

_KEYS: Final = """
SELECT k.conrelid, a.attname, k.confrelid, fa.attname
FROM pg_catalog.pg_constraint k
CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS pair(own, other, place)
JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
JOIN pg_catalog.pg_attribute fa ON fa.attrelid = k.confrelid AND fa.attnum = pair.other
WHERE k.contype = 'f' AND k.conparentid = 0
ORDER BY k.conrelid, k.oid, pair.place
"""


def read_schema(connection: psycopg.Connection[tuple[Any, ...]]) -> Schema:
    """Return all that the role may read, without the server's own schemas.

    The key of a table is its name, and `schema.table` outside the session's first schema; all
    folded. Where two names differ in their letters' case only, the second keeps its case.
    """
    first = _first_schema(connection)
    keys: dict[int, str] = {}
    tables: dict[str, dict[str, str]] = {}
    columns: dict[tuple[int, str], str] = {}
    for schema, table, column, kind, oid in connection.execute(_TABLES):
        if oid not in keys:
            name = table if schema == first else f"{schema}.{table}"
            keys[oid] = _free(name, tables)
            tables[keys[oid]] = {}
        if column is not None:
            key = _free(column, tables[keys[oid]])
            columns[oid, column] = key
            tables[keys[oid]][key] = kind
    foreign_keys = tuple(
        ForeignKey(
            table=keys[oid],
            column=columns[oid, column],
            to_table=keys[other],
            to_column=columns[other, to_column],
        )
        for oid, column, other, to_column in connection.execute(_KEYS)
        if (oid, column) in columns and (other, to_column) in columns
    )
    return Schema(tables=tables, foreign_keys=foreign_keys)


def _first_schema(connection: psycopg.Connection[tuple[Any, ...]]) -> str | None:
    row = connection.execute("SELECT current_schema()").fetchone()
    return None if row is None else row[0]


def _free(name: str, taken: dict[str, Any]) -> str:
    return name if folded(name) in taken else folded(name)
