"""The syntax tree of a query, parsed once for all parts of a monitor.

SQL that can't be parsed is None, and so is SQL that is longer or nested deeper than the limits
here. It contributes to no feature.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.sql_tree import known_dialect, parse_one

LONGEST_QUERY = 20_000
"""Characters of a query that is still parsed; ours: bounds the parser's time on hostile SQL."""

MOST_BRACKETS = 200
"""Opening brackets of a query that is still parsed; ours: bounds the parser's depth."""

_QUERY = re.compile(r"\s*(?:\(\s*)*(?:select|with|values)\b", re.IGNORECASE)
_STARTS = {"duckdb": re.compile(r"\s*(?:\(\s*)*(?:select|with|values|from)\b", re.IGNORECASE)}
"""How a query begins in a dialect where it can also begin otherwise."""


@lru_cache(maxsize=64)
def parse_query(sql: str, dialect: str | None = None) -> exp.Query | None:
    """Parse one SQL text; None if it isn't a readable query. Don't change the tree: it is shared.

    `dialect` is sqlglot's name; None reads SQLite's SQL, and so does a name that sqlglot doesn't
    know. A small cache is enough: it serves the features of the newest step, and repeated queries.
    """
    begins = _STARTS.get(dialect or "", _QUERY)
    if len(sql) > LONGEST_QUERY or sql.count("(") > MOST_BRACKETS or not begins.match(sql):
        return None
    try:
        query = parse_one(sql, dialect=known_dialect(dialect))
    except (SqlglotError, RecursionError):
        return None
    return query if isinstance(query, exp.Query) else None
