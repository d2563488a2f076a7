"""Advice to an agent after an error, an empty result or a repeated query (ours).

Advice names tables and columns of the schema, never a row. Without it, small models send a failing
query again or give up.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sentinel_sql.database.unknown_names import unknown_name
from sentinel_sql.schema import Schema, folded
from sentinel_sql.trajectory.record import Observation

MOST_NAMED = 40
"""Most tables that one line of advice names (our choice)."""

LAST_TURN = "This is your last turn: answer with FINAL_SQL: <query> or FINAL: null."


def advice(observation: Observation, *, repeated: bool, schema: Schema) -> str | None:
    """Return one line of advice after a step that committed to nothing, or None.

    Args:
        observation: observation of the step.
        repeated: True if the same query was sent before.
        schema: schema of the database.
    """
    if observation.kind == "error":
        return _after_error(observation.error or "", schema, repeated=repeated)
    if observation.kind == "empty":
        return "Nothing is stored like that. Look the name up by one shorter word."
    if repeated:
        return "You know this result. If it answers the question, send its query as FINAL_SQL."
    return None


def _after_error(error: str, schema: Schema, *, repeated: bool) -> str:
    unknown = unknown_name(error)
    if unknown is not None and unknown.kind == "column":
        name = folded(unknown.name)
        holders = [table for table, columns in schema.tables.items() if name in columns]
        if not holders:
            return f"Change the query: nothing has {name}."
        written = schema.sql_of_column(holders[0], name)
        return f"Change the query: {written} is a column of {_named(holders[:MOST_NAMED], schema)}."
    if unknown is not None:
        if len(schema.tables) <= MOST_NAMED:
            return f"Change the query: the tables are {_named(list(schema.tables), schema)}."
        near = get_close_matches(folded(unknown.name), schema.tables, n=5, cutoff=0.4)
        said = f"; similar ones are {_named(near, schema)}" if near else ""
        return f"Change the query: there is no such table{said}."
    if repeated:
        return "The same query fails again: change it."
    return "Change the query: use the tables and columns listed above, no others."


def _named(tables: Sequence[str], schema: Schema) -> str:
    return ", ".join(map(schema.sql_of_table, tables))
