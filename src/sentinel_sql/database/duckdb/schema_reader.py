"""Reads a DuckDB file's tables, columns, keys and comments, and which views ask for the time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from typing import Final, TypeAlias

from sentinel_sql.database.executor import Cell
from sentinel_sql.schema import ForeignKey, Schema, folded, written

Rows: TypeAlias = Callable[[str], tuple[tuple[Cell, ...], ...]]
"""Called with (query); returns its rows."""

_TABLES: Final = """
SELECT schema_name, table_name, comment FROM (
  SELECT schema_name, table_name, comment, table_oid AS oid FROM duckdb_tables()
  WHERE NOT internal AND database_name = current_database()
  UNION ALL
  SELECT schema_name, view_name, comment, view_oid FROM duckdb_views()
  WHERE NOT internal AND database_name = current_database())
ORDER BY schema_name <> 'main', schema_name, oid
"""
_COLUMNS: Final = """
SELECT schema_name, table_name, column_name, data_type, comment FROM duckdb_columns()
WHERE NOT internal AND database_name = current_database()
ORDER BY schema_name, table_oid, column_index
"""
_KEYS: Final = """
SELECT schema_name, table_name, constraint_type, unnest(constraint_column_names),
  referenced_table, unnest(referenced_column_names)
FROM duckdb_constraints()
WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
ORDER BY schema_name, table_oid, constraint_index
"""
_RESERVED: Final = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"

_DEFINITIONS: Final = """
SELECT 'view', schema_name, view_name, sql, current_database() FROM duckdb_views()
WHERE NOT internal AND database_name = current_database()
UNION ALL
SELECT 'macro', schema_name, function_name, macro_definition, current_database()
FROM duckdb_functions()
WHERE NOT internal AND database_name = current_database() AND macro_definition IS NOT NULL
"""
_ASKS: Final = re.compile(
    r'\b"?(?:now|transaction_timestamp|get_current_timestamp|get_current_time|today|'
    r'current_localtimestamp|current_localtime|ago|uuidv7)"?\s*\('
    r"|\bcurrent_(?:date|time|timestamp)\b|\blocaltime(?:stamp)?\b"
    r'|\b"?age"?\s*\([^,()]*(?:\([^()]*\)[^,()]*)*\)',
    re.IGNORECASE,
)
"""How a definition asks for the current time. In doubt it is one that asks."""

_BARE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_schema(rows: Rows) -> Schema:
    """Return the tables and views of the file, names folded.

    A table's key is its name, or `schema.table` outside the schema `main`.
    """
    reserved = {str(word).lower() for (word,) in rows(_RESERVED)}

    def as_sql(name: Cell) -> str:
        text = str(name)
        if _BARE.fullmatch(text) and text.lower() not in reserved:
            return text
        return '"{}"'.format(text.replace('"', '""'))

    tables: dict[str, dict[str, str]] = {}
    table_sql: dict[str, str] = {}
    table_comments: dict[str, str] = {}
    for schema, name, comment in rows(_TABLES):
        key = _key(schema, name)
        tables[key] = {}
        sql = as_sql(name) if schema == "main" else f"{as_sql(schema)}.{as_sql(name)}"
        if folded(sql) != written(key):
            table_sql[key] = sql
        if comment:
            table_comments[key] = str(comment)
    column_sql: defaultdict[str, dict[str, str]] = defaultdict(dict)
    column_comments: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for schema, name, column, kind, comment in rows(_COLUMNS):
        table, key = _key(schema, name), folded(str(column))
        if table not in tables:
            continue
        tables[table][key] = str(kind)
        if folded(sql := as_sql(column)) != written(key) or (sql[0] == '"' and sql != written(key)):
            column_sql[table][key] = sql
        if comment:
            column_comments[table][key] = str(comment)
    primary: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    foreign: list[ForeignKey] = []
    for schema, name, kind, column, other, to_column in rows(_KEYS):
        table, key = _key(schema, name), folded(str(column))
        if kind == "PRIMARY KEY":
            primary[table] += (key,)
        else:
            foreign.append(
                ForeignKey(
                    table=table,
                    column=key,
                    to_table=_key(schema, other),
                    to_column=folded(str(to_column)),
                )
            )
    return Schema(
        tables=tables,
        foreign_keys=tuple(foreign),
        primary_keys=dict(primary),
        table_sql=table_sql,
        column_sql=dict(column_sql),
        table_comments=table_comments,
        column_comments=dict(column_comments),
    )


def views_with_clock(rows: Rows) -> frozenset[tuple[str, str]]:
    """Return (schema, view) of each view that asks for the time, itself or through others.

    All names are folded. A view of the schema `main` is there with the schema "", and with the
    database's name as its schema, as well.
    """
    definitions: dict[tuple[str, str, str, str], str] = {}
    for kind, schema, name, sql, database in rows(_DEFINITIONS):
        key = (str(kind), folded(str(schema)), folded(str(name)), folded(str(database)))
        definitions[key] = f"{definitions.get(key, '')} {sql!s}"
    asking = _closure(definitions)
    return frozenset(
        (place, name)
        for kind, schema, name, database in asking
        if kind == "view"
        for place in ([schema, "", database] if schema == "main" else [schema])
    )


def _closure(
    definitions: Mapping[tuple[str, str, str, str], str],
) -> Set[tuple[str, str, str, str]]:
    asking = {key for key, sql in definitions.items() if _ASKS.search(_body(sql))}
    while True:
        names = {name for _, _, name, _ in asking}
        more = {
            key
            for key, sql in definitions.items()
            if key not in asking and any(_mentions(_body(sql), name) for name in names)
        }
        if not more:
            return asking
        asking |= more


def _body(sql: str) -> str:
    """Return what stands behind the first AS of a definition, or all of it."""
    return re.split(r"\bAS\b", sql, maxsplit=1, flags=re.IGNORECASE)[-1]


def _mentions(sql: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded(sql)) is not None


def _key(schema: Cell, name: Cell) -> str:
    return folded(str(name) if schema == "main" else f"{schema!s}.{name!s}")
