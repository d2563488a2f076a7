"""The loop label, fit, evaluate, report, audit over labels that need no gold SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.decision.guard import Guard
from sentinel_sql.errors import LabelsError
from sentinel_sql.evaluation.studies.judge_disagreement import judges_in
from sentinel_sql.evaluation_store.spending import spending_log
from sentinel_sql.labels.audit import draw
from sentinel_sql.labels.file import read_labels
from sentinel_sql.labels.record import Label
from sentinel_sql.monitor.bundle import save
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.label import Labelling, label_runs
from sentinel_sql.pipeline.rating_labels import label_by_ratings
from sentinel_sql.questions.pools import make_pools
from sentinel_sql.questions.record import Question
from sentinel_sql.report.write import write_report
from sentinel_sql.testing import CLOCK
from sentinel_sql.trajectory.record import Trajectory
from small_runs import world


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE prescriptions (drug TEXT, dose REAL, ward INTEGER);"
            "INSERT INTO prescriptions VALUES ('aspirin', 4.5, 1), ('heparin', 7.5, 2)"
        )
    return path


def by_gold_answer(
    runs: list[Trajectory], questions: list[Question], labels: dict[str, Label], database: Path
) -> Labelling:
    """Write the answer that each right run gives, and another for each wrong one."""
    with SqliteDatabase.open(database, clock=CLOCK) as opened:
        own = []
        for run, question in zip(runs, questions, strict=True):
            gold = None
            if question.answerable:
                sql = run.outcome.final_sql
                count = opened.execute(sql).rows[0][0] if sql else 0
                assert isinstance(count, int)
                gold = str(count if labels[question.id].correct else count + 50)
            own.append(replace(question, gold_sql=None, gold_answer=gold))
        return label_runs(runs, own, opened)


def by_ratings(
    runs: list[Trajectory], questions: list[Question], labels: dict[str, Label], database: Path
) -> Labelling:
    """Rate each run as the world has it, and say which questions have an answer."""
    table = database.with_name("ratings.csv")
    lines = ["run;rating;answerable"]
    for run, question in zip(runs, questions, strict=True):
        word = {True: "right", False: "wrong", None: ""}[labels[run.question.id].correct]
        lines.append(f"{run.question.id};{word};{'yes' if question.answerable else 'no'}")
    table.write_text("\n".join(lines))
    with SqliteDatabase.open(database, clock=CLOCK) as opened:
        return label_by_ratings(runs, table, database=opened)


@pytest.mark.parametrize(("judge", "make"), [("rules", by_gold_answer), ("ratings", by_ratings)])
def test_the_loop_runs_on_labels_without_gold_sql(
    tmp_path: Path,
    database: Path,
    judge: str,
    make: Callable[[list[Trajectory], list[Question], dict[str, Label], Path], Labelling],
) -> None:
    runs, questions, known, _ = world()
    made = make(runs, questions, known, database)
    assert {x.question_id: x.correct for x in made.labels} == {
        name: label.correct for name, label in known.items()
    }
    made.save(tmp_path / "labels.jsonl")
    labels = read_labels(tmp_path / "labels.jsonl")
    pools = make_pools([replace(one, gold_sql=None) for one in questions], seed=42)
    monitor = fit(runs, pools, labels)
    assert monitor.facts["judge"] == judge
    save(monitor, tmp_path / "monitor")
    evaluation = evaluate(tmp_path / "monitor", runs, pools, labels)
    evaluation.save(tmp_path / "evaluation")
    assert len(spending_log(tmp_path / "monitor").read_text().splitlines()) == 1
    kinds = {row.labels for row in evaluation.exhibits["strict"].rows}
    assert kinds == ({"judge"} if judge == "ratings" else {"judge", "strict"})
    write_report(tmp_path / "evaluation", tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    assert ("rated by people" in page) is (judge == "ratings")
    document = json.loads((tmp_path / "evaluation" / "evaluation.json").read_text())
    assert judge in json.dumps(document.get("labels", document))
    Guard.load(tmp_path / "monitor", stakes=4)
    names = set(judges_in([labels]))
    assert names == (
        {"ratings"} if judge == "ratings" else {"strict/sentinel-1", "rules/sentinel-1"}
    )


def test_ratings_are_nothing_to_audit(database: Path) -> None:
    runs, questions, known, _ = world(size=20)
    made = by_ratings(runs, questions, known, database)
    with pytest.raises(LabelsError, match="no judge to audit"):
        draw(made.header, {x.question_id: x for x in made.labels}, size=5, seed=1)
