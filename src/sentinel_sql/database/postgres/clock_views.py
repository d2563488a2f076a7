"""Finds the views of a PostgreSQL database that ask for the current time, which nobody can set."""

from __future__ import annotations

import re
from typing import Any, Final

import psycopg

_VIEWS: Final = """
SELECT c.oid, n.nspname, c.relname, pg_table_is_visible(c.oid), pg_get_viewdef(c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
"""

_USES: Final = """
SELECT DISTINCT r.ev_class, d.refobjid
FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass
  AND d.refclassid = 'pg_catalog.pg_class'::regclass AND r.ev_class <> d.refobjid
"""

_ASKS: Final = re.compile(
    r"\b(?:now|transaction_timestamp|statement_timestamp|clock_timestamp|timeofday)\(\)"
    r"|\b(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME|LOCALTIMESTAMP)\b"
    r"|\bage\([^,()]*(?:\([^()]*\)[^,()]*)*\)"
    r"|'\s*(?:now|today|tomorrow|yesterday)\b[\d\s:.+\-]*'::",
    re.IGNORECASE,
)
"""How PostgreSQL itself writes these in a view's definition. In doubt it is one that asks."""


def views_with_clock(connection: psycopg.Connection[tuple[Any, ...]]) -> frozenset[tuple[str, str]]:
    """Return (schema, view) of each view that asks for the time, itself or through another view.

    A view that is found without its schema is there with the schema "" as well.

    Raises:
        psycopg.Error: the catalog can't be read.
    """
    views = connection.execute(_VIEWS).fetchall()
    asking = {oid for oid, *_, definition in views if _ASKS.search(definition)}
    uses = connection.execute(_USES).fetchall() if asking else []
    while more := {view for view, used in uses if used in asking} - asking:
        asking |= more
    return frozenset(
        (place, name)
        for oid, schema, name, visible, _ in views
        if oid in asking
        for place in ([schema, ""] if visible else [schema])
    )
