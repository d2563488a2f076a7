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


class Fails:
    """A cell of a user's class that can't be written out."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


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


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 20_000,
        "- " * 10_000,
        "1," * 4_000,
        "1,111" * 1_500,
        ", ".join(f"drug{place}" for place in range(1_000)),
        "Found: " + ", ".join(f"drug{place}: {place}" for place in range(1_000)),
        ". ".join(f"Drug{place} is {place}" for place in range(1_000)),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_the_time_for_a_sentence_grows_with_its_length_and_not_faster(text: str) -> None:
    rows = [(f"drug{place}", place, f"2100-01-{place % 28 + 1:02d}") for place in range(1_000)]

    def seconds(share: int) -> float:
        started = time.process_time()
        stated(text[: len(text) // share], *rows)
        return time.process_time() - started

    assert seconds(1) < 12 * max(seconds(4), 0.05)


def test_the_time_for_a_result_is_bounded_however_long_its_texts_are() -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        rows = [(f"patient number {place}",) for place in range(count)]
        stated("There are 3 patients on Aspirin. Names: patient number 5.", *rows)
        return time.process_time() - started

    few = seconds(8_000)
    assert seconds(40_000) < 6 * few
    started = time.process_time()
    assert stated("It was heparin.", ("heparin 5 mg " * 100_000,)) == ()
    assert time.process_time() - started < 20 * few


@pytest.mark.parametrize("padding", [" ", "\n", "The value is 3. "])
def test_what_stands_behind_the_compared_part_of_a_sentence_is_no_answer(padding: str) -> None:
    text = padding * (20_001 // len(padding) + 1) + "There are 512."
    assert stated(text, (3,)) != ()


@pytest.mark.parametrize(
    "cell",
    [10**5000, -(10**5000), Fails(), [[]] * 3, {"a": Fails()}],
    ids=lambda cell: type(cell).__name__,
)
def test_a_cell_that_cannot_be_written_out_does_not_keep_the_others_from_being_compared(
    cell: Any,
) -> None:
    assert stated("There are 3 rows.", (cell,), (cell,), (cell,)) == ()
    assert stated("The drug is heparin.", ("heparin", cell)) == ()
    assert stated("There are 512.", (cell,)) == ("512",)
