"""Advice to an agent after an error, an empty result or a repeated query (ours).

Advice names tables and columns of the schema, never a row. Without it, small models send a failing
query again or give up.
"""

from __future__ import annotations

import re

from sentinel_sql.schema import Schema, folded, written
from sentinel_sql.trajectory.record import Observation

_NO_COLUMN = re.compile(r"no such column: (?:\w+\.)?(\w+)")
_NO_TABLE = re.compile(r"no such table: (\w+)")

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
    column, table = _NO_COLUMN.search(error), _NO_TABLE.search(error)
    if column is not None:
        name = folded(column.group(1))
        holders = [table for table, columns in schema.tables.items() if name in columns]
        where = (
            f"{name} is a column of {', '.join(map(written, holders))}"
            if holders
            else f"nothing has {name}"
        )
        return f"Change the query: {where}."
    if table is not None:
        return f"Change the query: the tables are {', '.join(map(written, schema.tables))}."
    if repeated:
        return "The same query fails again: change it."
    return "Change the query: use the tables and columns listed above, no others."
