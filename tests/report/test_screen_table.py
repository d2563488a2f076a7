"""Tables of the terminal look alike and fit 80 columns, however long the names in them are."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from sentinel_sql.report.terminal.audit import TABLES as AUDIT
from sentinel_sql.report.terminal.leakage import leakage_tables
from sentinel_sql.report.terminal.table import UNKNOWN, lead, point, share, share_span, span

SHARE = {"estimate": 0.961, "low": 0.912, "high": 1.0}
NAME = "a judge or a rater whose name is longer than any table has room for, and still goes on"


def _lines(table: Table) -> list[str]:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def _audited() -> list[Table]:
    counts = [
        "answers",
        "both_correct",
        "only_first",
        "only_second",
        "both_wrong",
        "rated",
        "left_open",
        "missing",
        "both_rated",
        "wrongly_correct",
        "said_correct",
        "wrongly_wrong",
        "said_wrong",
    ]
    row: dict[str, Any] = {
        **dict.fromkeys(counts, 123),
        **dict.fromkeys(("first", "second", "rater", "first_reason", "second_reason"), NAME),
        **dict.fromkeys(("accuracy", "wrongly_correct_share"), SHARE),
        "wrongly_wrong_share": None,
        "example": "a-question-of-some-length",
        "kappa": 0.5,
    }
    agreed, judged = row | {"agreement": SHARE}, row | {"agreement": 0.9}
    said = {"title": "A title", "note": "A note."}
    return [
        AUDIT["disagreement"].show(said | {"rows": [judged]}),
        AUDIT["disagreement_reasons"].show(said | {"rows": [judged]}),
        AUDIT["judge_audit"].show(said | {"rows": [agreed]}),
        AUDIT["raters"].show(said | {"rows": [agreed]}),
    ]


def _leaks() -> list[Table]:
    row = {"task": NAME, "over": "all", "reader": NAME, "n": 1234, "auroc": SHARE, "holds": False}
    copies = {"what": NAME, "split": NAME, "texts": 1, "repeated": 2, "across": 3, "holds": True}
    exhibits = {"leakage": row, "leakage_controls": row, "leakage_copies": copies}
    told = leakage_tables({name: {"title": name, "rows": [it]} for name, it in exhibits.items()})
    return [it for it in told if isinstance(it, Table)]


@pytest.mark.parametrize("table", [*_audited(), *_leaks()])
def test_long_names_neither_widen_nor_cut_a_table(
    table: Table,
) -> None:
    lines = _lines(table)
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines).replace(" … ", "")
    assert not any(edge in "".join(lines) for edge in "│┃━─")


def test_errors_of_a_judge_have_the_interval_of_their_share() -> None:
    text = "\n".join(_lines(_audited()[2]))
    assert "123 of 123, 96%" in text
    assert f"123 of 123, {UNKNOWN}" in text
    assert "91% … 100%" in text


def test_unknown_number_is_a_dash() -> None:
    assert {point(None, ".3f"), span(None, ".2f"), share(None), share_span(None)} == {UNKNOWN}
    assert lead(None).plain == UNKNOWN


@pytest.mark.parametrize(("low", "style"), [(0.01, "green"), (0.0, ""), (-0.2, "")])
def test_only_a_lead_with_its_interval_above_zero_is_green(low: float, style: str) -> None:
    assert lead({"estimate": 0.1, "low": low, "high": 0.3}).style == style
