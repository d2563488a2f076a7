"""Tables for the terminal: a layout declares the columns and shows the rows of an exhibit.

A table has no lines and fits 80 columns. Words are aligned to the left, numbers to the right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

Json = Mapping[str, Any]
Interval = Mapping[str, Any]
"""`estimate`, `low` and `high`, as `Interval` in JSON."""

Cell = Callable[[Json], str | Text]
"""Writes one cell of a row."""

UNKNOWN = "–"
"""Stands for an unknown number, for instance an AUROC of one class."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a layout.

    Attributes:
        heading: the text above it.
        cell: returns the content of a cell.
        words: it holds words; the first column of a layout always does.
        fold: long cells are wrapped; those of other columns are cut.
        least: the least width in characters.
    """

    heading: str
    cell: Cell
    words: bool = False
    fold: bool = False
    least: int | None = None


def column(
    heading: str, cell: Cell, *, words: bool = False, fold: bool = False, least: int | None = None
) -> Column:
    """Return a column; a shorter way to write `Column`."""
    return Column(heading=heading, cell=cell, words=words, fold=fold, least=least)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of an exhibit on the terminal.

    Attributes:
        title: the text above the table; None for the exhibit's title.
        columns: in order.
        caption: the text below the table; None for the exhibit's note.
        section: returns the heading of a row's section; None for no sections.
        arrange: makes the rows of the table from those of the exhibit.
        gap: characters between columns.
        first_is_number: the first column holds numbers.
    """

    title: str | None = ""
    columns: Sequence[Column]
    caption: str | None = ""
    section: Callable[[Json], str] | None = None
    arrange: Callable[[Sequence[Json]], Sequence[Json]] = list
    gap: int = 2
    first_is_number: bool = False

    def show(self, exhibit: Json) -> Table:
        """Return the table of an exhibit (`Exhibit.to_json`), or of any mapping with `rows`."""
        table = Table(
            title=(exhibit["title"] if self.title is None else self.title) or None,
            title_justify="left",
            title_style="bold",
            caption=(exhibit["note"] if self.caption is None else self.caption) or None,
            caption_justify="left",
            caption_style="dim",
            box=None,
            header_style="dim",
            pad_edge=False,
            padding=(0, self.gap, 0, 0),
        )
        for number, each in enumerate(self.columns):
            words = each.words or (number == 0 and not self.first_is_number)
            table.add_column(
                Text(each.heading),
                justify="left" if words else "right",
                no_wrap=not each.fold,
                overflow="fold" if each.fold else "ellipsis",
                min_width=each.least,
            )
        section = None
        for row in self.arrange(exhibit["rows"]):
            heading = self.section(row) if self.section else None
            if heading != section:
                section = heading
                table.add_section()
                table.add_row(Text(section or "", style="bold cyan"))
            table.add_row(*(each.cell(row) for each in self.columns))
        return table


def value(name: str) -> Cell:
    """Return a cell that shows a value as it is."""
    return lambda row: str(row[name])


def figure(name: str, form: str) -> Cell:
    """Return a cell that shows a number in the format `form`."""
    return lambda row: number(row[name], form)


def percent(name: str) -> Cell:
    """Return a cell that shows a share in [0, 1] as per cent."""
    return lambda row: share(row[name])


def estimate(name: str, form: str) -> Cell:
    """Return a cell that shows the estimate of an interval."""
    return lambda row: point(row[name], form)


def ends(name: str, form: str) -> Cell:
    """Return a cell that shows the ends of an interval."""
    return lambda row: span(row[name], form)


def lead_of(name: str) -> Cell:
    """Return a cell that shows the ends of a lead, green if both are above zero."""
    return lambda row: lead(row[name])


def bold_if(name: str, cell: Callable[[Json], bool] = lambda _: True) -> Cell:
    """Return a cell that shows a name, bold in some rows."""
    return lambda row: Text(row[name], style="bold" if cell(row) else "")


def number(value: float | None, form: str) -> str:
    """Return a number in the format `form`."""
    return UNKNOWN if value is None else format(value, form)


def share(value: float | None) -> str:
    """Return a share in [0, 1] as per cent."""
    return number(value, ".0%")


def point(interval: Interval | None, form: str) -> str:
    """Return an interval's estimate."""
    return UNKNOWN if interval is None else format(interval["estimate"], form)


def span(interval: Interval | None, form: str) -> str:
    """Return an interval's ends."""
    if interval is None:
        return UNKNOWN
    return f"{interval['low']:{form}} … {interval['high']:{form}}"


def share_point(interval: Interval | None) -> str:
    """Return the estimate of a share in [0, 1] as per cent."""
    return point(interval, ".0%")


def share_span(interval: Interval | None) -> str:
    """Return the ends of a share's interval as per cent."""
    return span(interval, ".0%")


def lead(interval: Interval | None) -> Text:
    """Return the ends of a lead, green if both are above zero."""
    return green_if_ahead(span(interval, "+.2f"), interval)


def green_if_ahead(text: str, interval: Interval | None) -> Text:
    """Return the text of a lead, green if its interval is above zero."""
    ahead = interval is not None and interval["low"] > 0
    return Text(text, style="green" if ahead else "")
