from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killed_collector import BYTES_OF_A_RUN

from sentinel_sql.testing import tiny_database
from sentinel_sql.trajectory.store import read_trajectories

COLLECTOR = Path(__file__).with_name("killed_collector.py")


@pytest.mark.parametrize(
    ("kills", "count"), [(12, 150), pytest.param(200, 2_500, marks=pytest.mark.slow)]
)
def test_killed_at_random_moments_a_collection_loses_and_doubles_nothing(
    tmp_path: Path, kills: int, count: int
) -> None:
    """Moments are drawn in the collection's own progress, so that no machine outruns a kill."""
    tiny_database(tmp_path / "tiny.sqlite")
    runs = tmp_path / "store" / "trajectories.jsonl"
    moments = random.Random(7)
    leash = count // (kills + 1)  # what one collection may begin: some is left after every kill
    acknowledged: set[str] = set()
    killed = torn = 0
    with subprocess.Popen(
        [sys.executable, str(COLLECTOR), str(tmp_path), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as collector:
        assert collector.stdin is not None
        assert collector.stdout is not None
        for attempt in range(kills + 1):
            last = attempt == kills
            inside_a_write = not last and attempt % 2 == 1
            torn_after = moments.randrange(leash * BYTES_OF_A_RUN) if inside_a_write else -1
            wait_for = moments.randint(0, leash)
            delay = moments.uniform(0, 0.02 if wait_for == 0 else 0.005)
            collector.stdin.write(f"{-1 if last else leash} {torn_after}\n")
            collector.stdin.flush()
            pid = 0
            for line in collector.stdout:
                what, _, told = line.strip().partition(" ")
                if what == "pid":
                    pid = int(told)
                elif what == "stored":
                    assert told not in acknowledged, "run twice"
                    acknowledged.add(told)
                    wait_for -= 1
                elif what == "ended":
                    ended = os.waitstatus_to_exitcode(int(told))
                    by = signal.SIGXFSZ if inside_a_write else signal.SIGKILL
                    assert ended == (0 if last else -by)
                    killed += ended != 0
                    break
                if wait_for == 0 and pid and not last and not inside_a_write:
                    time.sleep(delay)
                    os.kill(pid, signal.SIGKILL)
                    pid = 0
            torn += runs.exists() and not runs.read_bytes().endswith(b"\n")
            if runs.exists():
                held = [run.question.id for run in read_trajectories(tmp_path / "store")]
                assert len(held) == len(set(held)), "doubled"
                assert acknowledged <= set(held), "lost"
        collector.stdin.close()
    assert killed == kills
    assert torn > kills / 4
    assert sorted(held) == sorted(f"q{number}" for number in range(count))
