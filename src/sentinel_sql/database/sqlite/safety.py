"""Decides which SQL may run: one statement that only reads and only calls safe functions (ours).

There are four layers, and each alone prevents most harm. The statement's first words must be on a
list here. SQLite's authorizer denies everything that isn't on another list. The connection only
reads (`query_only`). The file is opened read-only. Time and memory are bounded elsewhere, by the
process, the deadline and the limits.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence, Set

from sentinel_sql.database.sqlite.clock_calls import CLOCK_FUNCTION
from sentinel_sql.database.sqlite.sql_tokens import Token, tokenize
from sentinel_sql.schema import folded

_FUNCTIONS: Mapping[str, str] = {
    "aggregates and windows": "avg count cume_dist dense_rank first_value group_concat lag "
    "last_value lead max median min nth_value ntile percent_rank percentile percentile_cont "
    "percentile_disc rank row_number string_agg sum total",
    "choice and type": "coalesce if ifnull iif likelihood likely nullif subtype typeof unlikely",
    "text": "char concat concat_ws format glob hex instr length like lower ltrim match "
    "octet_length printf quote replace rtrim soundex substr substring trim unhex unicode unistr "
    "unistr_quote upper",
    "numbers": "abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp "
    "floor ln log log10 log2 mod pi pow power radians random round sign sin sinh sqrt tan tanh "
    "trunc",
    "time": "current_date current_time current_timestamp date datetime julianday strftime time "
    f"timediff unixepoch {CLOCK_FUNCTION}",
    "JSON": "-> ->> json json_array json_array_length json_error_position json_extract "
    "json_group_array json_group_object json_insert json_object json_patch json_pretty "
    "json_quote json_remove json_replace json_set json_type json_valid",
    "full-text search": "bm25 highlight matchinfo offsets snippet",
}
ALLOWED_FUNCTIONS: Set[str] = frozenset(
    name for names in _FUNCTIONS.values() for name in names.split()
)
"""Functions that only compute from their arguments. Left out on purpose are functions that load
code or touch files (`load_extension`, `readfile`, `writefile`, `edit`, `fts3_tokenizer`), that show
SQLite's internals (`sqlite_version`, `sqlite_log`, `changes`, …) or only make filler (`zeroblob`,
`randomblob`)."""

READ_PRAGMAS: Set[str] = frozenset(
    [
        *("table_info", "table_xinfo", "table_list", "foreign_key_list"),
        *("index_list", "index_info", "index_xinfo"),
    ]
)
"""Pragmas that describe the schema and change nothing; also as table-valued functions."""

READABLE_BUILT_INS: Set[str] = frozenset(
    {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "json_each", "json_tree"}
    | {f"pragma_{name}" for name in READ_PRAGMAS}
)
"""SQLite's own tables that may be read: the list of tables, their descriptions, and the two
table-valued functions of JSON. `dbstat`, `sqlite_dbpage` and the like are denied."""

LONGEST_SQL = 1_000_000
"""Longest statement in characters; a longer one is refused without a look at it."""

_READING = ("select", "values")
_WRITING = ("insert", "update", "delete", "replace")
_WITH_OBJECT = ("create", "drop", "alter")
_OBJECTS = ("table", "view", "index", "trigger")
_OTHERS = (
    *("analyze", "attach", "begin", "commit", "detach", "end", "pragma", "reindex", "release"),
    *("rollback", "savepoint", "vacuum"),
)
_SURELY_READS = re.compile(r"[ \t\n\r]*(?:select|values)\b", re.IGNORECASE)

_ACTIONS: Mapping[int, str] = {
    getattr(sqlite3, f"SQLITE_{name.replace(' ', '_')}"): name
    for name in (
        "ALTER TABLE",
        "ANALYZE",
        "ATTACH",
        "CREATE INDEX",
        "CREATE TABLE",
        "CREATE TEMP INDEX",
        "CREATE TEMP TABLE",
        "CREATE TEMP TRIGGER",
        "CREATE TEMP VIEW",
        "CREATE TRIGGER",
        "CREATE VIEW",
        "CREATE VTABLE",
        "DELETE",
        "DETACH",
        "DROP INDEX",
        "DROP TABLE",
        "DROP TEMP INDEX",
        "DROP TEMP TABLE",
        "DROP TEMP TRIGGER",
        "DROP TEMP VIEW",
        "DROP TRIGGER",
        "DROP VIEW",
        "DROP VTABLE",
        "INSERT",
        "PRAGMA",
        "REINDEX",
        "SAVEPOINT",
        "TRANSACTION",
        "UPDATE",
    )
}


_ONLY = "only a SELECT over the database's own tables may run"


class Gatekeeper:
    """SQLite's authorizer for one connection; it allows reading the database's own tables.

    `refusal` says why the current statement was denied, or is None.
    """

    def __init__(self) -> None:
        self._readable = READABLE_BUILT_INS
        self.refusal: str | None = None

    def allow(self, tables: Iterable[str]) -> None:
        """Also allow reading these tables."""
        self._readable |= {folded(name) for name in tables}

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        _schema: str | None,
        _source: str | None,
    ) -> int:
        """Return whether an action is allowed, with SQLite's arguments and codes."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            # Without a column, SQLite only counts rows or refers to a common table expression
            if not second or folded(first or "") in self._readable:
                return sqlite3.SQLITE_OK
            return self.refuse(f"table {first} may not be read")
        if action == sqlite3.SQLITE_FUNCTION:
            if second and second.lower() in ALLOWED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            return self.refuse(f"function {second} may not be called")
        if action == sqlite3.SQLITE_PRAGMA:
            # full-text search itself reads `data_version`
            if (first or "").lower() in READ_PRAGMAS or (first, second) == ("data_version", None):
                return sqlite3.SQLITE_OK
            return self.refuse(f"PRAGMA {first}; {_ONLY}")
        if action == sqlite3.SQLITE_UPDATE and first in ("sqlite_master", "sqlite_schema"):
            # no UPDATE gets as far as here: SQLite declares a virtual table that the query reads
            return self.refuse(f"a virtual table of SQLite's own may not be read; {_ONLY}")
        return self.refuse(f"{_ACTIONS.get(action, f'action {action}')}; {_ONLY}")

    def refuse(self, reason: str) -> int:
        """Note why the statement is refused, and deny the action."""
        # the first denial is the cause, later ones only follow from it
        if self.refusal is None:
            self.refusal = f"not allowed: {reason}"
        return sqlite3.SQLITE_DENY


def only_statement(sql: str) -> str | None:
    """Return the only statement of `sql` without trailing semicolons, or None if there are several.

    Comments, and semicolons within texts and names, don't count.
    """
    if ";" not in sql:
        return sql
    tokens = tokenize(sql)
    meant = [not _is_semicolon(token) for token in tokens]
    if True not in meant:
        return ""
    first = meant.index(True)
    end = meant.index(False, first) if False in meant[first:] else len(meant)
    return None if True in meant[end:] else sql[tokens[first].start : tokens[end - 1].end]


def forbidden(statement: str) -> str | None:
    """Return why a statement may not run, by its first words, or None if it may.

    An unknown first word is left to SQLite, which reports it.
    """
    if _SURELY_READS.match(statement):
        return None
    tokens = tokenize(statement)
    words = [token.text.lower() for token in tokens[:4]]
    if words[:1] == ["explain"]:
        tokens = tokens[3 if words[1:3] == ["query", "plan"] else 1 :]
        words = [token.text.lower() for token in tokens[:4]]
    first = words[0] if words else ""
    if first == "with":
        first = _main_verb(tokens)
    if first in _WITH_OBJECT:
        kinds = [word for word in words[1:] if word in _OBJECTS][:1]
        return f"not allowed: {' '.join([first, *kinds]).upper()}; {_ONLY}"
    if first == "pragma":
        name = words[3] if words[2:3] == ["."] and len(words) > 3 else "".join(words[1:2])
        return None if name in READ_PRAGMAS else f"not allowed: PRAGMA {name}; {_ONLY}"
    if first in _WRITING or first in _OTHERS:
        return f"not allowed: {first.upper()}; {_ONLY}"
    return None


def _main_verb(tokens: Sequence[Token]) -> str:
    """Return the first word of the statement after WITH and its tables, or ""."""
    depth, before = 0, ""
    for token in tokens:
        word = token.text.lower()
        if token.kind == "mark":
            depth += (word == "(") - (word == ")")
        elif (
            depth == 0
            and before not in ("with", "recursive", ",", ".")
            and word in (*_READING, *_WRITING)
        ):
            return word
        before = word
    return ""


def _is_semicolon(token: Token) -> bool:
    return token.kind == "mark" and token.text == ";"


def set_sqlite_limits(connection: sqlite3.Connection) -> None:
    """Forbid attached databases and SQLite's own threads; other limits keep SQLite's defaults."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
