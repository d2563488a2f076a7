"""What SQL may run: one statement that only reads, and calls only functions that compute.

Four layers, each enough on its own against most harm: the file is opened read-only; SQLite's
authorizer denies whatever isn't on a list here; SQLite's own limits bound how large a text, a
row or an expression may become; and the executor's deadline and caps bound the rest. Ours.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Set

from sentinel_sql.database.clock import CLOCK_FUNCTION
from sentinel_sql.database.executor import Limits
from sentinel_sql.database.sql_tokens import Token, tokenize

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

READABLE_BUILT_INS: Set[str] = frozenset(
    {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "json_each", "json_tree"}
)
"""Tables of SQLite's own that may be read besides the database's: its list of tables, and the
two that unfold JSON. `dbstat`, `sqlite_dbpage`, `pragma_…` and their like stay shut."""

LONGEST_SQL = 100_000
"""Characters of a statement; a longer one is a model's slip, and isn't even looked at."""

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


class Gatekeeper:
    """SQLite's authorizer for one connection: reading the database's own tables is allowed.

    `refusal` says why the statement being prepared was denied, or is None.
    """

    def __init__(self, tables: Set[str]) -> None:
        self._readable = frozenset(name.lower() for name in tables) | READABLE_BUILT_INS
        self.refusal: str | None = None

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
            if not second or (first or "").lower() in self._readable:
                return sqlite3.SQLITE_OK
            return self.refuse(f"table {first} may not be read")
        if action == sqlite3.SQLITE_FUNCTION:
            if second and second.lower() in ALLOWED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            return self.refuse(f"function {second} may not be called")
        if action == sqlite3.SQLITE_PRAGMA and (first, second) == ("data_version", None):
            return sqlite3.SQLITE_OK  # full-text search asks it of itself
        name = _ACTIONS.get(action, f"action {action}")
        return self.refuse(f"{name}; only a SELECT over the database's own tables may run")

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


def _is_semicolon(token: Token) -> bool:
    return token.kind == "mark" and token.text == ";"


def set_sqlite_limits(connection: sqlite3.Connection, limits: Limits, widest_table: int) -> None:
    """Bound what a statement may build inside SQLite before the executor's caps can see it.

    Args:
        connection: the connection to bound.
        limits: the bounds of one execution.
        widest_table: columns of the database's widest table, which must stay readable.
    """
    for category, value in (
        # One text, blob or row. Five times what is kept of a cell: a longer one is cut rather
        # than refused, while a single search of one text in another ends within seconds.
        (sqlite3.SQLITE_LIMIT_LENGTH, max(500_000, 5 * limits.cell)),
        # A row is built whole before it is handed over, so its cells together count too.
        (sqlite3.SQLITE_LIMIT_COLUMN, max(100, widest_table)),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 4 * LONGEST_SQL),
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 100),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    ):
        connection.setlimit(category, value)
