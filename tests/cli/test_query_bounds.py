"""Every verb that runs SQL lets its user bound one query, by the same options."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from sentinel_sql.cli.main import app

BOUNDS = {"--seconds", "--result-rows", "--result-mb", "--memory-mb"}
RUNAWAY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


def options(*verb: str) -> set[str]:
    command = typer.main.get_command(app)
    for name in verb:
        command = command.commands[name]  # type: ignore[attr-defined]
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize(
    "verb",
    ["collect", "label", "ask", "questions check", "rivals collect", "audit export"],
)
def test_a_verb_that_runs_sql_takes_all_bounds_of_a_query(verb: str) -> None:
    assert options(*verb.split()) >= BOUNDS


def test_probes_have_a_fixed_shape_and_take_time_and_memory() -> None:
    assert options("probe") & BOUNDS == {"--seconds", "--memory-mb"}


@pytest.fixture
def project(tmp_path: Path) -> tuple[str, str]:
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE t (x)")
    golds = {"slow": RUNAWAY, "quick": "SELECT 1"}
    (tmp_path / "q.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "question": "How many?", "gold_sql": sql}) + "\n"
            for name, sql in golds.items()
        )
    )
    return str(tmp_path / "q.jsonl"), str(tmp_path / "t.sqlite")


def test_the_bounds_given_are_those_in_force(project: tuple[str, str]) -> None:
    questions, database = project
    call = ["questions", "check", questions, "--database", database, "--json"]
    done = CliRunner().invoke(app, [*call, "--seconds", "0.2"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["summary"].startswith("1 of 2 queries run")
    assert document["mode"] == "sentinel-1"
    assert "longer than 0.2 s" in document["error_ids"]["slow"]


def test_doctor_says_who_holds_a_query_s_memory(project: tuple[str, str]) -> None:
    done = CliRunner().invoke(app, ["doctor", "--database", project[1], "--json"])
    (finding,) = [
        each for each in json.loads(done.stdout)["findings"] if each["name"] == "database"
    ]
    assert "memory is held to 1,000 MB by " in finding["detail"]
