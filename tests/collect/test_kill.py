from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sentinel_sql.testing import tiny_database
from sentinel_sql.trajectory.store import read_trajectories

COLLECTOR = Path(__file__).with_name("killed_collector.py")


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("kills", "count"), [(12, 150), pytest.param(200, 2_500, marks=pytest.mark.slow)]
)
def test_killed_at_random_moments_a_collection_loses_and_doubles_nothing(
    tmp_path: Path, kills: int, count: int
) -> None:
    tiny_database(tmp_path / "tiny.sqlite")
    moments = random.Random(7)
    acknowledged: set[str] = set()
    killed = 0
    with subprocess.Popen(
        [sys.executable, str(COLLECTOR), str(tmp_path), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as collector:
        assert collector.stdin is not None
        assert collector.stdout is not None
        for attempt in range(kills + 1):
            collector.stdin.write("go\n")
            collector.stdin.flush()
            timer: threading.Timer | None = None
            for line in collector.stdout:
                what, _, told = line.strip().partition(" ")
                if what == "pid" and attempt < kills:
                    timer = threading.Timer(moments.uniform(0, 0.15), kill, (int(told),))
                    timer.start()
                elif what == "stored":
                    assert told not in acknowledged, "run twice"
                    acknowledged.add(told)
                elif what == "ended":
                    killed += told == str(int(signal.SIGKILL))
                    break
            if timer is not None:
                timer.cancel()
                timer.join()
            if (tmp_path / "store" / "trajectories.jsonl").exists():
                held = [run.question.id for run in read_trajectories(tmp_path / "store")]
                assert len(held) == len(set(held)), "doubled"
                assert acknowledged <= set(held), "lost"
        collector.stdin.close()
    assert killed > kills / 2
    assert sorted(held) == sorted(f"q{number}" for number in range(count))
