"""The tables of an audit: judges compared with each other and with raters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sentinel_sql.report.terminal.table import (
    UNKNOWN,
    Cell,
    Column,
    Interval,
    Json,
    Layout,
    figure,
    percent,
    share_point,
    share_span,
    value,
)


def _column(heading: str, cell: Cell, *, words: bool = False) -> Column:
    # Cells fold, because users may give judges and raters names of any length.
    return Column(heading=heading, cell=cell, words=words, fold=True)


def _interval(interval: Interval | None) -> str:
    return UNKNOWN if interval is None else f"{share_point(interval)}\n{share_span(interval)}"


def _errors(kind: str) -> Cell:
    def cell(row: Json) -> str:
        share = _interval(row[f"wrongly_{kind}_share"])
        return f"{row[f'wrongly_{kind}']} of {row[f'said_{kind}']}, {share}"

    return cell


TABLES: Final[Mapping[str, Layout]] = {
    "disagreement": Layout(
        title=None,
        columns=(
            _column("judges", lambda row: f"{row['first']}\n{row['second']}"),
            _column("answers", value("answers")),
            _column("both", value("both_correct")),
            _column("1st", value("only_first")),
            _column("2nd", value("only_second")),
            _column("none", value("both_wrong")),
            _column("same", percent("agreement")),
            _column("κ", figure("kappa", ".2f")),
        ),
        caption="Answers that both judges, only the 1st, only the 2nd, or none call correct.",
    ),
    "disagreement_reasons": Layout(
        title=None,
        columns=(
            _column("called correct by", lambda row: f"{row['first']}\n  {row['first_reason']}"),
            _column(
                "called wrong by",
                lambda row: f"{row['second']}\n  {row['second_reason']}",
                words=True,
            ),
            _column("answers", value("answers")),
            _column("example", value("example"), words=True),
        ),
    ),
    "judge_audit": Layout(
        title=None,
        columns=(
            _column("rater", value("rater")),
            _column("rated", value("rated")),
            _column("open", value("left_open")),
            _column("lacks", value("missing")),
            _column("judge right", lambda row: _interval(row["accuracy"])),
            _column("wrongly correct", _errors("correct")),
            _column("wrongly wrong", _errors("wrong")),
        ),
        caption=None,
    ),
    "raters": Layout(
        title=None,
        columns=(
            _column("raters", lambda row: f"{row['first']}, {row['second']}"),
            _column("both rated", value("both_rated")),
            _column("same rating", lambda row: _interval(row["agreement"])),
            _column("κ", figure("kappa", ".2f")),
        ),
    ),
}
"""By the names of their exhibits."""
