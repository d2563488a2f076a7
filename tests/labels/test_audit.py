"""The human audit: blinded, seeded, safe to open, and robust against what raters return."""

from __future__ import annotations

import csv
import io
import itertools
import math
import random
from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.errors import LabelsError
from sentinel_sql.evaluation.rater_agreement import kappa, wilson_share
from sentinel_sql.evaluation.studies.judge_audit import judge_audit, raters_agreement
from sentinel_sql.labels.audit import (
    COLUMNS,
    AuditCase,
    AuditKey,
    RaterSheet,
    draw,
    harmless,
    read_sheet,
    sheet,
)
from sentinel_sql.labels.case import Case
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.schema import Schema

HEADER = LabelsHeader(
    judge="llm", mode="ehrsql-2024", database="ward", clock="2100-12-31 23:59:00",
    schema=Schema(tables={}), model="the-judge", prompt_sha256="abc",
)  # fmt: skip
KEY = AuditKey(
    judge="llm", mode="ehrsql-2024", seed=1, judged=9,
    cases=tuple(
        AuditCase(case=f"c000{n}", question_id=f"run{n}", correct=n % 2 == 0, reason="judged")
        for n in range(1, 5)
    ),
)  # fmt: skip


def label(number: int, **changed: object) -> Label:
    told = {
        "question_id": f"run{number}", "answerable": True, "outcome": "answered", "strict": False,
        "correct": number % 3 == 0, "reason": "judged",
    }  # fmt: skip
    return Label.model_validate(told | changed)


def case(name: str, text: str = "How many?") -> Case:
    return Case(
        run_id=name, question=text, gold_sql="SELECT 1", gold_result="1 row, 1 columns\nx\n1",
        answer_sql="SELECT 2", answer_result=text,
    )  # fmt: skip


def test_the_sample_is_of_judged_verdicts_only_and_the_same_for_the_same_seed() -> None:
    judged = [label(n) for n in range(40)]
    others = [
        label(50, strict=True, correct=True, reason="strict-match"),
        label(51, correct=None, reason="unjudged"),
        label(52, reason="answer-error"),
        label(53, reason="rows-differ"),
        label(54, outcome="cap", strict=None, correct=None, reason="cap"),
        label(55, answerable=False, strict=None, correct=False, reason="answered-unanswerable"),
    ]
    labels = {x.question_id: x for x in [*judged, *others]}
    key = draw(HEADER, labels, size=25, seed=7)
    assert (len(key.cases), key.judged, key.model) == (25, 40, "the-judge")
    assert {x.question_id for x in key.cases} <= {x.question_id for x in judged}
    backwards = dict(reversed(labels.items()))
    assert draw(HEADER, backwards, size=25, seed=7) == key
    assert draw(HEADER, labels, size=25, seed=8).cases != key.cases
    assert len(draw(HEADER, labels, size=500, seed=7).cases) == 40
    with pytest.raises(LabelsError, match="no judged verdict"):
        draw(HEADER, {x.question_id: x for x in others}, size=5, seed=7)


def test_sheet_shows_what_the_judge_saw_but_not_its_verdict() -> None:
    cases = {x.question_id: case(x.question_id) for x in KEY.cases}
    flipped = KEY.model_copy(
        update={
            "cases": tuple(
                x.model_copy(update={"correct": not x.correct, "reason": "other"})
                for x in KEY.cases
            ),
            "model": "another",
        }
    )
    made = sheet(KEY, cases, rater=1)
    assert made == sheet(flipped, cases, rater=1), "a sheet doesn't depend on a verdict"
    rows = list(csv.DictReader(io.StringIO(made.decode("utf-8-sig"), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert {row["case"] for row in rows} == {x.case for x in KEY.cases}
    assert {(row["correct"], row["comment"]) for row in rows} == {("", "")}
    assert not any(b.encode() in made for b in ("run1", "judged"))
    assert made != sheet(KEY, cases, rater=2)
    assert sorted(made.splitlines()) == sorted(sheet(KEY, cases, rater=2).splitlines())


texts = st.text(max_size=60) | st.builds(str.__add__, st.sampled_from("=+-@\t\r ＝"), st.text())


@given(st.lists(texts, min_size=4, max_size=4))
def test_no_cell_of_a_sheet_is_a_formula_and_all_are_read_back(written: list[str]) -> None:
    cases = {x.question_id: case(x.question_id, t) for x, t in zip(KEY.cases, written, strict=True)}
    text = sheet(KEY, cases, rater=1).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [len(row) for row in rows] == [len(COLUMNS)] * 5
    for cell in itertools.chain.from_iterable(rows):
        assert cell.lstrip(" ")[:1] not in tuple("=+-@\t\r＝＋－＠")
    by_case = {row[0]: row for row in rows[1:]}
    for known in KEY.cases:
        assert by_case[known.case][1] == harmless(cases[known.question_id].question)


def test_a_huge_cell_fits_a_spreadsheet() -> None:
    assert len(harmless("x" * 100_000)) <= 32_767
    assert len(harmless("=" * 100_000)) <= 32_767


def returned(path: Path, lines: Sequence[str], *, encoding: str = "utf-8") -> RaterSheet:
    path.write_bytes("\r\n".join(lines).encode(encoding))
    return read_sheet(path, KEY)


@pytest.mark.parametrize(
    ("lines", "encoding"),
    [
        (["case,question,correct", "c0001,a,1", "c0002,b,0", "c0003,c,1", "c0004,d,"], "utf-8-sig"),
        (["case;question;correct", "C0003;c;TRUE", "c0001;;Yes", "c0004;;?", "c0002;;n"], "utf-8"),
        (["sep=;", "case;correct", "c0001;1,0", "c0002;0,0", "c0003;1.0", "c0004;"], "cp1252"),
        (["Case\tCorrect", "c0001\ty", "c0002\tno", "c0003\tcorrect", "c0004"], "utf-16"),
        (["correct,case,é", "1,c0001,x", "0,c0002,", "", "1,c0003,", ",c0004,", ",,"], "cp1252"),
    ],
)  # fmt: skip
def test_sheets_are_read_as_spreadsheets_return_them(
    tmp_path: Path, lines: list[str], encoding: str
) -> None:
    found = returned(tmp_path / "ann.csv", lines, encoding=encoding)
    assert found.by_case == {"c0001": True, "c0002": False, "c0003": True}
    assert (found.rater, found.left_open, found.missing) == ("ann", 1, 0)


def test_missing_and_repeated_lines_and_other_columns_are_counted(tmp_path: Path) -> None:
    found = returned(
        tmp_path / "ben.csv",
        ["mood,case,correct,comment", "x,c0001,1,", "x,c0001,,", "x,c0001,y,", "x,c0002,0,hm"],
    )
    assert found.by_case == {"c0001": True, "c0002": False}
    assert (found.missing, found.repeated, found.other_columns) == (2, 2, 1)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["case,verdict", "c0001,1"], "no header line with the columns `case` and `correct`"),
        ([""], "no header line"),
        (["c0001,1", "c0002,0"], "no header line"),
        (["case,correct", "c0001,1", "c0009,1"], "row 3 is of no case of this audit"),
        (["case,correct", ",1"], "row 2 is of no case"),
        (["case,correct", "c0001,SECRET"], r"row 2 \(c0001\) has no rating that can be read"),
        (["case,correct", "c0001,2"], r"row 2 \(c0001\) has no rating"),
        (["case,correct", "c0001,1", "c0001,0"], "row 3 has another rating of c0001"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_row_and_never_quoted(
    tmp_path: Path, lines: list[str], says: str
) -> None:
    with pytest.raises(LabelsError, match=says) as error:
        returned(tmp_path / "ann.csv", lines)
    assert "SECRET" not in str(error.value)
    assert "ann.csv" in str(error.value)


@pytest.mark.parametrize("twice", ["correct", "case", "Correct "])
def test_of_two_columns_of_one_name_none_is_taken(tmp_path: Path, twice: str) -> None:
    (tmp_path / "two.csv").write_text(f"case,correct,{twice}\nc0001,1,0\n")
    with pytest.raises(LabelsError, match="has 2 columns"):
        read_sheet(tmp_path / "two.csv", KEY)


def test_a_missing_sheet_and_one_of_noise_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match=r"gone\.csv can't be read"):
        read_sheet(tmp_path / "gone.csv", KEY)
    (tmp_path / "noise.csv").write_bytes(random.Random(1).randbytes(4_000))
    with pytest.raises(LabelsError, match=r"noise\.csv has no header line"):
        read_sheet(tmp_path / "noise.csv", KEY)


def rater(name: str, said: str) -> RaterSheet:
    ratings = {x.case: sign == "1" for x, sign in zip(KEY.cases, said, strict=True) if sign != "."}
    return RaterSheet(
        rater=name, by_case=ratings, left_open=said.count("."), missing=0, repeated=0,
        other_columns=0,
    )  # fmt: skip


def test_both_directions_of_error_are_counted() -> None:
    # the judge says 0 1 0 1
    ann, ben, both = judge_audit(KEY, [rater("ann", "0110"), rater("ben", "01.1")]).rows
    assert (ann.rated, ann.said_correct, ann.wrongly_correct) == (4, 2, 1)
    assert (ann.said_wrong, ann.wrongly_wrong) == (2, 1)
    assert ann.accuracy is not None
    assert ann.accuracy.estimate == 0.5
    assert (ben.rated, ben.left_open, ben.wrongly_correct, ben.wrongly_wrong) == (3, 1, 0, 0)
    # c0004 is a tie of ann and ben; c0003 was rated by ann alone
    assert (both.rater, both.rated, both.left_open, both.missing) == ("together", 3, 1, 0)
    assert (both.wrongly_correct, both.wrongly_wrong) == (0, 1)


def test_unknown_value_is_none() -> None:
    (row,) = judge_audit(KEY, [rater("ann", "0.0.")]).rows
    assert row.wrongly_correct_share is None
    assert raters_agreement([rater("a", "1111"), rater("b", "1111")]).rows[0].kappa is None
    assert raters_agreement([rater("a", "1..."), rater("b", ".111")]).rows[0].agreement is None
    with pytest.raises(LabelsError, match="no case is rated yet"):
        judge_audit(KEY, [rater("ann", "....")])
    with pytest.raises(LabelsError, match="the same name"):
        judge_audit(KEY, [rater("ann", "0110"), rater("ann", "0110")])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_kappa_is_the_formula(pairs: list[tuple[bool, bool]]) -> None:
    n = len(pairs)
    a, b = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    chance = a * b + (1 - a) * (1 - b)
    found = kappa([x for x, _ in pairs], [y for _, y in pairs])
    if chance == 1:
        assert found is None
    else:
        seen = sum(x == y for x, y in pairs) / n
        assert found == pytest.approx((seen - chance) / (1 - chance))


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_shares_have_wilson_s_interval(pair: tuple[int, int]) -> None:
    hits, n = pair
    z, p = 1.959963984540054, hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    found = wilson_share(hits, n)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half), abs=1e-9)
    assert wilson_share(0, 0) is None
