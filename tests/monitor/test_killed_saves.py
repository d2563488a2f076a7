"""A save that is killed leaves a whole monitor, and its litter is gone after the next save."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.monitor import bundle
from sentinel_sql.pipeline.fit import fit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, pools, labels = planted_store(160, seed=5)
    folder = tmp_path_factory.mktemp("killed") / "monitor"
    bundle.save(fit(made, pools, labels, HEADER, head="ngrams"), folder)
    return folder


def killed(folder: Path, *how: str) -> dict[str, Any]:
    script = Path(__file__).with_name("killed_save.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), *how],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def test_a_save_killed_before_any_of_its_steps_leaves_a_whole_monitor(folder: Path) -> None:
    found = killed(folder, "steps")
    assert found["died"] > 20
    assert found["whole"] == found["died"]
    assert found["littered"] > 10  # else nothing was put to the test
    assert os.listdir(folder.parent) == ["monitor"]  # by the save that lived


@pytest.mark.slow
def test_of_three_hundred_kills_three_hundred_leave_a_whole_monitor(folder: Path) -> None:
    found = killed(folder, "random", "300")
    assert (found["died"], found["whole"]) == (300, 300)
    bundle.save(bundle.load(folder), folder)
    assert os.listdir(folder.parent) == ["monitor"]
