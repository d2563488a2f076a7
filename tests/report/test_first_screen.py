"""Figures are written alike by page and script, and special settings are told."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.report.first_screen import options, said


@given(st.floats(-60, 60))
def test_a_figure_is_never_further_than_half_a_unit_from_its_value(value: float) -> None:
    signed = said(value, "signed").replace("−", "-")
    assert abs(Decimal(signed) - Decimal(value)) <= Decimal("0.005")
    assert signed[0] in "+-"
    share = said(value, "share").replace("−", "-").removesuffix(" %")
    assert abs(Decimal(share) - 100 * Decimal(value)) <= Decimal("0.5")


def test_what_cannot_be_said_is_a_dash() -> None:
    assert said(None, "share") == said(None, "plain") == "–"


@pytest.mark.parametrize(
    ("set_to", "told"),
    [
        ({"exact_bar": True, "strict": False, "reweight": None, "prices": {"prompt": 1}}, True),
        ({"exact_bar": False, "strict": False, "reweight": 0.2}, True),
        ({"exact_bar": False, "strict": False, "reweight": None, "prices": {"prompt": 1}}, False),
    ],
)
def test_an_option_that_changes_decisions_or_scores_counts_and_prices_dont(
    set_to: dict[str, Any], told: bool
) -> None:
    assert any(options({"options": set_to}).values()) == told
