"""What an audit found, on the terminal: judges against each other and against raters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from sentinel_sql.report.terminal.table import (
    NOT_SAID,
    empty_table,
    number,
    share,
    share_point,
    share_span,
)

Json = Mapping[str, Any]


def disagreement_table(exhibit: Json) -> Table:
    """Show every pair of judges."""
    table = _table(
        exhibit["title"], ("judges", "answers", "both", "1st", "2nd", "none", "same", "κ")
    )
    for row in exhibit["rows"]:
        table.add_row(
            f"{row['first']}\n{row['second']}",
            *(str(row[name]) for name in ("answers", "both_correct", "only_first")),
            *(str(row[name]) for name in ("only_second", "both_wrong")),
            share(row["agreement"]),
            number(row["kappa"], ".2f"),
        )
    table.caption = (
        "both, none: called correct by both judges, by none; 1st, 2nd: by one of them alone."
    )
    return table


def reasons_table(exhibit: Json) -> Table:
    """Show why judges disagree."""
    table = _table(
        exhibit["title"],
        ("called correct by", "called wrong by", "answers", "such as"),
        words=("called wrong by", "such as"),
    )
    for row in exhibit["rows"]:
        table.add_row(
            f"{row['first']}\n  {row['first_reason']}",
            f"{row['second']}\n  {row['second_reason']}",
            str(row["answers"]),
            row["example"],
        )
    return table


def judge_audit_table(exhibit: Json) -> Table:
    """Show the judge against each rater."""
    table = _table(
        exhibit["title"],
        ("rater", "rated", "open", "lacks", "judge right", "wrongly correct", "wrongly wrong"),
    )
    for row in exhibit["rows"]:
        table.add_row(
            row["rater"],
            *(str(row[name]) for name in ("rated", "left_open", "missing")),
            _interval(row["accuracy"]),
            f"{row['wrongly_correct']} of {row['said_correct']}, "
            f"{_interval(row['wrongly_correct_share'])}",
            f"{row['wrongly_wrong']} of {row['said_wrong']}, "
            f"{_interval(row['wrongly_wrong_share'])}",
        )
    table.caption = exhibit["note"]
    return table


def raters_table(exhibit: Json) -> Table:
    """Show how raters agree."""
    table = _table(exhibit["title"], ("raters", "both rated", "same verdict", "κ"))
    for row in exhibit["rows"]:
        table.add_row(
            f"{row['first']}, {row['second']}",
            str(row["both_rated"]),
            _interval(row["agreement"]),
            number(row["kappa"], ".2f"),
        )
    return table


def _table(title: str, columns: tuple[str, ...], *, words: tuple[str, ...] = ()) -> Table:
    # Names of judges and raters are the user's, of any length; headings are longer than figures.
    return empty_table(title, columns, words=(columns[0], *words), fold=columns)


def _interval(interval: Json | None) -> str:
    return NOT_SAID if interval is None else f"{share_point(interval)}\n{share_span(interval)}"
