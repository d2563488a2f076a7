"""The whole loop over SQLite, PostgreSQL and DuckDB: equal labels, equal decisions."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from command_project import Project, Sentinel, made_up_questions, run_once, scripted_agent
from postgres_cluster import PostgresCluster
from sentinel_sql.database.executor import time_zone_of
from sentinel_sql.database.opening import open_database
from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.live_step import LiveStep
from sentinel_sql.labels.file import read_labels
from sentinel_sql.testing import CLOCK, ScriptedEndpoint, tiny_database
from sentinel_sql.trajectory.store import read_trajectories

duckdb = pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")

KINDS = ("sqlite", "duckdb", "postgres")
STAKES = 0.1
"""What so few calibration templates carry."""
QUESTIONS = [asked for asked in made_up_questions() if "," not in asked["question"]]
ASKED = "how many orders of heparin are there"


@dataclass(frozen=True)
class Loop:
    """What the loop over one database left behind."""

    project: Project
    address: str


def statements(path: str) -> Iterator[str]:
    """Yield the statements that make a SQLite file, in an order that every database takes."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        lines = list(connection.iterdump())
    yield from (made for _, made in tables)
    for name, _ in tables:
        yield from (line for line in lines if line.startswith(f'INSERT INTO "{name}"'))


@pytest.fixture(scope="module")
def addresses(
    postgres_cluster: PostgresCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The same few tables in each kind of database."""
    import psycopg

    folder = tmp_path_factory.mktemp("tables")
    plain = str(tiny_database(folder / "tiny.sqlite"))
    with closing(duckdb.connect(str(folder / "tiny.duckdb"))) as connection:
        for statement in statements(plain):
            connection.execute(statement)
    name = f"tiny{os.getpid()}"
    server = postgres_cluster.create(name)
    with psycopg.connect(server) as connection:
        for statement in statements(plain):
            connection.execute(statement.encode())
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}".encode())
    return {
        "sqlite": plain,
        "duckdb": f"duckdb:///{folder / 'tiny.duckdb'}",
        "postgres": postgres_cluster.address(name, name),
    }


@pytest.fixture(scope="module")
def loops(addresses: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Loop]:
    """Collect, label, fit and evaluate over each database, by the command."""
    made = {}
    for kind, address in addresses.items():
        project = Project(tmp_path_factory.mktemp(kind))
        lines = [json.dumps(question) for question in QUESTIONS]
        Path(project.questions).write_text("\n".join(lines) + "\n")
        over = ("--database", address, "--clock", CLOCK)
        with ScriptedEndpoint(scripted_agent) as endpoint:
            run_once("questions", "pools", project.questions, "--out", project.pools)
            run_once(
                *("collect", "--questions", project.questions, *over, "--workers", "8"),
                *("--base-url", endpoint.url, "--model", "scripted", "--store", project.store),
            )
        run_once(
            *("label", project.store, "--questions", project.questions, *over),
            *("--out", project.labels),
        )
        fit_on = (project.store, "--pools", project.pools, "--labels", project.labels)
        run_once("fit", *fit_on, "--out", project.monitor)
        run_once(
            *("evaluate", *fit_on, "--monitor", project.monitor),
            *("--out", project.folder / "evaluation"),
        )
        made[kind] = Loop(project, address)
    return made


def test_all_labels_agree(loops: dict[str, Loop]) -> None:
    labels = {kind: read_labels(loop.project.labels)[1] for kind, loop in loops.items()}
    assert labels["postgres"] == labels["duckdb"] == labels["sqlite"]
    assert len(labels["sqlite"]) == len(QUESTIONS)
    assert {label.correct for label in labels["sqlite"].values()} == {True, False, None}


def test_all_results_and_decisions_agree(loops: dict[str, Loop]) -> None:
    seen, decided = {}, {}
    for kind, loop in loops.items():
        runs = sorted(read_trajectories(loop.project.store), key=lambda run: run.question.id)
        seen[kind] = [
            (run.question.id, [(step.sql, step.observation) for step in run.steps], run.outcome)
            for run in runs
        ]
        guard = Guard.load(loop.project.monitor, stakes=STAKES, early_stop=True)
        decided[kind] = []
        for run in runs:
            with guard.session(run.question) as session:
                for _ in guarded(run.steps, session):
                    pass
            answer = session.close()
            decided[kind].append((run.question.id, answer.decision, answer.reason, answer.t))
    assert seen["postgres"] == seen["duckdb"] == seen["sqlite"]
    assert decided["postgres"] == decided["duckdb"] == decided["sqlite"]
    assert {decision for _, decision, _, _ in decided["sqlite"]} >= {"deliver", "withhold"}


def test_all_evaluations_agree(loops: dict[str, Loop]) -> None:
    ladders = {
        kind: (loop.project.folder / "evaluation" / "tables" / "ladder.csv").read_text()
        for kind, loop in loops.items()
    }
    assert ladders["postgres"] == ladders["duckdb"] == ladders["sqlite"]


def test_a_question_asked_under_guard_ends_alike(
    loops: dict[str, Loop], sentinel: Sentinel
) -> None:
    ended = []
    for loop in loops.values():
        with ScriptedEndpoint(scripted_agent) as endpoint:
            call = sentinel(
                *("ask", ASKED, "--database", loop.address, "--clock", CLOCK, "--json"),
                *("--base-url", endpoint.url, "--model", "scripted"),
                *("--monitor", loop.project.monitor, "--stakes", STAKES),
            )
        assert call.code == 0, call.err
        answer, result = call.document["answer"], call.document["result"]
        assert answer["status"] == "judged"
        ended.append((answer["decision"], answer["confidence"], result and result["rows"]))
    assert ended[0] == ended[1] == ended[2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_of_ones_own_is_guarded(loops: dict[str, Loop], kind: str) -> None:
    loop = loops[kind]
    with open_database(loop.address, clock=CLOCK) as database:
        guard = Guard.load(
            loop.project.monitor,
            stakes=0.0,
            dialect=database.dialect,
            time_zone=time_zone_of(database),
        )
        gold = "SELECT COUNT(*) FROM prescriptions WHERE drug = 'heparin'"

        def steps(_: str) -> Iterator[LiveStep]:
            yield LiveStep(
                thought="plain and certain", sql=gold, result=database.execute(gold), final=True
            )

        answer = guard.run(steps, ASKED)
    assert (answer.decision, answer.value.rows) == ("deliver", ((2,),))


@pytest.mark.parametrize("kind", KINDS)
def test_a_monitor_of_another_database_judges_nothing(loops: dict[str, Loop], kind: str) -> None:
    other = "duckdb" if kind == "sqlite" else "sqlite"
    run = next(read_trajectories(loops[other].project.store))
    guard = Guard.load(loops[kind].project.monitor, stakes=0.0)
    with guard.session(run.question) as session:
        for _ in guarded(run.steps, session):
            pass
    answer = session.close()
    assert (answer.status, answer.reason, answer.delivered) == (
        *("unavailable", "other-dialect", False),
    )
