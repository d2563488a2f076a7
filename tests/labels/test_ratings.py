"""Labels from people's ratings: every word, every fault, and nothing dropped in silence."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.errors import InputError, LabelsError
from sentinel_sql.labels.file import read_labels
from sentinel_sql.labels.ratings import majority, read_ratings
from sentinel_sql.pipeline.rating_labels import RatedLabelling, label_by_ratings
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.record import Trajectory


def run(name: str, *, answered: bool = True) -> Trajectory:
    action = "final_sql" if answered else "final_null"
    step = make_step(1, action=action, sql="SELECT 1" if answered else None)  # type: ignore[arg-type]
    return make_trajectory(name, "How many?", steps=[step])


def table(path: Path, lines: Sequence[str], *, encoding: str = "utf-8") -> Path:
    path.write_bytes("\r\n".join(lines).encode(encoding))
    return path


def rated(
    tmp_path: Path, lines: Sequence[str], runs: Sequence[Trajectory], **more: object
) -> RatedLabelling:
    return label_by_ratings(runs, table(tmp_path / "r.csv", lines), **more)  # type: ignore[arg-type]


WORDS = {
    True: ["right", "Correct", "yes", "Y", "1", "TRUE", " right "],
    False: ["wrong", "incorrect", "no", "N", "0", "false"],
    None: ["", "unsure", "?", "-", "n/a"],
}


@pytest.mark.parametrize(("right", "word"), [(k, word) for k in WORDS for word in WORDS[k]])
def test_every_declared_word_is_read(tmp_path: Path, right: bool | None, word: str) -> None:
    file = read_ratings(table(tmp_path / "r.csv", ["run,rating", f"a,{word}"]))
    assert file.ratings[0].right is right


@pytest.mark.parametrize("word", ["maybe", "2", "rihgt", "PATIENT-7", "ok", "nope"])
def test_an_unknown_word_is_refused_by_its_line_and_never_quoted(tmp_path: Path, word: str) -> None:
    with pytest.raises(LabelsError, match=r"r\.csv, line 4: the word in column `rating`") as error:
        read_ratings(table(tmp_path / "r.csv", ["run,rating", "a,1", "", f"b,{word}"]))
    assert word not in str(error.value).replace("line 4", "")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["run,verdict", "a,1"], "columns `run` or `run_id` or `question_id` or `id` and `rating`"),
        (["rating", "1"], "no header line"),
        (["run,rating", ",1"], "line 2 doesn't say which run it rates"),
        (["run,rating,rating", "a,1,0"], "has 2 columns `rating`"),
        (["run,rating", "a,1", "a,0"], "line 3 rates a run otherwise than line 2"),
        (["run,rating,rater", "a,1,ann", "a,1,ben", "a,0,ann"], "line 4 rates a run otherwise"),
        (["run,rating,answerable", "a,1,yes", "a,1,no"], "line 3 rates a run otherwise"),
        (["run,rating,answerable", "a,1,perhaps"], "line 2: the word in column `answerable`"),
    ],
)
def test_a_faulty_table_is_refused_in_one_line(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises(LabelsError, match=says):
        read_ratings(table(tmp_path / "r.csv", lines))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_are_read_as_spreadsheets_save_them(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    lines = [separator.join(line) for line in (("Run", "Rating", "Note"), ("a", "1", "é"))]
    file = read_ratings(table(tmp_path / "r.csv", lines, encoding=encoding))
    assert [(rating.id, rating.right) for rating in file.ratings] == [("a", True)]
    assert file.other_columns == ("note",)


def test_ratings_become_labels_that_say_so(tmp_path: Path) -> None:
    made = rated(tmp_path, ["run,rating", "a,right", "b,wrong"], [run("a"), run("b")])
    assert made.header.judge == "ratings"
    found = {label.question_id: label for label in made.labels}
    assert (found["a"].correct, found["a"].answerable, found["a"].reason) == (
        True,
        True,
        "rated-right",
    )
    assert (found["b"].correct, found["b"].reason) == (False, "rated-wrong")
    assert {label.judge for label in made.labels} == {"ratings"}
    assert {label.strict for label in made.labels} == {None}
    made.save(tmp_path / "labels.jsonl")
    again = read_labels(tmp_path / "labels.jsonl")
    assert again.header == made.header
    assert tuple(again.by_run.values()) == made.labels


def test_the_majority_decides_and_a_tie_leaves_the_run_without_a_label(tmp_path: Path) -> None:
    lines = ["run,rater,rating"]
    for name, said in {"a": "110", "b": "100", "c": "10", "d": "1?", "e": "??"}.items():
        lines += [f"{name},rater{place},{word}" for place, word in enumerate(said)]
    made = rated(tmp_path, lines, [run(name) for name in "abcdef"])
    assert {x.question_id: x.correct for x in made.labels} == {"a": True, "b": False, "d": True}
    assert made.unlabelled == {"c": "raters-tie", "e": "raters-unsure", "f": "no-rating"}
    counts = made.to_json()
    assert (counts["raters"], counts["disputed"]) == (3, 3)
    assert counts["unlabelled"] == {"raters-tie": 1, "raters-unsure": 1, "no-rating": 1}


def test_ratings_without_a_run_and_repeated_ones_are_counted_and_named(tmp_path: Path) -> None:
    lines = ["id,rating", "a,1", "a,1", "a,", "gone,0", "q,1", "x#1,1"]
    made = rated(tmp_path, lines, [run("a"), run("q#1"), run("q#2"), run("x#1"), run("x#2")])
    assert [label.question_id for label in made.labels] == ["a", "x#1"]
    counts = made.to_json()
    assert counts["ratings_without_run_ids"] == ["gone"]
    assert counts["ratings_of_several_runs_ids"] == ["q"]
    assert (counts["repeated_ratings"], counts["unlabelled"]) == (2, {"no-rating": 3})
    with pytest.raises(LabelsError, match="none of the 1 ratings"):
        rated(tmp_path, ["run,rating", "elsewhere,1"], [run("a")])


def test_a_rating_of_a_question_is_that_of_its_only_run(tmp_path: Path) -> None:
    made = rated(tmp_path, ["id,rating", "q,1"], [run("q#3")])
    assert [(x.question_id, x.correct) for x in made.labels] == [("q#3", True)]


def test_answerability_comes_from_the_ratings_then_the_questions_then_the_rating(
    tmp_path: Path,
) -> None:
    questions = [
        Question(id="file", text="?", answerable=False),
        Question(id="over", text="?", answerable=False),
        Question(id="open", text="?", answerable=False, answerability_stated=False),
    ]
    lines = [
        "run,rating,answerable",
        *("file,wrong,", "over,right,yes", "open,wrong,", "said,,no", "clash,right,no"),
        *("quiet,right,", "missed,wrong,", "told,,no", "nothing,,"),
    ]
    runs = [run(name) for name in ("file", "over", "open", "said", "clash")]
    runs += [run(name, answered=False) for name in ("quiet", "missed", "told", "nothing")]
    made = rated(tmp_path, lines, runs, questions=questions)
    assert {x.question_id: x.answerable for x in made.labels} == {
        "file": False,
        "over": True,
        "open": True,
        "said": False,
        "quiet": False,
        "missed": True,
        "told": False,
    }
    assert made.unlabelled == {
        "clash": "right-yet-unanswerable",
        "nothing": "answerability-unknown",
    }
    assert made.assumed_answerable == 1
    assert {x.correct for x in made.labels if x.outcome != "answered"} == {None}


def test_an_unknown_clock_is_asked_for(tmp_path: Path) -> None:
    timeless = run("a")
    question = timeless.question.model_copy(update={"clock": None})
    runs = [timeless.model_copy(update={"question": question})]
    with pytest.raises(InputError, match="--clock"):
        rated(tmp_path, ["run,rating", "a,1"], runs)
    made = rated(tmp_path, ["run,rating", "a,1"], runs, clock="2100-01-01 00:00:00")
    assert made.header.clock == "2100-01-01 00:00:00"


@given(st.lists(st.sampled_from([True, False, None]), max_size=7))
def test_the_majority_doesnt_depend_on_order_and_turns_with_the_votes(
    said: list[bool | None],
) -> None:
    decided = majority(said)
    assert majority(random.Random(1).sample(said, len(said))) is decided
    turned = majority(None if vote is None else not vote for vote in said)
    assert turned is (None if decided is None else not decided)
