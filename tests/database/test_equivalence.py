"""Each mode calls the same results equal as its specification does."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.equivalence import (
    COMPARED_ROWS,
    MODES,
    Equivalence,
    Rows,
    printed_2024,
    printed_v1,
)
from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.database.sqlite.database import SqliteDatabase

EXOTIC: list[Any] = [
    *(
        "1e3",
        " 7 ",
        "\t7\n",
        "0012",
        "1_000",
        "1__0",
        "_1",
        "nan",
        "-nan",
        "inf",
        "Infinity",
        "-inf",
    ),
    *(
        "٣",
        "１２",
        "²",
        "0x10",
        "1,5",
        "1.5.",
        "",
        " ",
        "None",
        "none",
        "True",
        "-0",
        "+5",
        ".5",
        "5.",
    ),
    *(None, 0, -0.0, 0.0, 1, 1.0, -1, 90, 90.0, 0.0005, 0.0015, 2.5, 1.2345, 1.235, 1e22, 1e-9),
    *(float("nan"), float("inf"), float("-inf"), 2**53 + 1, 2**63 - 1, -(2**63), 10**400),
    *(b"", b"12", b" 7 ", b"\xff", b"None", "b'12'", True, False, "é", "['a']", "a', 'b"),
]
CELLS = st.one_of(
    st.sampled_from(EXOTIC),
    st.integers(-5, 5),
    st.floats(allow_nan=True),
    st.floats(-3, 3).map(lambda value: round(value, 4)),
    st.text(max_size=4),
    st.binary(max_size=3),
)
ROWS = st.lists(st.lists(CELLS, max_size=3), max_size=5)


# References, written another way than the code: the comparison is cell by cell over Python values
# where the code compares texts.


def reference_2024(a: Rows, b: Rows) -> bool:
    def text(cell: Any) -> str:
        try:
            number = float(cell)
        except Exception:
            return f"{cell!s}"
        if math.isnan(number) or math.isinf(number):
            return "nan" if math.isnan(number) else ("-inf" if number < 0 else "inf")
        # Decimal rounds the float's exact value half to even, as Python's `round` does
        rounded = Decimal(number).quantize(Decimal("0.001")) if abs(number) < 1e20 else number
        return repr(math.copysign(float(rounded), number))

    def first(rows: Rows) -> list[list[str]]:
        left = [[text(cell) for cell in row] for row in rows]
        taken: list[list[str]] = []
        while left and len(taken) < 100:
            taken.append(left.pop(left.index(min(left))))
        return taken

    return first(a) == first(b)


def reference_v1(a: Rows, b: Rows) -> bool:
    left = [repr(tuple(row)) for row in b][:100]
    for row in [repr(tuple(row)) for row in a][:100]:
        if row not in left:
            return False
        left.remove(row)
    return not left


@pytest.mark.parametrize(
    ("mode", "reference"), [("ehrsql-2024", reference_2024), ("ehrsql-v1", reference_v1)]
)
@given(a=ROWS, b=ROWS, seed=st.randoms(use_true_random=False))
def test_official_modes_agree_with_an_independent_reading(
    mode: str, reference: Callable[[Rows, Rows], bool], a: Rows, b: Rows, seed: Any
) -> None:
    shuffled = list(a)
    seed.shuffle(shuffled)
    for left, right in ((a, b), (a, shuffled), (a, a[:-1]), (a, [*a, *a[:1]])):
        assert MODES[mode].equivalent(left, right) == reference(left, right)


@pytest.mark.parametrize(
    ("mode", "reference"), [("ehrsql-2024", reference_2024), ("ehrsql-v1", reference_v1)]
)
def test_official_modes_agree_on_every_pair_of_odd_cells(
    mode: str, reference: Callable[[Rows, Rows], bool]
) -> None:
    for a, b in permutations(EXOTIC, 2):
        assert MODES[mode].equivalent([[a]], [[b]]) == reference([[a]], [[b]]), (a, b)


def cell_of(value: Any) -> Any:
    if isinstance(value, dict):
        return value["bytes"].encode() if "bytes" in value else float(value["float"])
    return value


@pytest.mark.parametrize("mode", ["ehrsql-2024", "ehrsql-v1"])
def test_official_modes_agree_with_the_official_verdicts(shared_data: Path, mode: str) -> None:
    pairs = json.loads((shared_data / "equivalence_pairs.json").read_text("utf-8"))
    for pair in pairs:
        a, b = ([[cell_of(cell) for cell in row] for row in pair[side]] for side in "ab")
        assert MODES[mode].equivalent(a, b) == pair[mode.replace("-", "_")], pair["note"]
    assert len(pairs) >= 40


@pytest.mark.parametrize(
    ("a", "b", "v2024", "v1"),
    [
        ([[1]], [[1.0]], True, False),
        ([["0012"]], [["12"]], True, False),
        ([[None]], [["None"]], True, False),
        ([[b"12"]], [[12]], True, False),
        ([[-0.0]], [[0.0]], False, False),
        ([["-0.0001"]], [[0]], False, False),
        ([["1_000"]], [[1000]], True, False),
        ([["１２"]], [[12]], True, False),
        ([[float("nan")]], [["nan"]], True, False),
        ([[float("nan")]], [[float("nan")]], True, True),
        ([[2**53 + 1]], [[2**53]], True, False),
        ([[10**400]], [[10**400 + 1]], False, False),
        ([[True]], [[1]], True, False),
        ([], [], True, True),
        ([], [[]], False, False),
        ([[1, 2]], [[2, 1]], False, False),
        ([[1], [2, 3]], [[2, 3], [1]], True, True),
        ([["a', 'b"]], [["a", "b"]], False, False),
        ([[1], ["a"], [None]], [[None], [1], ["a"]], True, True),
    ],
)
def test_official_faults_are_kept(a: Rows, b: Rows, v2024: bool, v1: bool) -> None:
    assert MODES["ehrsql-2024"].equivalent(a, b) is v2024
    assert MODES["ehrsql-v1"].equivalent(a, b) is v1


def test_rows_behind_the_hundredth_count_in_neither_official_mode() -> None:
    rows = [[number] for number in range(200, 50, -1)]
    assert printed_v1(rows) == printed_v1([*rows[:100], ["other"]])
    assert printed_v1(rows) != printed_v1(rows[::-1])
    assert printed_2024(rows) == printed_2024(rows[::-1])
    assert printed_2024(rows) == printed_2024([*rows, ["zz"]])
    assert printed_2024(rows) != printed_2024([*rows, [0]])


# --- sentinel-1

SENTINEL = MODES["sentinel-1"]


@given(ROWS, st.randoms(use_true_random=False))
def test_ours_ignores_order_unless_asked_and_counts_duplicates(rows: Rows, seed: Any) -> None:
    shuffled = list(rows)
    seed.shuffle(shuffled)
    assert SENTINEL.equivalent(rows, shuffled)
    assert SENTINEL.equivalent(rows, rows, ordered=True)
    assert not SENTINEL.equivalent(rows, [*rows, [1]])
    if rows:
        assert not SENTINEL.equivalent(rows, [*rows, rows[0]])


@given(ROWS, ROWS, ROWS)
def test_ours_is_an_equivalence(a: Rows, b: Rows, c: Rows) -> None:
    for ordered in (False, True):
        same = lambda x, y: SENTINEL.equivalent(x, y, ordered=ordered)  # noqa: E731, B023
        assert same(a, a)
        assert same(a, b) == same(b, a)
        if same(a, b) and same(b, c):
            assert same(a, c)


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=50), st.randoms(use_true_random=False))
def test_ours_doesnt_see_the_order_of_summation(values: list[float], seed: Any) -> None:
    shuffled = list(values)
    seed.shuffle(shuffled)
    a, b = sum(values), sum(shuffled)
    # a sum may lie at the edge between two ninth digits; there the form can't help
    if f"{a * (1 - 1e-12):.9g}" == f"{a * (1 + 1e-12):.9g}":
        assert SENTINEL.equivalent([[a]], [[b]])


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (3, 3.0, True),
        (0.1 + 0.2, 0.3, True),
        (3, 3.0000000000000004, True),
        (-0.0, 0, True),
        (87.33, 87.3333, False),
        (1.2345, 1.235, False),
        (0.0001, 0.0004, False),
        (2**53 + 1, 2**53, False),
        ("90", 90, False),
        ("0012", "12", False),
        ("A", "a", False),
        (None, "None", False),
        (None, 0, False),
        (None, "", False),
        (None, None, True),
        (b"a", "a", False),
        ("2100-01-01", "2100-01-01 00:00:00", False),
        (float("inf"), float("inf"), True),
        (float("inf"), 1e308, False),
    ],
)
def test_ours_tells_values_apart_as_a_reader_of_the_answer_would(
    a: Any, b: Any, same: bool
) -> None:
    assert SENTINEL.equivalent([[a]], [[b]]) is same
    assert SENTINEL.equivalent([["x", a], ["y", 1]], [["y", 1], ["x", b]]) is same


def test_ours_heeds_order_where_it_is_asked_for() -> None:
    assert not SENTINEL.equivalent([[1], [2]], [[2], [1]], ordered=True)
    assert not SENTINEL.equivalent([[1, 2]], [[2, 1]])
    assert not SENTINEL.equivalent([], [[None]])


# --- executions


def result(rows: Rows, *, truncated: bool = False, cells_cut: bool = False) -> ExecutionResult:
    return ExecutionResult(
        kind="rows" if rows else "empty",
        rows=tuple(tuple(row) for row in rows),
        truncated=truncated or cells_cut,
        cells_cut=cells_cut,
    )


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_a_failed_execution_is_never_the_same_answer(mode: Equivalence) -> None:
    failed = ExecutionResult(kind="error", error="no such table: t")
    assert mode.same_answer(failed, failed) is False
    assert mode.same_answer(result([]), failed) is False
    assert mode.same_answer(result([]), result([])) is True


@given(
    whole_a=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=1), max_size=140),
    whole_b=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=1), max_size=140),
    same=st.booleans(),
    kept=st.integers(1, 130),
)
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_truncation_never_changes_a_verdict_only_withholds_it(
    mode: Equivalence, whole_a: Rows, whole_b: Rows, same: bool, kept: int
) -> None:
    b = whole_a if same else whole_b
    true = mode.equivalent(whole_a, b)
    cut = result(b[:kept], truncated=len(b) > kept)
    for verdict in (
        mode.same_answer(result(whole_a), cut),
        mode.same_answer(cut, result(whole_a)),
        mode.same_answer(result(whole_a[:kept], truncated=len(whole_a) > kept), cut),
    ):
        assert verdict in (true, None)
    if not cut.truncated:
        assert mode.same_answer(result(whole_a), cut) is true


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_a_cut_result_longer_than_a_short_gold_is_surely_another(mode: Equivalence) -> None:
    many = result([[number] for number in range(10_000)], truncated=True)
    assert mode.same_answer(result([[1]]), many) is False
    assert mode.same_answer(many, result([])) is False
    assert mode.same_answer(result([["x"]]), result([["x" * 5]], cells_cut=True)) is None


def test_only_v1_can_judge_a_cut_result_by_its_first_hundred_rows() -> None:
    gold = result([[number] for number in range(COMPARED_ROWS + 50)])
    cut = result([[number] for number in range(COMPARED_ROWS)], truncated=True)
    assert MODES["ehrsql-v1"].same_answer(gold, cut) is True
    assert MODES["ehrsql-2024"].same_answer(gold, cut) is None
    assert SENTINEL.same_answer(gold, cut) is None


# --- the real data set


def tasks(shared_data: Path) -> list[dict[str, Any]]:
    rows = []
    for split in ("train", "valid"):
        path = shared_data / "ehrsql2024" / f"tasks_{split}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return [row for row in rows if row["answerable"]]


def mismatches(mimic_iv: Path, rows: list[dict[str, Any]]) -> list[str]:
    prepare = MODES["ehrsql-2024"].postprocess
    with SqliteDatabase.open(mimic_iv) as database:
        given = {row["id"]: database.execute(prepare(row["gold_sql"])) for row in rows}
    return [
        row["id"]
        for row in rows
        if given[row["id"]].kind not in ("rows", "empty")
        or given[row["id"]].truncated
        or printed_2024(given[row["id"]].rows) != row["gold_answer"]
    ]


def test_every_twentieth_gold_query_prints_the_shipped_answer(
    shared_data: Path, mimic_iv: Path
) -> None:
    sample = tasks(shared_data)[::20]
    assert len(sample) > 250
    assert mismatches(mimic_iv, sample) == []


@pytest.mark.slow
def test_every_gold_query_prints_the_shipped_answer(shared_data: Path, mimic_iv: Path) -> None:
    rows = tasks(shared_data)
    assert len(rows) == 5_605
    assert mismatches(mimic_iv, rows) == []


def test_every_gold_query_is_prepared_as_the_data_set_prepared_it(shared_data: Path) -> None:
    prepare = MODES["ehrsql-2024"].postprocess
    for row in tasks(shared_data):
        assert prepare(row["gold_sql"]) == row["gold_sql_exec"]
