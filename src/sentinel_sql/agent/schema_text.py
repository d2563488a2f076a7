"""The tables of a database as an agent is shown them, all of them or those that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from sentinel_sql.errors import InputError
from sentinel_sql.schema import Schema, folded

LONGEST_COMMENT = 120
"""Characters of a comment that are shown (our choice)."""

_DEFAULT_SCHEMAS = ("public", "main")


def describe(schema: Schema) -> str:
    """Return the schema as text: lines `table(column, …)`, then `table.column -> table.column`.

    Names are written as SQL has to write them. Comments follow their table, where there are any:
    the table's after ` -- `, those of its columns on a line of their own.
    """
    lines = [line for table in schema.tables for line in _table(schema, table)]
    if schema.foreign_keys:
        lines.append("Joins:")
        lines += [
            f"{schema.sql_of_table(key.table)}.{schema.sql_of_column(key.table, key.column)} -> "
            f"{schema.sql_of_table(key.to_table)}."
            f"{schema.sql_of_column(key.to_table, key.to_column)}"
            for key in schema.foreign_keys
        ]
    return "\n".join(lines)


def shown_schema(
    schema: Schema, *, tables: Sequence[str] = (), within: str | None = None
) -> Schema:
    """Return the part of a schema that an agent is to be shown.

    Args:
        schema: the whole schema.
        tables: names of tables, as keys or as SQL writes them; none for all.
        within: the name of a database schema, such as `public`, whose tables are shown; None for
            those of all.

    Raises:
        InputError: there is no such table or database schema.
    """
    kept = list(schema.tables)
    if within is not None:
        kept = _within(schema, folded(within.strip()))
    if tables:
        known = {folded(schema.sql_of_table(table)): table for table in kept}
        known |= {table: table for table in kept}
        if within is not None:
            known |= {table.partition(".")[2]: table for table in kept if "." in table}
        kept = [_known(name, known) for name in dict.fromkeys(map(str.strip, tables)) if name]
    if len(kept) == len(schema.tables):
        return schema
    return replace(
        schema,
        tables={table: columns for table, columns in schema.tables.items() if table in set(kept)},
        foreign_keys=tuple(
            key for key in schema.foreign_keys if key.table in kept and key.to_table in kept
        ),
    )


def _within(schema: Schema, name: str) -> list[str]:
    found = [table for table in schema.tables if table.startswith(f"{name}.")]
    if not found and name in _DEFAULT_SCHEMAS:
        found = [table for table in schema.tables if "." not in table]
    if not found:
        others = sorted({table.partition(".")[0] for table in schema.tables if "." in table})
        raise InputError(
            f"no table is in a schema {name!r}: "
            + (f"choose one of {', '.join(others[:10])}" if others else "leave out --schema")
        )
    return found


def _known(name: str, known: dict[str, str]) -> str:
    key = known.get(folded(name))
    if key is None:
        near = get_close_matches(folded(name), known, n=1)
        raise InputError(
            f"there is no table {name!r} to show: "
            + (f"did you mean {near[0]}?" if near else "give names of the database's tables")
        )
    return key


def _table(schema: Schema, table: str) -> Iterator[str]:
    columns = schema.tables[table]
    names = ", ".join(schema.sql_of_column(table, column) for column in columns)
    comment = _comment(schema.table_comments.get(table, ""))
    yield f"{schema.sql_of_table(table)}({names})" + (f" -- {comment}" if comment else "")
    notes = [
        f"{schema.sql_of_column(table, column)}: {said}"
        for column, text in schema.column_comments.get(table, {}).items()
        if column in columns and (said := _comment(text))
    ]
    if notes:
        yield "  " + "; ".join(notes)


def _comment(text: str) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= LONGEST_COMMENT else f"{line[: LONGEST_COMMENT - 1]}…"
