"""Labels from gold answers that are written down: what a text means, and where nobody can tell."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.database.equivalence import MODES
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.labels.gold_answer import gold_readings
from sentinel_sql.labels.record import JudgeName, Label
from sentinel_sql.pipeline.audit import export_audit
from sentinel_sql.pipeline.check_questions import check_questions
from sentinel_sql.pipeline.label import Labelling, label_runs
from sentinel_sql.pipeline.llm_label import prepare
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, make_step, make_trajectory


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (drug TEXT, dose REAL);"
            "INSERT INTO t VALUES ('iv', 1.5), ('po', 2.0), ('im', 87.3287)"
        )
    with SqliteDatabase.open(path, clock=CLOCK) as opened:
        yield opened


def labelled(
    database: SqliteDatabase,
    gold: str,
    sql: str,
    *,
    text: str = "What is it?",
    judge: JudgeName = "rules",
    mode: str = "sentinel-1",
) -> Labelling:
    question = Question(id="q", text=text, answerable=True, gold_answer=gold)
    run = make_trajectory("q", text, steps=[make_step(1, action="final_sql", sql=sql)])
    return label_runs([run], [question], database, judge, mode)


def outcome(made: Labelling) -> bool | str | None:
    """Return `correct`, or the reason for no label."""
    return made.labels[0].correct if made.labels else made.unlabelled["q"]


@pytest.mark.parametrize(
    ("gold", "sql", "expected"),
    [
        ("3", "SELECT count(*) FROM t", True),
        ("4", "SELECT count(*) FROM t", False),
        ("iv", "SELECT drug FROM t WHERE dose = 1.5", True),
        ('"iv"', "SELECT drug FROM t WHERE dose = 1.5", True),
        ('["iv", "po", "im"]', "SELECT drug FROM t", True),
        ("[['iv'], ['im'], ['po']]", "SELECT drug FROM t", True),
        ("['iv', 'po']", "SELECT drug FROM t", False),
        ('[["iv", 1.5], ["po", 2]]', "SELECT drug, dose FROM t WHERE dose < 3", True),
        (
            '[{"drug": "iv", "dose": 1.5}]',
            "SELECT drug, dose FROM t WHERE dose = 1.5",
            True,
        ),
        ("[[null]]", "SELECT NULL", True),
        ("[[None]]", "SELECT 0", False),
        ("[]", "SELECT drug FROM t WHERE dose > 99", True),
        ("[]", "SELECT drug FROM t", False),
        ("yes", "SELECT count(*) > 1 FROM t", True),
        ("no", "SELECT count(*) > 1 FROM t", False),
        ("yes", "SELECT 'Yes'", True),
        ("true", "SELECT 1", True),
        ("87.33", "SELECT max(dose) FROM t", True),
        ("87.34", "SELECT max(dose) FROM t", False),
        ("0012", "SELECT '0012'", True),
        ("iv", "SELECT nothing FROM t", False),
        ("42 mg", "SELECT 43", False),
        ("2100-04-03", "SELECT '2100-03-04'", False),
        ("2100-04-03", "SELECT '2100-04-03 00:00:00'", True),
    ],
)
def test_an_answer_is_right_if_it_is_the_written_one(
    database: SqliteDatabase, gold: str, sql: str, expected: bool
) -> None:
    made = labelled(database, gold, sql)
    assert outcome(made) is expected
    assert made.labels[0].judge == "gold-answer"
    assert made.to_json()["by_gold_answer"] == 1


@pytest.mark.parametrize(
    ("gold", "sql", "text"),
    [
        ("iv, po, im", "SELECT drug FROM t", "What is it?"),
        ("iv and po", "SELECT drug FROM t WHERE dose < 3", "What is it?"),
        ("iv; po; im", "SELECT 'iv', 'po', 'im'", "What is it?"),
        ('["iv", 1.5]', "SELECT drug, dose FROM t WHERE dose = 1.5", "What is it?"),
        ("1,234", "SELECT 1234", "What is it?"),
        ("0012", "SELECT 12", "What is it?"),
        ("42 mg", "SELECT 42", "What is it?"),
        ("$1,200.50", "SELECT 1200.5", "What is it?"),
        ("50 %", "SELECT 0.5", "What is it?"),
        ("50%", "SELECT 50", "What is it?"),
        ("87,33", "SELECT 87.33", "What is it?"),
        ("03/04/2100", "SELECT '2100-04-03'", "What is it?"),
        ("3.4.2100", "SELECT '2100-03-04'", "What is it?"),
        ("87.3", "SELECT max(dose) FROM t", "What is it?"),
        ("87", "SELECT max(dose) FROM t", "What is it?"),
        ("['po', 'iv', 'im']", "SELECT drug FROM t ORDER BY dose", "Which drugs, ordered by dose?"),
    ],
)
def test_an_answer_that_is_right_under_another_reading_only_has_no_label(
    database: SqliteDatabase, gold: str, sql: str, text: str
) -> None:
    made = labelled(database, gold, sql, text=text)
    assert outcome(made) == "gold-ambiguous"
    assert made.to_json()["unlabelled"] == {"gold-ambiguous": 1}


@pytest.mark.parametrize(
    "gold", ["['iv'", "[[1], [1, 2]]", "[1, [2]]", "[[[1]]]", "{'a': 1}", "[NaN]", "[[]]", "[a, b]"]
)
def test_a_gold_answer_that_is_no_value_leaves_its_run_without_a_label(
    database: SqliteDatabase, gold: str
) -> None:
    made = labelled(database, gold, "SELECT drug FROM t")
    assert outcome(made) == "gold-unread"


def test_official_modes_compare_the_printed_answers_of_their_data_set(
    database: SqliteDatabase,
) -> None:
    printed = "[['im', '87.329'], ['iv', '1.5'], ['po', '2.0']]"
    sql = "SELECT drug, dose FROM t"
    made = labelled(database, printed, sql, judge="strict", mode="ehrsql-2024")
    assert (made.labels[0].strict, made.labels[0].correct) == (True, True)
    typeless, sql = "[['iv', '1.5'], ['po', '2.0']]", "SELECT drug, dose FROM t WHERE dose < 3"
    assert outcome(labelled(database, typeless, sql, judge="strict")) == "gold-ambiguous"
    assert outcome(labelled(database, typeless, sql, judge="rules")) is True


cells = st.one_of(st.none(), st.text(max_size=8), st.integers(-(10**12), 10**12), st.booleans())


@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=5)
    )
)
def test_rows_as_json_and_as_python_prints_them_mean_themselves(rows: list[list[Any]]) -> None:
    wanted = tuple(tuple(int(c) if isinstance(c, bool) else c for c in row) for row in rows)
    for written in (json.dumps(rows), repr(rows)):
        read = gold_readings(written, "?")[0].result
        assert read.rows == wanted
        assert MODES["sentinel-1"].equivalent(read.rows, wanted)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading_of_a_gold_answer(text: str) -> None:
    for answer in gold_readings(text, "top 3?"):
        widths = {len(row) for row in answer.result.rows}
        assert widths <= {len(answer.result.columns)}


def test_question_files_may_have_gold_answers_alone(
    tmp_path: Path, database: SqliteDatabase
) -> None:
    table = tmp_path / "own.csv"
    table.write_text(
        "id,question,gold_answer,answerable\n"
        "a,How many?,3,\n"
        'b,Which?,"[""iv"", ""po"", ""im""]",\n'
        "c,Who?,,\nd,Whose?,null,\ne,Why?,5,no\n"
    )
    lines = tmp_path / "own.jsonl"
    lines.write_text(
        '{"id": "f", "question": "How many?", "gold_answer": 3}\n'
        '{"id": "g", "question": "Which?", "gold_answer": ["iv", "po", "im"]}\n'
        '{"id": "h", "question": "Is it?", "gold_answer": true}\n'
        '{"id": "i", "question": "Who?", "gold_answer": null}\n'
    )
    questions = read_questions([table, lines])
    assert [x.id for x in questions if x.answerable] == ["a", "b", "f", "g", "h"]
    assert [x.id for x in questions if not x.answerability_stated] == ["c", "d", "i"]
    answers = {
        **dict.fromkeys("af", "SELECT count(*) FROM t"),
        **dict.fromkeys("bg", "SELECT drug FROM t"),
        **dict.fromkeys("cdeh", "SELECT 1"),
    }
    runs = [
        make_trajectory(name, "?", steps=[make_step(1, action="final_sql", sql=sql)])
        for name, sql in answers.items()
    ]
    labels = {x.question_id: x for x in label_runs(runs, questions, database).labels}
    assert {name for name, label in labels.items() if label.correct} == set("abfgh")
    assert {x.reason for x in labels.values() if not x.correct} == {"answered-unanswerable"}
    assert {x.judge for x in labels.values() if x.answerable} == {"gold-answer"}


def test_gold_sql_is_used_where_a_question_has_both(database: SqliteDatabase) -> None:
    question = Question(
        id="q", text="?", answerable=True, gold_sql="SELECT 1", gold_answer="something else"
    )
    run = make_trajectory("q", "?", steps=[make_step(1, action="final_sql", sql="SELECT 1")])
    (label,) = label_runs([run], [question], database).labels
    assert (label.correct, label.judge) == (True, None)


def test_an_answerable_question_without_any_gold_is_never_judged(database: SqliteDatabase) -> None:
    question = Question(id="q", text="?", answerable=True)
    run = make_trajectory("q", "?", steps=[make_step(1, action="final_sql", sql="SELECT 1")])
    made = label_runs([run], [question], database)
    assert (made.labels, dict(made.unlabelled)) == ((), {"q": "no-gold"})


def test_a_model_and_raters_see_the_written_answer(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    question = Question(id="q", text="Which?", answerable=True, gold_answer="['iv', 'po']")
    sql = "SELECT drug FROM t"
    run = make_trajectory("q", "Which?", steps=[make_step(1, action="final_sql", sql=sql)])
    (case,) = prepare([run], [question], database, "sentinel-1").cases
    assert "no query" in case.gold_sql
    assert case.gold_result.endswith("iv\npo")
    made = label_runs([run], [question], database)
    labels: dict[str, Label] = {"q": made.labels[0]}
    audit = export_audit([run], [question], database, (made.header, labels), folder=tmp_path / "a")
    assert "no query" in audit.sheets[0].read_text()


def test_questions_check_says_what_it_can_of_files_without_gold_sql(
    database: SqliteDatabase,
) -> None:
    questions = [
        Question(id="a", text="?", answerable=True, gold_answer="3"),
        Question(id="b", text="?", answerable=True, gold_answer="[[1], [1, 2]]"),
        Question(id="c", text="?", answerable=False, answerability_stated=False),
    ]
    report = check_questions(questions, database)
    assert (report.written, report.unread_ids, report.unstated) == (2, ("b",), 1)
    assert report.summary.startswith("no gold SQL to run; 1 of 2 gold answers")
    assert "1 questions state no gold" in report.summary
