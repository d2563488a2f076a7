"""What SQL may run: one statement that only reads, and calls only functions that compute.

Four layers, each enough on its own against most harm: the statement's first words are on a list
here; SQLite's authorizer denies whatever isn't on another; the connection only reads
(`query_only`); and the file is opened read-only. What a query may take is bounded elsewhere: by
the process it runs in, its deadline and its caps. Ours.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence, Set

from sentinel_sql.database.clock import CLOCK_FUNCTION
from sentinel_sql.database.sql_tokens import Token, tokenize
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
"""Functions that compute from their arguments alone. Left out on purpose: what loads code or
touches files (`load_extension`, `readfile`, `writefile`, `edit`, `fts3_tokenizer`), what looks
inside SQLite (`sqlite_version`, `sqlite_log`, `changes`, …) and what only makes filler
(`zeroblob`, `randomblob`)."""

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
"""Tables of SQLite's own that may be read besides the database's: its list of tables, what
describes them, and the two that unfold JSON. `dbstat`, `sqlite_dbpage` and their like stay shut."""

LONGEST_SQL = 1_000_000
"""Characters of a statement; a longer one is a model's slip, and isn't even looked at."""

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
    """SQLite's authorizer for one connection: reading the database's own tables is allowed.

    `refusal` says why the statement being prepared was denied, or is None.
    """

    def __init__(self) -> None:
        self._readable = READABLE_BUILT_INS
        self.refusal: str | None = None

    def allow(self, tables: Iterable[str]) -> None:
        """Let these tables be read too."""
        self._readable |= {folded(name) for name in tables}

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        _schema: str | None,
        _source: str | None,
    ) -> int:
        """Answer SQLite's question about one action; the arguments are SQLite's."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            # With no column it only counts rows, and names common table expressions too
            if not second or folded(first or "") in self._readable:
                return sqlite3.SQLITE_OK
            return self.refuse(f"table {first} may not be read")
        if action == sqlite3.SQLITE_FUNCTION:
            if second and second.lower() in ALLOWED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            return self.refuse(f"function {second} may not be called")
        if action == sqlite3.SQLITE_PRAGMA:
            # full-text search asks `data_version` of itself
            if (first or "").lower() in READ_PRAGMAS or (first, second) == ("data_version", None):
                return sqlite3.SQLITE_OK
            return self.refuse(f"PRAGMA {first}; {_ONLY}")
        if action == sqlite3.SQLITE_UPDATE and first in ("sqlite_master", "sqlite_schema"):
            # no UPDATE gets as far as here: SQLite declares a virtual table that the query reads
            return self.refuse(f"a virtual table of SQLite's own may not be read; {_ONLY}")
        return self.refuse(f"{_ACTIONS.get(action, f'action {action}')}; {_ONLY}")

    def refuse(self, reason: str) -> int:
        """Note why the statement is refused, and deny the action at hand."""
        # the first denial is the cause; those after it are its echo
        if self.refusal is None:
            self.refusal = f"not allowed: {reason}"
        return sqlite3.SQLITE_DENY


def only_statement(sql: str) -> str | None:
    """Return the one statement of `sql` without what follows it, or None if there are several.

    Semicolons at the end, comments, and semicolons within texts and names don't count.
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
    """Say why a statement may not run by the words it begins with, or return None if it may.

    What begins no statement of SQLite's is left for SQLite to name.
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
    """Return the word by which the statement after WITH and its tables begins, or nothing."""
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
    """Let nothing be attached, and no thread of SQLite's own run; all else is SQLite's to bound."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
