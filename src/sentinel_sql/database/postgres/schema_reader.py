"""Reads what a role may read of a PostgreSQL database: tables, views, columns, keys, comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from typing import Any, Final

import psycopg

from sentinel_sql.schema import ForeignKey, Schema, folded, written

_TABLES: Final = """
SELECT c.oid, n.nspname, c.relname, quote_ident(n.nspname), quote_ident(c.relname), t.description
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_description t
  ON t.classoid = 'pg_catalog.pg_class'::regclass AND t.objoid = c.oid AND t.objsubid = 0
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE')
  AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
  AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname <> coalesce(%s, ''), n.nspname, c.oid
"""
"""A partition is read through its parent; tables of extensions aren't the user's."""

_FIRST_SCHEMA: Final = """
SELECT name FROM unnest(current_schemas(false)) WITH ORDINALITY AS path(name, place)
WHERE name !~ '^pg_' ORDER BY place LIMIT 1
"""

_COLUMNS: Final = """
SELECT a.attrelid, a.attnum, a.attname, quote_ident(a.attname),
  format_type(a.atttypid, a.atttypmod), t.description
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_description t
  ON t.classoid = 'pg_catalog.pg_class'::regclass AND t.objoid = a.attrelid
  AND t.objsubid = a.attnum
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum
"""

_KEYS: Final = """
SELECT contype, conrelid, conkey, confrelid, confkey
FROM pg_catalog.pg_constraint
WHERE contype IN ('p', 'f') AND conparentid = 0 AND conrelid = ANY(%s)
ORDER BY conrelid, oid
"""


def read_schema(connection: psycopg.Connection[tuple[Any, ...]]) -> Schema:
    """Return all that the role may read, without the server's own schemas.

    A table's key is its name, or `schema.table` outside the session's first schema, folded. Where
    two names differ by the case of their letters only, the second keeps its case as a key.

    Raises:
        psycopg.Error: the catalog can't be read.
    """
    first = _one(connection, _FIRST_SCHEMA)
    keys: dict[int, str] = {}
    tables: dict[str, dict[str, str]] = {}
    table_sql: dict[str, str] = {}
    comments: dict[str, str] = {}
    for oid, schema, name, schema_sql, name_sql, comment in connection.execute(_TABLES, (first,)).fetchall():
        away = schema != first
        key = keys[oid] = _free(f"{schema}.{name}" if away else name, tables)
        tables[key] = {}
        sql = f"{schema_sql}.{name_sql}" if away else name_sql
        if sql != written(key):
            table_sql[key] = sql
        if comment:
            comments[key] = comment
    columns: dict[tuple[int, int], str] = {}
    column_sql: defaultdict[str, dict[str, str]] = defaultdict(dict)
    column_comments: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for oid, number, name, sql, kind, comment in connection.execute(
        _COLUMNS, (list(keys),)
    ).fetchall():
        table = keys[oid]
        key = columns[oid, number] = _free(name, tables[table])
        tables[table][key] = kind
        if sql != written(key):
            column_sql[table][key] = sql
        if comment:
            column_comments[table][key] = comment
    primary_keys, foreign_keys = _read_keys(connection, keys, columns)
    return Schema(
        tables=tables,
        foreign_keys=foreign_keys,
        primary_keys=primary_keys,
        table_sql=table_sql,
        column_sql=dict(column_sql),
        table_comments=comments,
        column_comments=dict(column_comments),
    )


def _read_keys(
    connection: psycopg.Connection[tuple[Any, ...]],
    tables: dict[int, str],
    columns: dict[tuple[int, int], str],
) -> tuple[dict[str, tuple[str, ...]], tuple[ForeignKey, ...]]:
    """Return primary and foreign keys, without those of columns that the role may not read."""
    primary: dict[str, tuple[str, ...]] = {}
    foreign: list[ForeignKey] = []
    for kind, oid, own, other, others in connection.execute(_KEYS, (list(tables),)).fetchall():
        if any((oid, number) not in columns for number in own):
            continue
        if kind == "p":
            primary[tables[oid]] = tuple(columns[oid, number] for number in own)
        elif all((other, number) in columns for number in others):
            foreign += [
                ForeignKey(
                    table=tables[oid],
                    column=columns[oid, number],
                    to_table=tables[other],
                    to_column=columns[other, to_number],
                )
                for number, to_number in zip(own, others, strict=True)
            ]
    return primary, tuple(foreign)


def _one(connection: psycopg.Connection[tuple[Any, ...]], query: str) -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]


def _free(name: str, taken: Container[str]) -> str:
    return name if folded(name) in taken else folded(name)
