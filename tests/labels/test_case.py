"""What a judge is shown of a result: as much as was asked for, and what was left out is said."""

from __future__ import annotations

from typing import Any

import pytest

from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.labels.case import Case, shown_result
from sentinel_sql.labels.rules import Answer


def result(rows: list[tuple[Any, ...]], *columns: str, **how: Any) -> ExecutionResult:
    kind = "rows" if rows else "empty"
    return ExecutionResult(kind=kind, rows=tuple(rows), columns=columns, **how)


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (result([], "a"), "0 rows, 1 columns"),
        (result([(7,)], "a"), "1 row, 1 columns\na\n7"),
        (
            result([(7, None), (8, b"xyz")], "a", "b"),
            "2 rows, 2 columns\na | b\n7 | NULL\n8 | <3 bytes>",
        ),
        (result([(1,), (2,), (3,)], "a"), "3 rows, 1 columns\na\n1\n2\n3"),
        (result([(1,), (2,), (3,), (4,)], "a"), "4 rows, 1 columns\na\n1\n2\n3\n… 1 more rows"),
        (result([(1,)], "a", truncated=True), "1 or more rows, 1 columns\na\n1"),
        (result([("two\n words",)], "a"), "1 row, 1 columns\na\ntwo words"),
        (ExecutionResult(kind="error", error="no such table: secret"), "the query failed"),
        (ExecutionResult(kind="refused", error="DELETE"), "the query failed"),
    ],
)
def test_a_result_is_shown_up_to_three_rows(shown: ExecutionResult, said: str) -> None:
    assert shown_result(shown, rows=3) == said


def test_no_row_is_shown_where_none_was_asked_for() -> None:
    assert shown_result(result([(7,)], "a"), rows=0) == "1 row, 1 columns"


@pytest.mark.parametrize(("length", "shown"), [(200, "x" * 200), (201, "x" * 199 + "…")])
def test_a_cell_of_more_than_two_hundred_characters_is_cut(length: int, shown: str) -> None:
    assert shown_result(result([("x" * length,)], "a"), rows=1).splitlines()[-1] == shown


def test_of_a_wide_result_thirty_columns_are_shown() -> None:
    wide = result([tuple(range(31))], *(f"c{n}" for n in range(31)))
    head, names, cells = shown_result(wide, rows=1).splitlines()
    assert head == "1 row, 31 columns"
    assert names == " | ".join(f"c{n}" for n in range(30))
    assert cells == " | ".join(str(n) for n in range(30))


def test_another_answer_or_gold_makes_another_case_and_the_run_s_id_is_part_of_it() -> None:
    many = result([(n,) for n in range(25)], "a")
    gold, answer = Answer(sql=" SELECT 1 ", result=many), Answer(sql="SELECT 2", result=many)
    case = Case.of("r", "how many?", gold, answer)
    assert (case.gold_sql, case.answer_sql) == ("SELECT 1", "SELECT 2")
    assert case.gold_result == shown_result(many, rows=20) == case.answer_result
    others = [
        Case.of("r", "how many?", answer, gold),
        Case.of("r", "how few?", gold, answer),
        Case.of("r", "how many?", gold, answer, rows=2),
        Case.of("s", "how many?", gold, answer),
    ]
    assert len({case.sha256, *(other.sha256 for other in others)}) == 5
    assert Case.of("r", "how many?", gold, answer).sha256 == case.sha256
