"""The first screen's words follow from the table of stakes, and never flatter."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.report.verdict import spans, standing, verdict

reals = st.floats(-5, 1)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 12))):
        low, gain, high = sorted(draw(st.tuples(reals, reals, reals)))
        rows.append(
            {
                "stakes": 0.5 + number,
                "coverage": draw(st.sampled_from((0.0, 0.3, 1.0))),
                "gain": gain,
                "gain_low": low,
                "gain_high": high,
            }
        )
    return rows


@given(tables())
def test_believing_is_advised_only_where_the_interval_is_above_zero(
    rows: list[dict[str, Any]],
) -> None:
    said = verdict(rows, questions=100)
    better = [row for row in rows if row["coverage"] and row["gain_low"] > 0]
    assert ("can be believed" in said.headline) == bool(better)
    assert (said.tone == "yes") == any(row["stakes"] >= 1 for row in better)
    if not any(row["coverage"] and row["gain"] > 0 for row in rows):
        assert "Don't rely on its answers" in said.headline


@given(tables())
def test_what_is_worse_than_never_answering_is_said_plainly(rows: list[dict[str, Any]]) -> None:
    said = " ".join(verdict(rows, questions=100).sentences)
    worse = [row for row in rows if row["coverage"] and row["gain_high"] < 0]
    assert ("clearly earns less than never answering" in said) == bool(worse)
    no_better = [row for row in rows if standing(row) == "not-better"]
    assert ("earns no more than never answering" in said) == bool(no_better)


@given(tables())
def test_the_spans_cover_every_level_once_and_in_order(rows: list[dict[str, Any]]) -> None:
    stretches = spans(rows)
    assert sum(span.levels for span in stretches) == len(rows)
    assert stretches[0].low == rows[0]["stakes"]
    assert stretches[-1].high == rows[-1]["stakes"]
    assert all(a.standing != b.standing for a, b in itertools.pairwise(stretches))


def test_without_a_table_nothing_is_said() -> None:
    assert "Nothing can be said" in verdict([], questions=0).headline
