"""The tools that run SQL, their arguments with SQL, and the tools that end a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.formats.events import ToolCall, clean

SQL_TOOLS = frozenset(
    {"run_sql", "run_sql_query", "run_query", "sql", "sql_query", "sql_db_query", "query_sql",
     "query_sql_db", "query_database", "query_db", "execute_sql", "execute_sql_query",
     "execute_query", "database_query", "db_query", "sqlite_query", "read_query"}
)  # fmt: skip
"""Common names of tools that run SQL, for any text of the argument."""

CHECKERS = frozenset(
    {"sql_db_query_checker", "query_checker", "query_sql_checker", "check_sql", "check_query",
     "validate_sql", "validate_query", "explain_query", "format_sql"}
)  # fmt: skip
"""Common names of tools that get a query but don't run it."""

FINAL_TOOLS = frozenset(
    {"final_answer", "submit_answer", "submit_final_answer", "final_result", "submit",
     "submit_sql", "final_sql", "provide_final_answer", "finish", "answer", "attempt_completion"}
)  # fmt: skip
"""Common names of tools that end a run."""

ARGUMENTS = (
    "query", "sql", "sql_query", "statement", "sql_statement", "command", "code", "input",
    "__arg1", "final_sql",
)  # fmt: skip
"""Names of arguments that hold SQL, the most likely first."""

_SQL = re.compile(
    r"\s*+(?:--[^\n]*\n\s*+|(?>/\*.*?\*/)\s*+|\(\s*+)*+(?:(?:SELECT|WITH|VALUES|PRAGMA|EXPLAIN|INSERT|UPDATE"
    r"|DELETE|CREATE|DROP|ALTER)\s|SHOW\s+(?:TABLES|COLUMNS|DATABASES|SCHEMAS|CREATE)\b"
    r"|DESC(?:RIBE)?\s+[\w.]+\s*;?\s*\Z)",
    re.IGNORECASE | re.DOTALL,
)
_FENCE = re.compile(r"\A\s*```(?:sql|sqlite)?\s*\n?(.*?)\n?```\s*\Z", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The tools of an agent.

    Attributes:
        sql: name → the argument with its SQL, or None for the usual ones. If empty: the tools of
            `SQL_TOOLS`, and any other tool except `CHECKERS` that gets a text like SQL.
        final: names of tools that end a run.
    """

    sql: Mapping[str, str | None] = field(default_factory=dict)
    final: frozenset[str] = FINAL_TOOLS


def tools(sql: tuple[str, ...] = (), final: tuple[str, ...] = ()) -> Tools:
    """Return the tools of an agent.

    Args:
        sql: `NAME` or `NAME:ARGUMENT` of each tool; they replace the common names.
        final: further names of tools that end a run.

    Raises:
        InputError: a name is blank.
    """
    named: dict[str, str | None] = {}
    for stated in sql:
        name, _, argument = stated.partition(":")
        named[name.strip()] = argument.strip() or None
    if "" in named or any(not name.strip() for name in final):
        raise InputError("a tool's name is blank; give NAME, or NAME:ARGUMENT for an SQL tool")
    return Tools(sql=named, final=FINAL_TOOLS | {name.strip() for name in final})


def ends_run(call: ToolCall, known: Tools) -> bool:
    """Return whether a call ends the run."""
    named = {bare_name(name) for name in known.final}
    return call.name in known.final or bare_name(call.name) in named


def query_of(call: ToolCall, known: Tools) -> str | None:
    """Return the SQL that a call runs, or None."""
    arguments, name = arguments_of(call), bare_name(call.name)
    if known.sql:
        stated = next(
            (one for one in known.sql if one == call.name or bare_name(one) == name), None
        )
        return None if stated is None else _any_text(arguments, known.sql[stated])
    if name in CHECKERS:
        return None
    return query_in(arguments) or (_any_text(arguments, None) if name in SQL_TOOLS else None)


def query_in(arguments: Any) -> str | None:
    """Return the text among arguments that begins like SQL, or None."""
    if isinstance(arguments, str):
        return _like_sql(arguments)
    if not isinstance(arguments, Mapping):
        return None
    named = [arguments[key] for key in ARGUMENTS if key in arguments]
    return next((sql for sql in map(_like_sql, [*named, *arguments.values()]) if sql), None)


def arguments_of(call: ToolCall) -> Any:
    """Return a call's arguments; JSON text is parsed."""
    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        return json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return call.arguments


def bare_name(name: str) -> str:
    """Return a tool's name as `lower_case`, without the server or module that it stands in."""
    own = re.split(r"__|[./:]", name)[-1].strip()
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", own).lower()


def _any_text(arguments: Any, argument: str | None) -> str | None:
    if isinstance(arguments, str):
        return _bare(arguments)
    if not isinstance(arguments, Mapping):
        return None
    if argument is not None:
        return _bare(arguments.get(argument))
    named = [arguments[key] for key in ARGUMENTS if key in arguments]
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return next(
        (sql for sql in map(_bare, [*named, *(texts if len(texts) == 1 else [])]) if sql), None
    )


def _like_sql(value: Any) -> str | None:
    bare = _bare(value)
    return bare if bare is not None and _SQL.match(bare) else None


def _bare(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    fenced = _FENCE.match(value)
    return clean(fenced[1] if fenced else value).strip() or None
