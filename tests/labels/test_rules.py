from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from sentinel_sql.database.executor import Cell, ExecutionResult
from sentinel_sql.labels.rules import Answer, Verdict, judge_by_rules

PLAIN = "SELECT a, b, c FROM t"


def result(rows: Sequence[Sequence[Cell]], columns: Sequence[str] | None = None) -> ExecutionResult:
    names = columns or [f"c{i}" for i in range(len(rows[0]) if rows else 1)]
    return ExecutionResult(
        kind="rows" if rows else "empty",
        columns=tuple(names),
        rows=tuple(tuple(row) for row in rows),
    )


def judge(
    gold: Sequence[Sequence[Cell]],
    given_rows: Sequence[Sequence[Cell]],
    *,
    question: str = "Tell me.",
    gold_sql: str = PLAIN,
    sql: str = PLAIN,
    gold_columns: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Verdict:
    return judge_by_rules(
        question,
        gold=Answer(sql=gold_sql, result=result(gold, gold_columns)),
        predicted=Answer(sql=sql, result=result(given_rows, columns)),
    )


cells: st.SearchStrategy[Cell] = st.one_of(
    st.none(),
    st.integers(-5, 2000),
    st.floats(-1e4, 1e4).map(lambda x: round(x, 3)),
    st.sampled_from(["iv", "po", "po/ng", "0012", "12", "2100-01-01", "2100-01-01 13:00:00"]),
)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6)
)
questions = st.sampled_from(["Which drugs?", "How many?", "List the top three.", "When first?"])
golds = st.sampled_from([PLAIN, "SELECT DISTINCT a FROM t", "SELECT COUNT(*)>0 FROM t"])


@given(tables, questions, golds)
def test_an_answer_equal_to_the_gold_is_correct(
    rows: list[tuple[Cell, ...]], question: str, gold_sql: str
) -> None:
    assert judge(rows, rows, question=question, gold_sql=gold_sql).correct


@given(tables, st.randoms(), questions)
def test_neither_the_order_of_columns_nor_of_rows_counts(
    rows: list[tuple[Cell, ...]], random: object, question: str
) -> None:
    columns = list(range(len(rows[0])))
    random.shuffle(columns)  # type: ignore[attr-defined]
    given_rows = [tuple(row[c] for c in columns) for row in rows]
    random.shuffle(given_rows)  # type: ignore[attr-defined]
    assert judge(rows, given_rows, question=question).correct


@given(tables, tables, st.randoms(), questions, golds)
def test_the_verdict_is_blind_to_the_order_of_the_answers_columns(
    rows: list[tuple[Cell, ...]],
    given_rows: list[tuple[Cell, ...]],
    random: object,
    question: str,
    gold_sql: str,
) -> None:
    columns = list(range(len(given_rows[0])))
    random.shuffle(columns)  # type: ignore[attr-defined]
    names = [f"n{c}" for c in range(len(columns))]
    one = judge(rows, given_rows, question=question, gold_sql=gold_sql, columns=names)
    other = judge(
        rows,
        [tuple(row[c] for c in columns) for row in given_rows],
        question=question,
        gold_sql=gold_sql,
        columns=[names[c] for c in columns],
    )
    assert one.correct == other.correct


FRESH: tuple[Cell, ...] = ("a value met nowhere", 987654, 0.123456, None, "2099-09-09")


@given(tables, st.data(), questions, golds)
def test_a_changed_value_is_never_correct(
    rows: list[tuple[Cell, ...]], data: st.DataObject, question: str, gold_sql: str
) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    value = data.draw(st.sampled_from(FRESH))
    assume(value is not None or all(cell is not None for row in rows for cell in row))
    changed = [list(row) for row in rows]
    changed[at][column] = value
    assert not judge(rows, changed, question=question, gold_sql=gold_sql).correct


@given(tables, questions, golds)
def test_a_missing_row_is_never_correct_unless_it_stands_twice(
    rows: list[tuple[Cell, ...]], question: str, gold_sql: str
) -> None:
    assume(len(set(map(repr, rows))) == len(rows) and len(set(rows)) == len(rows))
    assume(not any(str(cell) in ("12", "12.0") for row in rows for cell in row))
    assert not judge(rows, rows[1:], question=question, gold_sql=gold_sql).correct


@given(tables, questions)
def test_a_missing_column_is_never_correct(rows: list[tuple[Cell, ...]], question: str) -> None:
    assume(len(rows[0]) > 1)
    verdict = judge(rows, [row[1:] for row in rows], question=question)
    assert (verdict.correct, verdict.reason) == (False, "fewer-columns")


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (90, "90"),
        ("90", 90.0),
        (0.1 + 0.2, 0.3),
        ("2100-01-01", "2100-01-01 00:00:00"),
        ("2100-01-01 13:00", "2100-01-01T13:00:00"),
        ("Aspirin ", "aspirin"),
        (b"\x00", b"\x00"),
    ],
)
def test_one_value_in_two_types_is_the_same_value(gold: Cell, answer: Cell) -> None:
    verdict = judge([(gold,)], [(answer,)])
    assert (verdict.correct, verdict.reason) == (True, "same-values")
    assert judge([(answer,)], [(gold,)]).correct


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (10001217, 10001218),
        (12345678901, 12345678902),
        ("0012", "12"),
        (37.0, 37.04),
        (3, 3.4),
        (3.3333, 3.33),
        (None, 0),
        (None, ""),
        (0, ""),
        (1, "yes"),
        ("2100-01-01 13:00:00", "2100-01-01"),
        ("9" * 5000, "8" * 5000),
        (float("inf"), 1e308),
    ],
)
def test_values_that_only_look_alike_are_not_the_same(gold: Cell, answer: Cell) -> None:
    assert not judge([(gold,)], [(answer,)]).correct
    assert not judge([(answer,)], [(gold,)]).correct


def test_rounding_counts_only_where_a_query_rounds() -> None:
    rounding = "SELECT ROUND(AVG(x), 2) FROM t"
    assert judge([(3.33,)], [(3.3333,)], gold_sql=rounding).reason == "rounded"
    assert judge([(3.3333,)], [(3.33,)], sql=rounding).reason == "rounded"
    assert not judge([(3.33,)], [(3.34,)], gold_sql=rounding).correct
    assert not judge([(0.65,)], [(0.7,)], sql="SELECT ROUND(x, 1) FROM t").correct
    inside = "SELECT x FROM t WHERE ROUND(x, 0) = 3"
    assert not judge([(3.33,)], [(3.4,)], gold_sql=inside, sql=inside).correct


def test_extra_columns_may_stand_beside_the_golds() -> None:
    gold = [("insulin",), ("heparin",)]
    assert judge(gold, [("insulin", 280), ("heparin", 20)]).reason == "extra-columns"
    assert judge(gold, [(7, "insulin", 280), (8, "heparin", 20)]).reason == "extra-columns"
    assert not judge(gold, [(7, 1, "insulin", 280), (8, 1, "heparin", 20)]).correct


def test_a_small_number_met_by_chance_beside_others_is_no_answer() -> None:
    assert not judge([(1,)], [("f", 1)]).correct
    assert judge([(1,)], [("f", 1)], gold_columns=["t.n"], columns=["sex", "N"]).correct
    assert judge([(1234,)], [("f", 1234)]).correct


def test_extra_columns_need_one_map_for_all_rows() -> None:
    gold = [("a", "b"), ("c", "d")]
    assert judge(gold, [("b", "a"), ("d", "c")]).reason == "columns-permuted"
    assert not judge(gold, [("a", "b"), ("d", "c")]).correct
    assert not judge(gold, [("a", "d", 1), ("c", "b", 2)]).correct


def test_duplicates_are_forgiven_where_a_set_is_asked_for() -> None:
    gold, doubled = [("iv",), ("po",)], [("iv",), ("po",), ("iv",)]
    distinct = "SELECT DISTINCT route FROM t"
    assert judge(gold, doubled, gold_sql=distinct).reason == "duplicates"
    assert judge(doubled, gold, question="Which routes were used?").reason == "duplicates"
    assert judge(gold, doubled).reason == "duplicates-differ"
    each = "List the route of each prescription."
    assert judge(gold, doubled, question=each).reason == "duplicates-differ"


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What are the top two drugs, ordered by use?", "order-differs"),
        ("List the drugs alphabetically.", "order-differs"),
        ("Name two drugs from largest to smallest dose.", "order-differs"),
        ("Show the drugs, sorting them by date.", "order-differs"),
        ("Name two drugs.", "order-unclear"),
        ("Nenne zwei Mittel, die teuersten zuerst.", "order-unclear"),
        ("Two drugs, cheap before dear.", "order-unclear"),
    ],
)
def test_a_turned_answer_to_an_ordering_gold_is_not_correct(question: str, reason: str) -> None:
    gold, turned = [("a",), ("b",)], [("b",), ("a",)]
    ordered = "SELECT d FROM t GROUP BY d ORDER BY COUNT(*) DESC LIMIT 2"
    assert judge(gold, turned, question=question, gold_sql=ordered) == Verdict(
        correct=False, reason=reason
    )
    assert judge(gold, gold, question=question, gold_sql=ordered).correct
    assert judge(gold, turned, question=question).correct  # this gold doesn't order


@pytest.mark.parametrize(
    ("gold_sql", "correct"),
    [
        ("SELECT d FROM (SELECT d, at FROM t ORDER BY at)", False),
        ("SELECT d FROM (SELECT * FROM (SELECT d FROM t ORDER BY at) LIMIT 2) AS x", False),
        ("WITH x AS (SELECT d FROM t ORDER BY at) SELECT d FROM x", False),
        ("SELECT d FROM (SELECT d FROM t UNION SELECT e FROM u ORDER BY 1)", False),
        ("SELECT d FROM (SELECT d FROM t ORDER BY at) GROUP BY d", True),
        ("SELECT x.d FROM (SELECT d FROM t ORDER BY at) AS x JOIN u ON u.d = x.d", True),
        ("SELECT d FROM t WHERE d IN (SELECT d FROM t ORDER BY at LIMIT 2)", True),
        ("WITH RECURSIVE x AS (SELECT d FROM x) SELECT d FROM x", True),
    ],
)
def test_an_order_of_the_subquery_that_a_gold_reads_alone_counts(
    gold_sql: str, correct: bool
) -> None:
    gold, turned = [("a",), ("b",)], [("b",), ("a",)]
    assert judge(gold, turned, question="By date", gold_sql=gold_sql).correct is correct


def test_order_does_not_count_where_the_wording_says_so() -> None:
    ordered = "SELECT d FROM t ORDER BY d"
    for question in (
        *("Name the drugs in any order.", "The drugs; order doesn't matter."),
        *("The drugs (unsorted).", "The drugs, regardless of their order."),
        *("The drugs, in no specific order", "The order of the drugs doesn't matter"),
    ):
        assert judge(
            [("a",), ("b",)], [("b",), ("a",)], question=question, gold_sql=ordered
        ).correct


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [(2.25, 1, 2.3), (0.125, 2, 0.13), (-0.125, 2, -0.13), (2.5, 0, 3.0), (1.45, 1, 1.5)],
)
def test_halves_are_rounded_as_sqlite_rounds_them(
    value: float, digits: int, rounded: float
) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute("SELECT round(?, ?)", (value, digits)).fetchone() == (rounded,)
    sql = f"SELECT round(a, {digits}) FROM t"
    assert judge([(rounded,)], [(value,)], gold_sql=sql).reason == "rounded"


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_an_answer_rounds_to_the_gold_s_rounding_of_it(value: float, digits: int) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        (rounded,) = connection.execute("SELECT round(?, ?)", (value, digits)).fetchone()
    assert judge([(rounded,)], [(value,)], gold_sql=f"SELECT round(a, {digits}) FROM t").correct


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ([("ann",)], [("ann", 1, 2, 3, 4)]),
        ([("ann",)], [(1, 2, 3, 4, "ann")]),
        ([("ann", 1)], [("ann", 1, 2, 3, 4, 5)]),
        ([(36.6,)], [(7, "m", None, "ward 3", 36.6)]),
        ([("2100-05-02",)], [("x", "2100-05-02", "y", "z", "w", "v")]),
        ([("ann",)], [("ann", "ann", "ann", "ann", "ann")]),
    ],
)
def test_row_with_many_more_columns_has_too_many_columns(
    gold: list[tuple[object, ...]], answer: list[tuple[object, ...]]
) -> None:
    verdict = judge(gold, answer)
    assert (verdict.correct, verdict.reason) == (False, "too-many-columns")


def test_row_with_two_more_columns_is_the_answer() -> None:
    assert judge([("ann",)], [("ann", 1, 2)]).correct


def test_yes_and_no_stand_for_a_truth_value_only() -> None:
    truth = "SELECT COUNT(*)>0 FROM t"
    assert judge([(1,)], [("Yes",)], gold_sql=truth).reason == "yes-no"
    assert judge([(0,)], [("false",)], gold_sql=truth).reason == "yes-no"
    assert not judge([(0,)], [("yes",)], gold_sql=truth).correct
    assert not judge([(1,)], [("yes",)], gold_sql="SELECT COUNT(*) FROM t").correct
    assert judge([(1,)], [(1,), (1,)], gold_sql=truth).reason == "duplicates"


def test_a_wrong_answer_is_called_by_what_differs() -> None:
    gold = [(1,), (2,)]
    for answer, reason in (
        ([(1,)], "rows-missing"),
        ([(1,), (2,), (3,)], "rows-added"),
        ([(1,), (3,)], "values-differ"),
    ):
        assert judge(gold, answer) == Verdict(correct=False, reason=reason)


def test_no_rows_is_no_answer_not_even_to_a_question_whose_answer_is_no() -> None:
    truth = "SELECT COUNT(*)>0 FROM t"
    assert judge([(0,)], [], gold_sql=truth) == Verdict(correct=False, reason="empty-answer")
    assert judge([], [(0,)]) == Verdict(correct=False, reason="not-empty")
    assert not judge([(1,)], [(3,)], gold_sql=truth).correct


def test_wide_results_of_equal_columns_are_judged_in_bounded_time() -> None:
    wide = [tuple([7] * 40)]
    assert judge(wide, wide).correct
    gold = [tuple([1] * 20 + [2] * 20), tuple([2] * 20 + [1] * 20)]
    other = [tuple([1, 2] * 20), tuple([1, 2] * 20)]
    assert not judge(gold, other).correct


def test_queries_that_do_not_parse_are_judged_by_their_values() -> None:
    assert judge([(1,)], [("1",)], gold_sql="((((", sql="SELECT").correct


@given(tables)
def test_types_that_sqlite_gives_back_make_no_difference(rows: list[tuple[Cell, ...]]) -> None:
    """A round trip through text columns, where every number comes back as text."""
    width = len(rows[0])
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE t ({', '.join(f'c{i} TEXT' for i in range(width))})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * width)})", rows)
        as_text = connection.execute("SELECT * FROM t").fetchall()
    finally:
        connection.close()
    assert judge(rows, as_text).correct
