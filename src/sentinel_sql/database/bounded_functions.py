"""SQLite's functions that one call can keep busy for minutes, where nothing can interrupt it.

`printf('%.*c', 2000000000, 'x')` counts to two thousand million before it finds its text too
long, and `trim` compares each character with each that it may take away. Their arguments are
looked at first; SQLite's own function, on a connection without tables, then does the work. Ours.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import TypeAlias

from sentinel_sql.database.executor import Cell

Function: TypeAlias = Callable[..., Cell]

LONGEST_TRIMMED = 100
"""Characters that the second argument of `trim` may have."""

WIDEST_FORMAT = 1_000_000
"""Characters to which one placeholder of `printf` may fill up."""

_FORMATS = ("printf", "format")
_TRIMS = ("trim", "ltrim", "rtrim")
_WIDE_PLACEHOLDER = re.compile(r"%[-+ !#,.0-9]*[1-9][0-9]{6}")


def bound_functions(
    connection: sqlite3.Connection, worker: sqlite3.Connection, refuse: Callable[[str], object]
) -> None:
    """Put bounded versions before SQLite's own on one connection.

    Args:
        connection: where agents' SQL runs.
        worker: another connection, used by the same thread, where SQLite's own functions run.
        refuse: told why, before a call fails.
    """

    def bounded(name: str, too_much: Callable[[tuple[Cell, ...]], bool]) -> Function:
        def call(*arguments: Cell) -> Cell:
            if too_much(arguments):
                refuse(f"this call of {name} could run for minutes")
                raise ValueError(name)
            marks = ", ".join("?" * len(arguments))
            row = worker.execute(f"SELECT {name}({marks})", arguments).fetchone()
            value: Cell = row[0]
            if value is None and arguments and None not in arguments:
                # SQLite's `printf` hides that its text grew too long
                refuse(f"the text that {name} makes is too long")
                raise ValueError(name)
            return value

        return call

    for name in _FORMATS:
        connection.create_function(name, -1, bounded(name, _fills_too_much), deterministic=True)
    for name in _TRIMS:
        connection.create_function(name, 2, bounded(name, _trims_too_much), deterministic=True)


def _fills_too_much(arguments: tuple[Cell, ...]) -> bool:
    form = str(arguments[0]) if arguments else ""
    starred = "*" in form and any(_number(argument) > WIDEST_FORMAT for argument in arguments[1:])
    return starred or _WIDE_PLACEHOLDER.search(form) is not None


def _number(argument: Cell) -> float:
    """Return the size of what SQLite would make of an argument where it needs a number."""
    if isinstance(argument, bytes):
        argument = argument.decode(errors="ignore")
    if isinstance(argument, str):
        digits = re.match(r"\s*[-+]?\d+", argument, re.ASCII)
        argument = int(digits[0]) if digits else 0
    return abs(argument or 0)


def _trims_too_much(arguments: tuple[Cell, ...]) -> bool:
    second = arguments[1]
    return isinstance(second, (str, bytes)) and len(second) > LONGEST_TRIMMED
