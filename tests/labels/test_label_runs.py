from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_sql.database.clock import KNOWN_CLOCKS
from sentinel_sql.database.equivalence import MODES
from sentinel_sql.database.executor import ExecutionResult, Limits
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import InputError, LabelsError
from sentinel_sql.labels.strict import OFFICIAL_MODES, mode_of
from sentinel_sql.pipeline.check_questions import check_questions
from sentinel_sql.pipeline.label import label_runs
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import Step, Trajectory
from sentinel_sql.trajectory.store import read_trajectories

CLOCK = "2100-12-31 23:59:00"
RUNAWAY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
COUNT = Question(id="count", text="How many?", answerable=True, gold_sql="SELECT COUNT(*) FROM t")
WHICH = Question(id="which", text="Which?", answerable=True, gold_sql="SELECT DISTINCT x FROM t")
PHONE = Question(id="phone", text="Whose phone?", answerable=False)
BROKEN = Question(id="broken", text="What?", answerable=True, gold_sql="SELECT x FROM nowhere")


class Counting:
    """A database that counts how often each statement is run."""

    def __init__(self, inner: SqliteDatabase) -> None:
        self._inner = inner
        self.ran: Counter[str] = Counter()

    name = property(lambda self: self._inner.name)
    clock = property(lambda self: self._inner.clock)
    schema = property(lambda self: self._inner.schema)

    def execute(self, sql: str) -> ExecutionResult:
        self.ran[sql] += 1
        return self._inner.execute(sql)

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Counting]:
    path = tmp_path / "ward.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('a'), ('b'), ('b')")
    connection.close()
    limits = Limits(seconds=0.3, rows=50)
    with SqliteDatabase.open(path, clock=CLOCK, limits=limits) as opened:
        yield Counting(opened)


def run(
    question_id: str, sql: str | None, kind: str = "answered", clock: str = CLOCK
) -> Trajectory:
    return Trajectory.model_validate(
        {
            "question": {"id": question_id, "text": "…", "clock": clock},
            "agent": {"name": "scripted"},
            "outcome": {"kind": kind, "final_sql": sql},
        }
    )


QUESTIONS = [COUNT, WHICH, PHONE, BROKEN]


@pytest.mark.parametrize(
    ("trajectory", "strict", "correct", "reason"),
    [
        (run("count", "SELECT 3"), True, True, "strict-match"),
        (run("count", "SELECT 4"), False, False, "values-differ"),
        (run("count", "SELECT y FROM t"), False, False, "answer-error"),
        (run("count", "DROP TABLE t"), False, False, "answer-refused"),
        (run("count", None, "abstained"), None, None, "abstained"),
        (run("count", None, "cap"), None, None, "cap"),
        (run("which", "SELECT x FROM t"), False, True, "duplicates"),
        (run("phone", "SELECT 555"), None, False, "answered-unanswerable"),
        (run("phone", None, "abstained"), None, None, "abstained"),
        (run("count#3", "SELECT 3"), True, True, "strict-match"),
    ],
)
def test_each_kind_of_run_gets_its_label(
    database: Counting,
    trajectory: Trajectory,
    strict: bool | None,
    correct: bool | None,
    reason: str,
) -> None:
    (label,) = label_runs([trajectory], QUESTIONS, database, "rules", "sentinel-1").labels
    assert (label.strict, label.correct, label.reason) == (strict, correct, reason)
    assert label.question_id == trajectory.question.id
    assert label.outcome == trajectory.outcome.kind
    assert label.answerable == (not trajectory.question.id.startswith("phone"))


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("How many?", 0),
        ("how  MANY?\n", 0),
        ("Database: ward.\nQuestion: How many? Answer in SQL.", 0),
        ("How many men?", 1),
        (" ", 1),
        ("Which?", 1),
    ],
)
def test_a_run_that_was_asked_something_else_is_counted(
    database: Counting, asked: str, other: int
) -> None:
    counted = run("count", "SELECT 3")
    question = counted.question.model_copy(update={"text": asked})
    reworded = counted.model_copy(update={"question": question})
    made = label_runs([reworded], QUESTIONS, database, "rules", "sentinel-1")
    assert made.to_json().get("other_wording", 0) == made.reworded == other


def test_the_strict_judge_forgives_nothing(database: Counting) -> None:
    runs = [run("which", "SELECT x FROM t")]
    (label,) = label_runs(runs, QUESTIONS, database, "strict", "sentinel-1").labels
    assert (label.strict, label.correct, label.reason) == (False, False, "strict-mismatch")


def test_a_runaway_answer_is_stopped_and_unjudged(database: Counting) -> None:
    started = time.monotonic()
    labels = label_runs([run("count", RUNAWAY)], QUESTIONS, database, "rules", "sentinel-1").labels
    assert time.monotonic() - started < 30
    assert [(label.correct, label.reason) for label in labels] == [(None, "timed-out")]


LARGE = "SELECT length(group_concat(printf('%.*c', 90000000, 'a'))) - 269999999 FROM t"


def test_an_answer_that_needs_more_memory_than_it_may_take_is_unjudged(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('a'), ('b'), ('c')"
        )
    large = Question(id="large", text="?", answerable=True, gold_sql=LARGE)
    for megabytes, reason, left_out in ((100, "out-of-memory", 1), (1000, "strict-match", 0)):
        limits = Limits(memory=megabytes * 10**6)
        with SqliteDatabase.open(path, clock=CLOCK, limits=limits) as small:
            runs = [run("count", LARGE), run("large", "SELECT 3")]
            made = label_runs(runs, [COUNT, large], small, "rules", "sentinel-1")
        assert made.labels[0].reason == reason
        assert made.labels[0].without_verdict is bool(left_out)
        assert list(made.unlabelled.values()) == ["gold-out-of-memory"] * left_out


@pytest.mark.parametrize(
    ("last", "named", "differ"),
    [
        ("SELECT 3", "SELECT 4", True),
        ("SELECT 3", "SELECT 3 LIMIT 1", True),
        (None, "SELECT 3", True),
        ("SELECT 'a b'", "SELECT 'a  b'", True),
        ("SELECT 3", "SELECT 3\n", False),
    ],
)
def test_a_run_that_states_two_answers_is_left_out_and_counted(
    database: Counting, last: str | None, named: str, differ: bool
) -> None:
    odd = run("count", named)
    step = make_step(1, action="final_sql", sql=last)
    odd = odd.model_copy(update={"steps": (step,)})
    labelling = label_runs([odd], QUESTIONS, database, "rules", "sentinel-1")
    assert labelling.to_json()["unlabelled"] == ({"two-answers": 1} if differ else {})


@pytest.mark.parametrize("question", ["count", "phone"])
@pytest.mark.parametrize(
    ("last", "outcome", "differ"),
    [
        (make_step(1, action="final_sql", sql="SELECT 3"), "abstained", True),
        (make_step(1, action="final_sql", sql="SELECT 3"), "cap", True),
        (make_step(1, action="final_null"), "cap", True),
        (make_step(1, action="final_null"), "abstained", False),
        (make_step(1, action="sql", sql="SELECT 3"), "cap", False),
        (make_step(1, action="sql", sql="SELECT 3"), "abstained", False),
    ],
)
def test_a_run_whose_outcome_contradicts_its_last_step_is_left_out_and_counted(
    database: Counting, question: str, last: Step, outcome: str, differ: bool
) -> None:
    odd = run(question, None, outcome).model_copy(update={"steps": (last,)})
    labelling = label_runs([odd], QUESTIONS, database, "rules", "sentinel-1")
    assert labelling.to_json()["unlabelled"] == ({"two-answers": 1} if differ else {})
    assert len(labelling.labels) == (not differ)


def test_what_cannot_be_decided_is_left_out_and_counted(database: Counting) -> None:
    many = Question(id="many", text="Which?", answerable=True, gold_sql="SELECT a.x FROM t a, t b, "
                    "t c, t d")  # fmt: skip
    runs = [run("broken", "SELECT 1"), run("many", str(many.gold_sql)), run("count", "SELECT 3")]
    labelling = label_runs(runs, [*QUESTIONS, many], database, "rules", "sentinel-1")
    assert [label.question_id for label in labelling.labels] == ["count"]
    assert labelling.unlabelled == {"broken": "gold-fails", "many": "cut"}
    assert labelling.to_json()["unlabelled"] == {"gold-fails": 1, "cut": 1}
    assert labelling.to_json()["runs"] == 3


def test_gold_is_run_once_and_each_answer_once(database: Counting) -> None:
    twin = Question(id="twin", text="How many?", answerable=True, gold_sql=COUNT.gold_sql)
    runs = [run("count#1", "SELECT 1"), run("twin", "SELECT 2"), run("count#2", "SELECT 4")]
    told: list[tuple[int, int]] = []
    labelling = label_runs(
        runs, [COUNT, twin], database, "rules", "sentinel-1", lambda *at: told.append(at)
    )
    assert database.ran == {COUNT.gold_sql: 1, "SELECT 1": 1, "SELECT 2": 1, "SELECT 4": 1}
    assert [label.question_id for label in labelling.labels] == [r.question.id for r in runs]
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert labelling.header.database == "ward"
    assert set(labelling.header.schema.tables) == {"t"}


def test_runs_that_do_not_fit_are_refused(database: Counting) -> None:
    def label(*runs: Trajectory, judge: str = "rules", mode: str = "sentinel-1") -> None:
        label_runs(runs, QUESTIONS, database, judge, mode)  # type: ignore[arg-type]

    with pytest.raises(LabelsError, match=r"2 of 3 runs .* first 'x'.*--questions"):
        label(run("count", "SELECT 3"), run("x", "SELECT 3"), run("y#1", None, "cap"))
    with pytest.raises(LabelsError, match="two runs have the question id 'count'"):
        label(run("count", "SELECT 3"), run("count", "SELECT 3"))
    with pytest.raises(LabelsError, match=r"clock 2099-01-01 00:00:00.*--clock '2099"):
        label(run("count", "SELECT 3", clock="2099-01-01 00:00:00"))
    with pytest.raises(InputError, match=r"no judge 'oracle'"):
        label(judge="oracle")
    with pytest.raises(InputError, match=r"no equivalence mode 'exact': choose one of ehrsql-v1"):
        label(mode="exact")
    assert not database.ran


def test_questions_are_checked_against_their_shipped_answers(database: Counting) -> None:
    def shipped(name: str, sql: str, answer: str | None) -> Question:
        return Question(id=name, text="?", answerable=True, gold_sql=sql, gold_answer=answer)

    questions = [
        shipped("rows", "SELECT COUNT(*) FROM t", "[[3]]"),
        shipped("cell", "SELECT MIN(x) FROM t", "a"),
        shipped("wrong", "SELECT COUNT(*) FROM t", "[[4]]"),
        shipped("empty", "SELECT x FROM t WHERE x = 'z'", "[]"),
        shipped("unshipped", "SELECT 1", None),
        shipped("broken", "SELECT y FROM t", "[[1]]"),
        PHONE,
    ]
    report = check_questions(questions, database, "sentinel-1").to_json()
    error = report["error_ids"].pop("broken")
    assert "no such column" in error
    assert report.pop("summary") == (
        "5 of 6 queries run; 3 of 4 given answers match, compared by sentinel-1"
    )
    assert report == {
        "undetermined": 0, "undetermined_ids": {},
        "mode": "sentinel-1", "answerable": 6, "unanswerable": 1, "matched": 3, "mismatched": 1,
        "errors": 1, "uncompared": 1, "cut": 0, "empty_gold": 1, "mismatched_ids": ["wrong"],
        "empty_gold_ids": ["empty"],
        "error_ids": {},
    }  # fmt: skip
    assert database.ran["SELECT COUNT(*) FROM t"] == 1


@pytest.fixture(scope="module")
def mimic(mimic_iv: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(mimic_iv) as opened:
        yield opened


def test_the_recordings_get_the_figures_of_their_readme(
    shared_data: Path, mimic: SqliteDatabase
) -> None:
    folder = shared_data / "ehrsql2024"
    questions = read_questions([folder / "tasks_train.jsonl.gz", folder / "tasks_valid.jsonl.gz"])
    recordings = shared_data / "recordings" / "qwen2.5-coder-1.5b" / "ehrsql2024.jsonl.gz"
    runs = list(read_trajectories(recordings))
    strict = label_runs(runs, questions, mimic, "strict", "ehrsql-2024").to_json()
    assert (strict["runs"], strict["answerable"], strict["unanswerable"]) == (281, 235, 46)
    assert strict["outcomes"] == {
        "answerable": {"answered": 155, "abstained": 30, "cap": 50},
        "unanswerable": {"answered": 14, "abstained": 22, "cap": 10},
    }
    assert (strict["strict"], strict["correct"], strict["unlabelled"]) == (90, 90, {})
    rules = label_runs(runs, questions, mimic, "rules", "ehrsql-2024").to_json()
    assert rules["strict"] == 90
    assert 90 <= rules["correct"] <= 95


def test_every_gold_of_the_valid_split_gives_the_shipped_answer(
    shared_data: Path, mimic: SqliteDatabase
) -> None:
    questions = read_questions([shared_data / "ehrsql2024" / "upstream" / "valid"])
    report = check_questions(questions, mimic, "ehrsql-2024")
    assert (report.answerable, report.matched, report.errors) == (931, 931, 0)
    assert (report.unanswerable, report.mismatched, report.uncompared, report.cut) == (232, 0, 0, 0)


def test_the_mode_is_that_of_the_data_set_by_the_questions_own_database() -> None:
    assert set(OFFICIAL_MODES) < set(KNOWN_CLOCKS)
    assert set(OFFICIAL_MODES.values()) < set(MODES)
    assert mode_of([COUNT, WHICH], "ward") == mode_of([], "ward") == "sentinel-1"
    assert mode_of([COUNT], "mimic_iv") == "ehrsql-2024"
    named = {name: replace(COUNT, database=name) for name in ("eicu", "mimic_iii", "mine")}
    assert mode_of([named["eicu"], named["mimic_iii"]], "ward") == "ehrsql-v1"
    assert mode_of([named["mine"]], "mimic_iv") == "sentinel-1"
    with pytest.raises(InputError, match="choose one with --mode"):
        mode_of([COUNT, named["mine"]], "mimic_iv")
