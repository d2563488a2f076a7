"""The hospital's tables as PostgreSQL and DuckDB declare them, with comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sentinel_sql.hospital import schema
from sentinel_sql.hospital.copies.comments import COLUMN_COMMENTS, TABLE_COMMENTS
from sentinel_sql.sql_tree import parse_one


@dataclass(frozen=True, kw_only=True, slots=True)
class Declarations:
    """The statements that make a hospital.

    Attributes:
        tables: table → CREATE TABLE, each after the tables that it refers to.
        after: the statements that follow once the tables are filled.
    """

    tables: Mapping[str, str]
    after: tuple[str, ...]


def declarations(dialect: str) -> Declarations:
    """Return the statements for `postgres` or `duckdb`.

    Texts are compared by their bytes, as in SQLite. PostgreSQL declares every key of the SQLite
    file, those of `cost.event_id` without a check, since each holds for some rows only. DuckDB
    checks every key, so that it declares all but those.
    """
    created: dict[str, str] = {}
    refers: dict[str, list[str]] = {}
    after: list[str] = []
    for statement in schema.ddl():
        tree = parse_one(statement)
        table = tree.find(exp.Table).name  # type: ignore[union-attr]
        loose = [key for key in tree.find_all(exp.ForeignKey) if _is_loose(table, key)]
        for key in loose:
            key.pop()
        for kind in list(tree.find_all(exp.DataType)):
            if dialect == "postgres" and kind.is_type("varchar"):
                _column_of(kind).append("constraints", _by_bytes())
            # SQLite doesn't bound a text by its declared length, and some codes are longer
            kind.set("expressions", None)
        created[table] = tree.sql(dialect=dialect)
        references = tree.find_all(exp.Reference)
        refers[table] = [reference.find(exp.Table).name for reference in references]  # type: ignore[union-attr]
        if dialect == "postgres":
            after += [
                f"ALTER TABLE {table} ADD {key.sql(dialect=dialect)} NOT VALID" for key in loose
            ]
    order: dict[str, str] = {}

    def place(table: str) -> None:
        for other in refers[table]:
            place(other)
        order[table] = created[table]

    for table in created:
        place(table)
    return Declarations(tables=order, after=(*after, *_comments()))


def _is_loose(table: str, key: exp.ForeignKey) -> bool:
    return table == "cost" and key.expressions[0].name == "event_id"


def _column_of(kind: exp.DataType) -> exp.ColumnDef:
    column = kind.parent
    assert isinstance(column, exp.ColumnDef)  # noqa: S101 (the statements are our own)
    return column


def _by_bytes() -> exp.ColumnConstraint:
    return exp.ColumnConstraint(
        kind=exp.CollateColumnConstraint(this=exp.to_identifier("C", quoted=True))
    )


def _comments() -> Iterator[str]:
    for table, comment in TABLE_COMMENTS.items():
        yield f"COMMENT ON TABLE {table} IS {_text(comment)}"
    for table, columns in COLUMN_COMMENTS.items():
        for column, comment in columns.items():
            yield f"COMMENT ON COLUMN {table}.{column} IS {_text(comment)}"


def _text(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"
