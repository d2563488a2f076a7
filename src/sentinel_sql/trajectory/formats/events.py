"""The events that every form of log is converted to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class UserTurn:
    """The user says something."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentText:
    """The agent says something, outside any tool call."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """The agent calls a tool. `arguments` is a mapping, JSON text, or any other text."""

    name: str
    arguments: Any
    id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """A tool returns. `content` is text or typed data; `failed` is the form's own error flag."""

    content: Any
    id: str | None = None
    name: str | None = None
    failed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """An item that is part of no step. `sql`: it holds SQL, so a part of the run can't be read."""

    kind: str
    sql: bool = False


Event = UserTurn | AgentText | ToolCall | ToolResult | Unread

_SELECT = re.compile(r"\bSELECT\b")
_FROM = re.compile(r"\bFROM\b")
_MARKED = re.compile(
    r"```sql\b|^[ \t]*(?:final_?)?sql[ \t]*:[ \t]*\S", re.IGNORECASE | re.MULTILINE
)
_BEGINS = re.compile(r"""(?:\A|["'`:=>(]|\\n)\s*(?:select|with|pragma|values)\s""", re.IGNORECASE)
_CALLS = re.compile(
    r"\bselect\s+(?:distinct\s+)?(?:\*|\w+\s*\(|\w+\.\w+)[^\n]*?\sfrom\s+\w", re.IGNORECASE
)
_LINE = re.compile(r"^[ \t]*(?:select|with)\s[^\n]*\sfrom\s", re.IGNORECASE | re.MULTILINE)


def holds_sql(text: str) -> bool:
    """Return whether a text holds a query, not only the English words "select" and "from"."""
    select = _SELECT.search(text)
    if select is not None and _FROM.search(text, select.end()) is not None:
        return True
    return any(sign.search(text) for sign in (_MARKED, _LINE, _CALLS))


def unread(kind: str, item: Any) -> Unread:
    """Return the event of an item that can't be read."""
    text = as_text(item)
    # The item may be a call, so a text that begins like SQL counts, too.
    return Unread(kind=clean(kind), sql=holds_sql(text) or _BEGINS.search(text) is not None)


def as_text(value: Any) -> str:
    """Return any value as text, and plain data as JSON."""
    if isinstance(value, str):
        return clean(value)
    try:
        return clean(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def clean(text: str) -> str:
    """Replace half surrogate pairs, which have no UTF-8 form."""
    return text.encode("utf-8", "replace").decode()


def name_of(value: Any) -> str | None:
    """Return an id or a name as text: a text that isn't blank, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return as_text(value)
    return clean(value) if isinstance(value, str) and value.strip() else None


def as_mapping(item: Any) -> Mapping[str, Any] | None:
    """Return an item as a mapping: itself, or the fields of a framework's own record."""
    if isinstance(item, Mapping):
        return item
    dump = getattr(item, "model_dump", None)
    if not callable(dump) or isinstance(item, type):
        return None
    try:
        dumped = dump()
    except Exception:  # a foreign object may raise any error; the item can't be read then
        return None
    return dumped if isinstance(dumped, Mapping) else None
