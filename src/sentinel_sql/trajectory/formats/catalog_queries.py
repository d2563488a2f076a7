"""Recognises queries that read only the database's catalog, and so are never the answer."""

from __future__ import annotations

import re

_COMMENTS = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TEXTS = re.compile(r"'(?:[^']|'')*+'")
_COMMAND = re.compile(r"[\s(]*(?:PRAGMA|DESCRIBE|DESC|SHOW|EXPLAIN|\.\w+)(?![\w.])", re.IGNORECASE)
_WORD = r'["`\[]?([\w$]+)["`\]]?'
_RELATION = re.compile(rf"\b(?:FROM|JOIN)\s+{_WORD}(?:\s*\.\s*{_WORD})?", re.IGNORECASE)
_NAMED = re.compile(
    rf"(?<![\w$]){_WORD}\s*(?:\([^()]*\)\s*)?AS\s*(?:NOT\s+)?(?:MATERIALIZED\s*)?\(", re.I
)
_SCHEMAS = frozenset({"information_schema", "pg_catalog", "sys"})
_RELATIONS = re.compile(
    r"sqlite_(?:temp_)?(?:master|schema)|sqlite_sequence|pragma_\w+|pg_(?:tables|class|attribute|"
    r"namespace|indexes|views|type)|duckdb_\w+|(?:all|user|dba)_(?:tables|tab_columns|objects)",
    re.IGNORECASE,
)


def reads_only_catalog(sql: str) -> bool:
    """Return whether a query reads only the structure of the database, not its data."""
    bare = _TEXTS.sub("''", _COMMENTS.sub(" ", sql))
    if _COMMAND.match(bare):
        return True
    named = {match[1].lower() for match in _NAMED.finditer(bare)}
    read = [
        match for match in _RELATION.finditer(bare) if match[2] or match[1].lower() not in named
    ]
    return bool(read) and all(_is_catalog(match[1], match[2]) for match in read)


def _is_catalog(first: str, second: str | None) -> bool:
    if second is not None and first.lower() in _SCHEMAS:
        return True
    return _RELATIONS.fullmatch(second or first) is not None
