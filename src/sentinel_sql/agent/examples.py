"""Makes worked examples from a schema, so that every database has fitting ones.

They show the form of a run, and that a stored spelling is looked up before it is used. No rows of
the database are read.
"""

from __future__ import annotations

from sentinel_sql.database.unknown_names import unknown_column_error
from sentinel_sql.schema import Schema

_TYPICAL_NAMES = ("title", "label", "name", "drug", "description", "type", "category")
_TEXT_TYPES = ("char", "text", "string", "clob")
_TIME_TYPES = ("time", "date")
# Subject of the unanswerable example: the first that is in no column name.
_ABSENT = (("phone number", "phone"), ("shoe size", "shoe"), ("favourite colour", "colo"))


def worked_examples(schema: Schema, clock: str, dialect: str = "sqlite") -> tuple[str, ...]:
    """Return up to five examples: a lookup, a correction, times, an abstention.

    Other dialects than SQLite's, whose functions of time models mix up with them, get one more
    example of a time.
    """
    found = (
        _look_first(schema, dialect),
        _join(schema, dialect),
        _this_year(schema, clock),
        None if dialect == "sqlite" else _month(schema, clock),
        _absent(schema),
    )
    return tuple(example for example in found if example is not None)


def _look_first(schema: Schema, dialect: str) -> str | None:
    place = _text_column(schema)
    if place is None:
        return None
    table, column = _written(schema, place)
    like = "LIKE" if dialect == "sqlite" else "ILIKE"
    return f"""\
QUESTION: How many rows of {table} have the {column} sample b?
THOUGHT: The stored spelling is unknown; look first.
SQL: SELECT DISTINCT {column} FROM {table} WHERE {column} {like} '%sample%' LIMIT 5
RESULT: 2 rows x 1 cols; sample [['sample a, old'], ['sample b, new']]
THOUGHT: It is stored as 'sample b, new'.
FINAL_SQL: SELECT COUNT(*) FROM {table} WHERE {column} = 'sample b, new'"""  # noqa: S608 (words for a model; nothing runs them)


def _join(schema: Schema, dialect: str) -> str | None:
    """Return an example of a query corrected after an error: the column is in another table."""
    place = _text_column(schema)
    for key in schema.foreign_keys:
        if place is None or place[0] != key.to_table or key.table == key.to_table:
            continue
        if place[1] in schema.tables.get(key.table, {}):
            continue
        table, column = _written(schema, place)
        other, by = _written(schema, (key.table, key.column))
        to = schema.sql_of_column(key.to_table, key.to_column)
        return f"""\
QUESTION: How many rows of {other} belong to the {column} sample b, new?
THOUGHT: Count the rows of {other}.
FINAL_SQL: SELECT COUNT(*) FROM {other} WHERE {column} = 'sample b, new'
RESULT: ERROR: {unknown_column_error(place[1], dialect)}
THOUGHT: {column} is in {table}; {other} refers to it by {by}.
FINAL_SQL: SELECT COUNT(*) FROM {other} WHERE {by} IN \
(SELECT {to} FROM {table} WHERE {column} = 'sample b, new')"""  # noqa: S608
    return None


def _this_year(schema: Schema, clock: str) -> str | None:
    place = _time_column(schema)
    if place is None:
        return None
    table, column = _written(schema, place)
    return f"""\
QUESTION: When was the first {column} in {table} this year?
THOUGHT: This year is {clock[:4]}, by the database's time.
FINAL_SQL: SELECT MIN({column}) FROM {table} WHERE {column} >= '{clock[:4]}-01-01'"""  # noqa: S608


def _month(schema: Schema, clock: str) -> str | None:
    place = _time_column(schema)
    if place is None:
        return None
    table, column = _written(schema, place)
    return f"""\
QUESTION: How many rows of {table} have their {column} in March of last year?
THOUGHT: Last year is {int(clock[:4]) - 1}, by the database's time; compare year and month.
FINAL_SQL: SELECT COUNT(*) FROM {table} WHERE EXTRACT(YEAR FROM {column}) = {int(clock[:4]) - 1} \
AND EXTRACT(MONTH FROM {column}) = 3"""  # noqa: S608


def _time_column(schema: Schema) -> tuple[str, str] | None:
    """Return a column of times, rather one such as admittime than a date of birth."""
    times = [
        (table, column)
        for table, columns in schema.tables.items()
        for column, kind in columns.items()
        if any(word in kind.lower() for word in _TIME_TYPES)
        and not kind.lower().startswith(("time with", "interval"))
    ]
    typical = (place for place in times if any(word in place[1] for word in _TIME_TYPES))
    return next(typical, times[0] if times else None)


def _written(schema: Schema, place: tuple[str, str]) -> tuple[str, str]:
    return schema.sql_of_table(place[0]), schema.sql_of_column(*place)


def _absent(schema: Schema) -> str | None:
    columns = " ".join(column for table in schema.tables.values() for column in table)
    for asked, word in _ABSENT:
        if word not in columns:
            return f"""\
QUESTION: What is the {asked} of the person seen last?
THOUGHT: No table and no column is about a {asked}.
FINAL: null"""
    return None


def _text_column(schema: Schema) -> tuple[str, str] | None:
    """Return a text column, if possible with a typical name in a table that others refer to."""
    referred = {key.to_table for key in schema.foreign_keys}
    best: tuple[int, str, str] | None = None
    for table, columns in schema.tables.items():
        for column, kind in columns.items():
            if not any(word in kind.lower() for word in _TEXT_TYPES) or column.endswith("id"):
                continue
            typical = [at for at, word in enumerate(_TYPICAL_NAMES) if word in column]
            rank = (typical[0] if typical else len(_TYPICAL_NAMES)) - 20 * (table in referred)
            if best is None or rank < best[0]:
                best = (rank, table, column)
    return best[1:] if best else None
