"""Reads the printed result of a tool: rows, nothing, or the database's error."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

from sentinel_sql.result_line import error_line, result_line
from sentinel_sql.trajectory.record import Observation

_LONGEST = 2_000_000
"""Longest printed result that is parsed, in characters (our choice); a longer one is text."""
_LONGEST_TEXT = 400
"""Characters kept of a result that is no table (our choice)."""
_ERROR = re.compile(
    r"\s*(?:\W*(?:sql\s+|database\s+|execution\s+|query\s+)?(?:error|exception|failed|failure)"
    r"(?:\s+(?:while\s+)?(?:executing|running|in)\s+(?:the\s+)?(?:sql|query|statement)\b[^:\n]{0,40})?"
    r"(?:\s*:|\s+-|\s+\d+\s*[:(])\s*"
    r"|traceback \(most recent|\(?\w*(?:\.\w+)*(?:Error|Exception)\)?\s*:\s*"
    r"|\(\w+(?:\.\w+)*(?:Error|Exception)\)\s*)",
    re.IGNORECASE,
)
_DRIVER = re.compile(r"\s*\(?\w+(?:\.\w+)*(?:Error|Exception)\)?:?\s*")
_NOTHING = re.compile(
    r"\s*(?:\[\s*\]|\(\s*\)|\{\s*\}|no (?:rows|results|records)(?: (?:were )?(?:returned|found))?"
    r"|\(?0 rows\b(?: (?:returned|found|affected|in set))?\)?|empty (?:result(?: set)?|set)"
    r"|(?:the )?query returned (?:no (?:rows|results|records)|0 rows)|empty \(0 rows\))?"
    r"(?: \(\d+(?:\.\d+)? sec\))?\s*\.?\s*\Z",
    re.IGNORECASE,
)
_ROW_KEYS = ("rows", "data", "results", "result", "records", "output")


def read_value(content: Any, *, failed: bool = False) -> Observation:
    """Read the result of a query: a printed text, or typed data, in which lists are rows.

    Args:
        content: text as in `read_result`, or a value.
        failed: True if the log itself says that the call failed; any text is then an error.
    """
    if isinstance(content, str):
        observation = read_result(content)
        return _error(content) if failed and observation.kind != "error" else observation
    if failed or (isinstance(content, dict) and content.get("error")):
        message = content.get("error") if isinstance(content, dict) else None
        return _error(str(message or content))
    rows = _rows(content)
    try:
        return _table(rows if rows is not None else [[content]], more=False)
    except (ValueError, RecursionError):
        # For example a number with too many digits, which has no text.
        return Observation(kind="rows", truncated=True, text=type(content).__name__)


def read_result(text: str) -> Observation:
    """Read the printed result of a query: a Python or JSON list of rows, an error, or other text.

    Text after a list means that there were more rows. Any other text counts as rows of unknown
    number, since a bare `none` or `failed` may be a cell.
    """
    if _NOTHING.match(text):
        return _table((), more=False)
    value, rest = _value(text)
    if isinstance(value, dict) and value.get("error"):
        return _error(str(value["error"]))
    rows = _rows(value)
    if rows is not None:
        return _table(rows, more=bool(rest.strip()))
    if _ERROR.match(text):
        return _error(text)
    return Observation(kind="rows", truncated=True, text=one_line(text, _LONGEST_TEXT))


def one_line(text: str, limit: int) -> str:
    """Return the text in one line of at most `limit` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"


def _table(rows: Sequence[Sequence[object]], *, more: bool) -> Observation:
    width = max((len(row) for row in rows), default=0)
    return Observation(
        kind="rows" if rows else "empty",
        rows=len(rows),
        columns=width,
        truncated=more,
        text=result_line(rows, columns=width, truncated=more),
    )


def _error(text: str) -> Observation:
    """Return the database's own message, without the prefix and the query of drivers."""
    words = _ERROR.sub("", text, count=1)
    words = _DRIVER.sub("", words, count=1) or text
    words = one_line(re.split(r"\n\s*\[SQL: |\n\(Background", words)[0], _LONGEST_TEXT)
    return Observation(kind="error", error=words, text=error_line(words))


def _value(text: str) -> tuple[Any, str]:
    """Return the value at the start of a text, and the text after it; None without a value."""
    stripped = text.strip()
    if len(stripped) > _LONGEST or not stripped.startswith(("[", "(", "{")):
        return None, text
    try:
        return json.loads(stripped), ""
    except (ValueError, RecursionError):
        pass
    close = len(stripped)
    # A note after the list may hold brackets too, so the last few brackets are tried.
    for _ in range(4):
        close = max(stripped.rfind(bracket, 0, close) for bracket in "])}")
        if close < 0:
            break
        try:
            return ast.literal_eval(stripped[: close + 1]), stripped[close + 1 :]
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None, text


def _rows(value: Any) -> list[list[object]] | None:
    """Return the rows of a parsed value, or None if it is no table."""
    if isinstance(value, dict):
        nested = next((value[key] for key in _ROW_KEYS if isinstance(value.get(key), list)), None)
        return _rows(nested) if nested is not None else [list(value.values())]
    if not isinstance(value, list | tuple):
        return None
    if isinstance(value, tuple) and not any(isinstance(item, list | tuple) for item in value):
        return [list(value)]
    return [_row(item) for item in value]


def _row(item: Any) -> list[object]:
    if isinstance(item, dict):
        return list(item.values())
    return list(item) if isinstance(item, list | tuple) else [item]
