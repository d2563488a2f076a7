"""A PostgreSQL that dies in the middle of a collection costs no run, and no agent is blamed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres_cluster import PostgresCluster, find_binaries, running_cluster
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.executor import Database
from sentinel_sql.database.opening import open_database
from sentinel_sql.errors import DatabaseError
from sentinel_sql.pipeline.collect import Progress, collect
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, ScriptedModel
from sentinel_sql.trajectory.store import read_trajectories

QUESTIONS = [Question(id=f"q{n}", text=f"How many {n}?", answerable=True) for n in range(240)]
QUERY = "SELECT count(*) FROM stays"
SCRIPT = [f"SQL: {QUERY}", f"SQL: {QUERY} WHERE id > 3", f"FINAL_SQL: {QUERY}"]


@pytest.fixture(scope="module")
def mortal() -> Iterator[PostgresCluster]:
    """A server of this module's own, which other tests don't need."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg absent: install the extra postgres")
    if find_binaries() is None:
        pytest.skip("PostgreSQL absent: install the package postgresql")
    with running_cluster() as cluster:
        with psycopg.connect(cluster.create("ward")) as made:
            made.execute("CREATE TABLE stays AS SELECT generate_series(1, 1000) AS id")
        yield cluster


def run(
    asked: list[Question],
    database: Database,
    store: Path,
    *,
    killed_after: int | None,
    server: PostgresCluster,
) -> None:
    agent = ReactAgent(
        model=ScriptedModel(SCRIPT, latency=0.01),
        database=database,
        prompt=Prompt.build(database.schema, database.clock),
    )

    def kill(progress: Progress) -> None:
        if progress.done == killed_after:
            server.stop("immediate")

    collect(asked, agent, database, store=store, workers=4, on_progress=kill)


def killed_again_and_again(server: PostgresCluster, store: Path, *, times: int, each: int) -> None:
    asked = QUESTIONS[: 12 * times]
    recorded: set[str] = set()
    for _ in range(times):
        with open_database(server.address("ward"), clock=CLOCK) as database:
            try:
                with pytest.raises(DatabaseError, match="the same command resumes") as caught:
                    run(asked, database, store, killed_after=each, server=server)
            finally:
                server.start()
        assert "\n" not in str(caught.value)
        now = {run.question.id for run in read_trajectories(store)}
        assert recorded < now
        recorded = now
    with open_database(server.address("ward"), clock=CLOCK) as database:
        run(asked, database, store, killed_after=None, server=server)
    runs = list(read_trajectories(store))
    assert sorted(run.question.id for run in runs) == sorted(question.id for question in asked)
    kinds = {step.observation.kind for run in runs for step in run.steps}
    assert kinds == {"rows"}


def test_a_server_killed_twice_costs_no_run_and_the_same_command_goes_on(
    mortal: PostgresCluster, tmp_path: Path
) -> None:
    killed_again_and_again(mortal, tmp_path / "store", times=2, each=7)


@pytest.mark.slow
def test_a_server_killed_twenty_times_costs_no_run(mortal: PostgresCluster, tmp_path: Path) -> None:
    killed_again_and_again(mortal, tmp_path / "store", times=20, each=1)


def test_the_same_database_goes_on_after_its_server_came_back(mortal: PostgresCluster) -> None:
    with open_database(mortal.address("ward")) as database:
        before = database.execute(QUERY).rows
        mortal.stop("immediate")
        try:
            with pytest.raises(DatabaseError, match="can't be reached"):
                database.execute(QUERY)
        finally:
            mortal.start()
        assert database.execute(QUERY).rows == before
