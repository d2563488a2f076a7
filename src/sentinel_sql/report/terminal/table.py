"""The one look of tables on a terminal, and how numbers and intervals are written in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

Interval = Mapping[str, Any]
"""`estimate`, `low` and `high`, as `Interval` in JSON."""

NOT_SAID = "–"
"""Stands where a number can't be said: one class only, or no case."""


def empty_table(
    title: str,
    columns: Sequence[str],
    *,
    words: Collection[str] | None = None,
    fold: Collection[str] = (),
    gap: int = 2,
) -> Table:
    """Return an empty table without lines: words to the left, numbers to the right.

    Args:
        title: above it.
        columns: their headings.
        words: columns of words; the first one unless given.
        fold: columns that go on in a next line where the terminal is too narrow; the others are
            cut.
        gap: characters between columns; 1 where there are many.
    """
    empty = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        caption_style="dim",
        box=None,
        header_style="dim",
        pad_edge=False,
        padding=(0, gap, 0, 0),
    )
    for column in columns:
        empty.add_column(
            column,
            justify="left" if column in (columns[:1] if words is None else words) else "right",
            no_wrap=column not in fold,
            overflow="fold" if column in fold else "ellipsis",
        )
    return empty


def number(value: float | None, form: str) -> str:
    """Return a number in the format `form`."""
    return NOT_SAID if value is None else format(value, form)


def share(value: float | None) -> str:
    """Return a share in [0, 1] as per cent."""
    return number(value, ".0%")


def point(interval: Interval | None, form: str) -> str:
    """Return an interval's estimate."""
    return NOT_SAID if interval is None else format(interval["estimate"], form)


def span(interval: Interval | None, form: str) -> str:
    """Return an interval's ends."""
    if interval is None:
        return NOT_SAID
    return f"{interval['low']:{form}} … {interval['high']:{form}}"


def share_point(interval: Interval | None) -> str:
    """Return the estimate of a share in [0, 1] as per cent."""
    return point(interval, ".0%")


def share_span(interval: Interval | None) -> str:
    """Return the ends of a share's interval as per cent."""
    return span(interval, ".0%")


def lead(interval: Interval | None) -> Text:
    """Return the ends of a lead, green where both are above zero."""
    return green_if_ahead(span(interval, "+.2f"), interval)


def green_if_ahead(text: str, interval: Interval | None) -> Text:
    """Return what is written of a lead, green where its interval is above zero."""
    ahead = interval is not None and interval["low"] > 0
    return Text(text, style="green" if ahead else "")
