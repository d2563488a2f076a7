"""Forks a collection for every line on stdin and tells its pid and each acknowledged question.

A line is two numbers, -1 for none: how many questions the collection may begin before it hangs,
and after how many bytes of its own the kernel kills it in the middle of a write. A process of
its own, without threads, so that forking is cheap and safe; `test_kill.py` kills the children.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from sentinel_sql.agent.model import Message
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.pipeline.collect import collect
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, ScriptedModel, scripted_reply
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import TrajectoryStore

BYTES_OF_A_RUN = 9_000
"""No run takes less on the disk."""


def main(folder: Path, count: int) -> None:
    for line in sys.stdin:
        leash, torn_after = map(int, line.split())
        child = os.fork()
        if child == 0:
            run(folder, count, leash=leash, torn_after=torn_after)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        tell(f"ended {status}")


def run(folder: Path, count: int, *, leash: int, torn_after: int) -> None:
    submit = TrajectoryStore.submit

    def tell_acknowledged(store: TrajectoryStore, trajectory: Trajectory) -> Future[None]:
        stored = submit(store, trajectory)
        stored.add_done_callback(lambda _: tell(f"stored {trajectory.question.id}"))
        return stored

    TrajectoryStore.submit = tell_acknowledged  # type: ignore[method-assign]
    begun = 0
    guard = threading.Lock()

    def reply(messages: Sequence[Message]) -> str:
        nonlocal begun
        if messages[-1]["content"].startswith("QUESTION:"):
            with guard:
                if begun == 0 and torn_after >= 0:  # the store is open, and nothing written yet
                    _let_the_kernel_kill(folder / "store" / "trajectories.jsonl", torn_after)
                begun += 1
                hangs = 0 <= leash < begun
            if hangs:
                threading.Event().wait(60)
                os._exit(1)  # nobody killed it, so that the test can say so
        return scripted_reply([f"SQL: SELECT '{'x' * BYTES_OF_A_RUN}'", "FINAL: null"], messages)

    tell(f"pid {os.getpid()}")
    with SqliteDatabase.open(folder / "tiny.sqlite", clock=CLOCK) as database:
        agent = ReactAgent(
            model=ScriptedModel(reply, latency=0.001),
            database=database,
            prompt=Prompt.build(database.schema, CLOCK),
        )
        questions = [Question(id=f"q{n}", text="how many?", answerable=True) for n in range(count)]
        collect(questions, agent, database, store=folder / "store", workers=4)


def _let_the_kernel_kill(file: Path, after: int) -> None:
    """Cut the write that would take `file` past its length and `after` bytes, and die there."""
    length = file.stat().st_size + after
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # no dump; 0 wouldn't stop one into a pipe
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, length))


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would make it an OSError
    main(Path(sys.argv[1]), int(sys.argv[2]))
