"""Forks a collection for every line on stdin and tells its pid and each acknowledged question.

A process of its own, without threads, so that forking is cheap and safe; `test_kill.py` kills
the children.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future
from pathlib import Path

from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.sqlite import SqliteDatabase
from sentinel_sql.pipeline.collect import collect
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, ScriptedModel
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import TrajectoryStore


def main(folder: Path, count: int) -> None:
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            run(folder, count)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        tell(f"ended {status}")


def run(folder: Path, count: int) -> None:
    submit = TrajectoryStore.submit

    def tell_acknowledged(store: TrajectoryStore, trajectory: Trajectory) -> Future[None]:
        stored = submit(store, trajectory)
        stored.add_done_callback(lambda _: tell(f"stored {trajectory.question.id}"))
        return stored

    TrajectoryStore.submit = tell_acknowledged  # type: ignore[method-assign]
    tell(f"pid {os.getpid()}")
    with SqliteDatabase.open(folder / "tiny.sqlite", clock=CLOCK) as database:
        agent = ReactAgent(
            model=ScriptedModel([f"SQL: SELECT '{'x' * 9_000}'", "FINAL: null"], latency=0.001),
            database=database,
            prompt=Prompt.build(database.schema, CLOCK),
        )
        questions = [Question(id=f"q{n}", text="how many?", answerable=True) for n in range(count)]
        collect(questions, agent, database, store=folder / "store", workers=4)


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
