"""Converts a model's native tool calls with a query into the form of the prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sentinel_sql.agent.http_calls import parse_json
from sentinel_sql.agent.sql_text import looks_like_sql

_FINAL = re.compile(r"final|submit|answer|finish|commit", re.IGNORECASE)
_QUERY_KEYS = ("sql", "query", "sql_query", "final_sql", "statement", "code", "input")
_ABSTAINS = re.compile(r"\s*(?:null|none|n/a)?\s*\Z", re.IGNORECASE)


def calls_as_text(calls: Sequence[Any]) -> str:
    """Return the first call that holds a query, or an abstention, as `SQL: …` or the like.

    A tool gives the answer if its name says so (`final_sql`, `submit_answer`). Arguments are a
    JSON text, an object or the query itself. Empty if no call can be read. Never raises.
    """
    for call in calls:
        if not isinstance(call, Mapping):
            continue
        name = call.get("name")
        final = isinstance(name, str) and _FINAL.search(name) is not None
        arguments = _arguments(call.get("arguments", call.get("input")))
        query = _query(arguments)
        if query is not None:
            fence = "FINAL_SQL" if final else "SQL"
            return f"{fence}:\n```sql\n{query}\n```"
        if final and arguments is not _UNREAD and _is_null(arguments):
            return "FINAL: null"
    return ""


_UNREAD = object()


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value if looks_like_sql(value) else _UNREAD


def _query(arguments: Any) -> str | None:
    if isinstance(arguments, str):
        return arguments if looks_like_sql(arguments) else None
    if not isinstance(arguments, Mapping):
        return None
    named = [arguments[key] for key in _QUERY_KEYS if key in arguments]
    for value in [*named, *arguments.values()]:
        if isinstance(value, str) and looks_like_sql(value):
            return value.strip()
    return None


def _is_null(arguments: Any) -> bool:
    if isinstance(arguments, Mapping):
        keys = [key for key in (*_QUERY_KEYS, "answer", "result") if key in arguments]
        return bool(keys) and all(_is_null(arguments[key]) for key in keys)
    return arguments is None or (
        isinstance(arguments, str) and _ABSTAINS.match(arguments) is not None
    )
