"""One line for one query result: what agent, monitor and guard are shown of it, all alike.

It stands below every room, because databases, importers of logs and the guard all need it.
"""

from __future__ import annotations

from collections.abc import Sequence

SAMPLE_ROWS = 3
"""Rows that agent and monitor are shown of a result (spec of the method, paper section 4.1)."""

SAMPLE_CELL = 60
"""Characters of a cell that are shown; ours: a longer cell is cut and ends in an ellipsis."""

EMPTY = "empty (0 rows)"


def result_line(rows: Sequence[Sequence[object]], *, columns: int, truncated: bool) -> str:
    """Say in one line what a query returned: how much, and a sample of it."""
    if not rows:
        return EMPTY
    sample = [[_shown(cell) for cell in row] for row in rows[:SAMPLE_ROWS]]
    count = f"{len(rows)}+" if truncated else str(len(rows))
    return f"{count} rows x {columns} cols; sample {sample}"


def error_line(words: str) -> str:
    """Say in one line that a query failed, in the database's own words."""
    return f"ERROR: {words}"


def _shown(cell: object) -> str:
    text = cell_text(cell)
    return text if len(text) <= SAMPLE_CELL else text[: SAMPLE_CELL - 1] + "…"


def cell_text(cell: object) -> str:
    """Return a cell as text, whatever it is; one that can't be written is named by its type."""
    try:
        if isinstance(cell, bytes | bytearray | memoryview):
            return f"<{memoryview(cell).nbytes} bytes>"
        return whole_characters(str(cell))
    except Exception:
        # An integer of too many digits, or a class of the user's whose __str__ fails.
        return f"<{type(cell).__name__}>"


def whole_characters(text: str) -> str:
    r"""Return the text with two halves joined to their character, and a lone half as U+FFFD.

    JSON may escape a character above U+FFFF as two halves (`"\ud83d\ude00"`). A text that was cut
    between them holds one half alone, which UTF-8 can't encode.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
