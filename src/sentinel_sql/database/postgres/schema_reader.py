"""Reads what a role may read of a PostgreSQL database: tables, views, columns, keys, comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
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

    A table's key is its name, or `schema.table` outside the session's first schema, folded. Of two
    names that differ by the case of their letters only, one keeps its case as a key.

    Raises:
        psycopg.Error: the catalog can't be read.
    """
    first = _one(connection, _FIRST_SCHEMA)
    found = connection.execute(_TABLES, (first,)).fetchall()
    names = [name if schema == first else f"{schema}.{name}" for _, schema, name, *_ in found]
    keys = {row[0]: key for row, key in zip(found, keys_of(names), strict=True)}
    table_sql: dict[str, str] = {}
    for oid, schema, _, schema_sql, name_sql, _ in found:
        sql = name_sql if schema == first else f"{schema_sql}.{name_sql}"
        if sql != written(keys[oid]):
            table_sql[keys[oid]] = sql
    rows: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in connection.execute(_COLUMNS, (list(keys),)).fetchall():
        rows[row[0]].append(row[1:])
    columns: dict[tuple[int, int], str] = {}
    tables: dict[str, dict[str, str]] = {}
    column_sql: dict[str, dict[str, str]] = {}
    comments: dict[str, dict[str, str]] = {}
    for oid, table in keys.items():
        of_table = dict(zip(keys_of([row[1] for row in rows[oid]]), rows[oid], strict=True))
        columns |= {(oid, row[0]): key for key, row in of_table.items()}
        tables[table] = {key: row[3] for key, row in of_table.items()}
        column_sql[table] = {k: row[2] for k, row in of_table.items() if row[2] != written(k)}
        comments[table] = {key: row[4] for key, row in of_table.items() if row[4]}
    primary_keys, foreign_keys = _read_keys(connection, keys, columns)
    return Schema(
        tables=tables,
        foreign_keys=foreign_keys,
        primary_keys=primary_keys,
        table_sql=table_sql,
        column_sql={table: sql for table, sql in column_sql.items() if sql},
        table_comments={keys[oid]: text for oid, *_, text in found if text},
        column_comments={table: texts for table, texts in comments.items() if texts},
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


def keys_of(names: Sequence[str]) -> list[str]:
    """Return a key of its own for each of these different names: folded as far as that is free."""
    taken = {name for name in names if folded(name) == name}
    keys = []
    for name in names:
        key = name if folded(name) in taken else folded(name)
        taken.add(key)
        keys.append(key)
    return keys
