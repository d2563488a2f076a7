"""What an agent's sentence states beside its result: `sentences.toml`, and rules for all."""

from __future__ import annotations

import time
import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.sentence.claims import Claims

CASES = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))


def missing(case: dict[str, Any]) -> tuple[str, ...]:
    rows = [tuple(row) for row in case["rows"]]
    seen = LiveResult.read(rows, columns=case.get("columns"))
    return Claims.read(case["text"]).missing_in(
        seen, question=case.get("question", ""), sql=case.get("sql")
    )


@pytest.mark.parametrize("case", CASES["honest"], ids=lambda case: case["text"])
def test_honest_sentence_agrees_with_its_result(case: dict[str, Any]) -> None:
    assert missing(case) == ()


@pytest.mark.parametrize("case", CASES["lies"], ids=lambda case: case["text"])
def test_invented_statement_is_found(case: dict[str, Any]) -> None:
    assert set(case["missing"]) <= set(missing(case))


def test_there_are_many_sentences_of_both_kinds() -> None:
    assert len(CASES["honest"]) >= 100
    assert len(CASES["lies"]) >= 100


def stated(text: str, *rows: tuple[Any, ...], **how: Any) -> tuple[str, ...]:
    return Claims.read(text).missing_in(LiveResult.read(list(rows)), question="", sql=None, **how)


@given(st.integers(2, 10**12))
def test_a_count_is_held_in_every_writing_and_its_neighbour_in_none(count: int) -> None:
    for written in (f"{count}", f"{count:,}", f"{count:_}".replace("_", "\u202f"), f"**{count}**"):
        assert stated(f"There are {written} patients.", (count,)) == ()
        assert stated(f"There are {written} patients.", (count + 1,)) != ()
        assert stated(f"There are {written} patients.", (count - 1,)) != ()


@given(st.decimals(-(10**6), 10**6, places=5), st.integers(0, 4))
def test_a_number_is_held_however_far_it_is_rounded(value: Decimal, places: int) -> None:
    rounded = f"{value:.{places}f}"
    assert stated(f"The value is {rounded}.", (float(value),)) == ()
    off = f"{Decimal(rounded) + 2 * Decimal(10) ** -places:.{places}f}"
    assert stated(f"The value is {off}.", (float(value),)) != ()


@given(st.integers(0, 1000))
def test_a_share_is_held_as_a_percentage_and_the_reverse(thousandths: int) -> None:
    percent = f"{thousandths / 10:.1f}%"
    for held in (thousandths / 1000, thousandths / 10):
        assert stated(f"The share is {percent}.", (held,)) == ()
    if thousandths > 100:
        assert stated(f"The share is {percent}.", ((thousandths - 50) / 1000,)) != ()


@given(st.dates(date(1900, 1, 1), date(2200, 12, 31)), st.integers(1, 40))
def test_a_date_is_held_in_every_writing_and_another_day_in_none(day: date, later: int) -> None:
    other = date.fromordinal(day.toordinal() + later)
    name = day.strftime("%B")
    for written in (
        day.isoformat(),
        f"{day.day} {name} {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{name[:3]} {day.day}, {day.year}",
        f"{day.day}. {name} {day.year}".replace(". ", " "),
        f"{day.month:02}/{day.day:02}/{day.year}",
    ):
        assert stated(f"It was on {written}.", (day.isoformat(),)) == ()
        assert stated(f"It was on {written}.", (day,)) == ()
        missing = stated(f"It was on {written}.", (other.isoformat(),))
        swapped = (other.year, other.month, other.day) == (day.year, day.day, day.month)
        assert missing != () or swapped


SOME = ("heparin", "aspirin", "insulin", "morphine", "warfarin", "furosemide", "metoprolol")


@given(st.permutations(SOME), st.integers(1, 5))
def test_a_list_is_held_in_any_order_and_no_further_name(names: list[str], count: int) -> None:
    rows = [(name,) for name in names[:count]]
    listed = names[:count][::-1]
    text = f"The drugs are {', '.join(listed)}."
    assert stated(text, *rows) == ()
    assert names[-1] in stated(f"The drugs are {', '.join([*listed, names[-1]])}.", *rows)


@given(st.text(st.characters(exclude_categories=()), max_size=300), st.text(max_size=20))
def test_no_sentence_and_no_cell_is_an_exception(text: str, cell: str) -> None:
    stated(text, (cell, 1), (cell, None))
    stated(text, (cell,))
    stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 20_000,
        "1," * 10_000,
        "one hundred and " * 2_000,
        "A" * 20_000,
        "(" * 20_000,
        "1 " * 9_999,
    ],
)
def test_a_long_sentence_is_compared_in_bounded_time(text: str) -> None:
    started = time.perf_counter()
    stated("There are 511 of them." * 100, (511,))
    usual = time.perf_counter() - started
    started = time.perf_counter()
    stated(text, (511,))
    assert time.perf_counter() - started < 200 * usual + 5
