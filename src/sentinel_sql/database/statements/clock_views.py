"""Refuses views of a database that ask for the machine's time."""

from __future__ import annotations

from collections.abc import Set

from sqlglot import exp

from sentinel_sql.database.statements.rules import name_of
from sentinel_sql.database.statements.statement import RefusedError, Statement
from sentinel_sql.schema import folded


def check_views(
    statement: Statement, views: Set[tuple[str, str]], *, any_case: bool = False
) -> None:
    """Check that a statement reads none of these views.

    Args:
        statement: one that may run.
        views: (schema, view), with the schema "" where SQL needs none.
        any_case: whether the database doesn't tell letters by their case, not even in quotes;
            the views' names are folded then.

    Raises:
        RefusedError: it reads one.
    """
    if not views:
        return
    for table in statement.tree.find_all(exp.Table):
        place, view = name_of(table.args.get("db")), name_of(table.this)
        name = (folded(place), folded(view)) if any_case else (place, view)
        if name in views:
            raise RefusedError(
                f"not allowed: view {table.name} asks for the machine's time; query its tables"
            )
