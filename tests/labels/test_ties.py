"""Gold queries that the data don't determine are flagged, and tied answers aren't wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.labels.record import Label
from sentinel_sql.pipeline.check_questions import check_questions
from sentinel_sql.pipeline.label import label_runs
from sentinel_sql.questions.record import Question
from sentinel_sql.trajectory.record import Trajectory

CLOCK = "2100-12-31 23:59:00"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    path = tmp_path_factory.mktemp("ties") / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (name TEXT, score INT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [("a", 9), ("b", 7), ("c", 5), ("d", 5), ("e", 1)]
        )
    with SqliteDatabase.open(path, clock=CLOCK, in_process=True) as opened:
        yield opened


def label(database: SqliteDatabase, gold: str, answer: str, judge: str = "rules") -> Label:
    question = Question(id="q", text="Which?", answerable=True, gold_sql=gold)
    run = Trajectory.model_validate(
        {
            "question": {"id": "q", "text": "Which?", "clock": CLOCK},
            "agent": {"name": "scripted"},
            "outcome": {"kind": "answered", "final_sql": answer},
        }
    )
    (made,) = label_runs([run], [question], database, judge, "sentinel-1").labels  # type: ignore[arg-type]
    return made


TOP_3 = "SELECT name FROM t ORDER BY score DESC LIMIT 3"


@pytest.mark.parametrize(
    ("gold", "one", "other"),
    [
        (TOP_3, "VALUES ('a'), ('b'), ('c')", "VALUES ('a'), ('b'), ('d')"),
        (
            "SELECT name, score FROM t ORDER BY 2 DESC LIMIT 3",
            "VALUES ('a', 9), ('b', 7), ('d', 5)",
            "VALUES ('a', 9), ('b', 7), ('c', 5)",
        ),
        (
            "SELECT name AS n, score AS s FROM t ORDER BY s LIMIT 2",
            "VALUES ('e', 1), ('d', 5)",
            "VALUES ('e', 1), ('c', 5)",
        ),
        ("SELECT name FROM t ORDER BY score DESC LIMIT 1 OFFSET 2", "VALUES ('c')", "VALUES ('d')"),
        (
            "SELECT name FROM t ORDER BY score DESC",
            "VALUES ('a'), ('b'), ('d'), ('c'), ('e')",
            "VALUES ('a'), ('b'), ('c'), ('d'), ('e')",
        ),
        (
            "SELECT score, count(*) FROM t GROUP BY score ORDER BY count(*) DESC LIMIT 2",
            "VALUES (5, 2), (9, 1)",
            "VALUES (5, 2), (7, 1)",
        ),
        (
            "SELECT * FROM t ORDER BY score DESC LIMIT 3",
            "VALUES ('a', 9), ('b', 7), ('d', 5)",
            "VALUES ('a', 9), ('b', 7), ('c', 5)",
        ),
    ],
)
@pytest.mark.parametrize("judge", ["strict", "rules"])
def test_each_answer_that_tied_rows_allow_is_correct(
    gold: str, one: str, other: str, judge: str, database: SqliteDatabase
) -> None:
    labels = [label(database, gold, answer, judge) for answer in (one, other)]
    assert all(made.correct for made in labels)
    # which of them the gold itself returns is chance
    assert {made.reason for made in labels} == {"strict-match", "tied"}


@pytest.mark.parametrize(
    "answer",
    [
        "VALUES ('a'), ('b'), ('e')",
        "VALUES ('b'), ('a'), ('d')",
        "VALUES ('c'), ('d'), ('a')",
        "VALUES ('a'), ('c'), ('d')",
        "VALUES ('a'), ('b')",
        "VALUES ('a'), ('b'), ('c'), ('d')",
        "VALUES ('a'), ('b'), ('b')",
    ],
)
def test_no_other_answer_passes_for_a_tied_one(answer: str, database: SqliteDatabase) -> None:
    assert not label(database, TOP_3, answer).correct


def test_questions_check_flags_what_the_data_don_t_determine(database: SqliteDatabase) -> None:
    golds = {
        "cut": TOP_3,
        "cut-by-place": "SELECT name, score FROM t ORDER BY 2 DESC LIMIT 3",
        "cut-by-offset": "SELECT name FROM t ORDER BY score LIMIT 1 OFFSET 1",
        "order": "SELECT name FROM t ORDER BY score",
        "by-name-too": "SELECT name, score FROM t ORDER BY score DESC, name LIMIT 3",
        "no-tie": "SELECT name FROM t ORDER BY score DESC LIMIT 2",
        "alike": "SELECT score FROM t ORDER BY score LIMIT 2",
        "unordered": "SELECT name FROM t",
        "one": "SELECT max(score) FROM t ORDER BY 1 LIMIT 1",
        "no-order": "SELECT name FROM t LIMIT 1",
        "no-order-all": "SELECT name FROM t LIMIT 9",
        "no-order-alike": "SELECT 1 FROM t LIMIT 1",
        "ordered-within": "SELECT * FROM (SELECT name FROM t ORDER BY name) LIMIT 1",
        "distinct-cut": "SELECT DISTINCT score, name FROM t ORDER BY score LIMIT 2",
        "distinct": "SELECT DISTINCT score FROM t ORDER BY score LIMIT 2",
        "cut-within": f"SELECT * FROM ({TOP_3})",
        "cut-in-condition": "SELECT max(name) FROM t WHERE name IN (SELECT name FROM t LIMIT 2)",
        "cut-of-common": f"WITH c AS ({TOP_3}) SELECT count(*) FROM c WHERE name = 'c'",
        "cut-that-exists": "SELECT 1 WHERE EXISTS (SELECT name FROM t LIMIT 1)",
        "no-tie-within": "SELECT * FROM (SELECT name FROM t ORDER BY score DESC LIMIT 2)",
    }
    questions = [
        Question(id=name, text="?", answerable=True, gold_sql=sql) for name, sql in golds.items()
    ]
    report = check_questions(questions, database)
    assert set(report.undetermined_ids) == {
        *("cut", "cut-by-place", "cut-by-offset", "order", "no-order", "distinct-cut"),
        *("cut-within", "cut-in-condition", "cut-of-common"),
    }
    assert report.undetermined == 9
    assert "have no order" in report.undetermined_ids["no-order"]
    assert "of a subquery" in report.undetermined_ids["cut-within"]
    assert "cuts through a tie" in report.undetermined_ids["cut"]
    assert "any order" in report.undetermined_ids["order"]
    assert report.summary == "all 20 queries run; the data set has no answers to compare with"


@pytest.mark.parametrize(
    ("answer", "sql"),
    [
        ("5", "SELECT count(*) FROM t"),
        ("5.0", "SELECT count(*) FROM t"),
        (" 9 ", "SELECT max(score) FROM t"),
        ("5.4", "SELECT avg(score) FROM t"),
        ("[['5']]", "SELECT count(*) FROM t"),
        ("[[5]]", "SELECT count(*) FROM t"),
        ("a", "SELECT min(name) FROM t"),
        ("[('a', '9')]", "SELECT name, score FROM t LIMIT 1"),
        ("None", "SELECT NULL"),
        ("1", "SELECT '1'"),
        ("[]", "SELECT name FROM t WHERE 0"),
    ],
)
def test_a_given_answer_matches_in_its_usual_spellings(
    answer: str, sql: str, database: SqliteDatabase
) -> None:
    question = Question(id="q", text="?", answerable=True, gold_sql=sql, gold_answer=answer)
    report = check_questions([question], database)
    assert (report.mode, report.matched) == ("sentinel-1", 1)
    wrong = Question(id="q", text="?", answerable=True, gold_sql="SELECT 77", gold_answer=answer)
    assert check_questions([wrong], database).mismatched == 1
