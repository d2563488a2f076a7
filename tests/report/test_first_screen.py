"""Figures are written alike by page and script, and special settings are told."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.evaluation_store.folder import StoredEvaluation
from sentinel_sql.report.evaluated_agents import ReportedAgent
from sentinel_sql.report.page.first_screen import first_screen, options, show


@given(st.floats(-60, 60))
def test_shown_figure_is_rounded_to_half_a_unit(value: float) -> None:
    signed = show(value, "signed").replace("−", "-")
    assert abs(Decimal(signed) - Decimal(value)) <= Decimal("0.005")
    assert signed[0] in "+-"
    share = show(value, "share").replace("−", "-").removesuffix(" %")
    assert abs(Decimal(share) - 100 * Decimal(value)) <= Decimal("0.5")


def test_unknown_figure_is_a_dash() -> None:
    assert show(None, "share") == show(None, "plain") == "–"


@pytest.mark.parametrize(
    ("set_to", "told"),
    [
        ({"exact_bar": True, "strict": False, "reweight": None, "prices": {"prompt": 1}}, True),
        ({"exact_bar": False, "strict": False, "reweight": 0.2}, True),
        ({"exact_bar": False, "strict": False, "reweight": None, "prices": {"prompt": 1}}, False),
    ],
)
def test_options_but_prices_are_reported(set_to: dict[str, Any], told: bool) -> None:
    assert any(options({"options": set_to}).values()) == told


@pytest.mark.parametrize(("templates", "told"), [(1, True), (19, True), (20, False), (300, False)])
def test_intervals_of_few_templates_are_called_too_narrow(templates: int, told: bool) -> None:
    counts = {"runs": 400, "unanswerable": 9, "answerable": 391, "answered": 99, "correct": 50}
    evaluation = StoredEvaluation(
        folder=Path("none"),
        document={
            "pool": "held-out",
            "counts": counts | {"templates": templates},
            "bootstrap": {"resamples": 2000},
            "options": {},
            "gaps": {},
        },
        evidence=None,  # type: ignore[arg-type]  # no figure is made of it here
        tables={},
        rows={},
        has_views=False,
    )
    agent = ReportedAgent(evaluation=evaluation, name="agent", slug="agent")
    screen = first_screen(agent)
    assert any("intervals are too narrow" in said for said in screen.sure) == told
    assert "pool: 400 runs, 9 of them" in screen.about
