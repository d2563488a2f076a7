"""Every example runs as it stands, with a plain `python examples/NAME.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tutorial_page import call

ROOT = Path(__file__).parents[2]
SAID = {
    "async_guard.py": ("deliver", "withhold"),
    "csv_to_report.py": ("report.html",),
    "guard_any_agent.py": ("deliver", "withhold"),
    "import_logs.py": ("imported 2", "(answered)", "no such column"),
    "ward.py": (),
}
"""What each example prints, among other words."""


def test_every_example_is_listed_here() -> None:
    assert sorted(SAID) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("name", SAID)
def test_an_example_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    ended = call("python", [str(ROOT / "examples" / name)], tmp_path)
    assert (ended.code, ended.errors) == (0, "")
    assert [words for words in SAID[name] if words not in ended.printed] == []


@pytest.mark.parametrize("name", SAID)
def test_an_example_imports_what_it_uses(name: str) -> None:
    code = f"import runpy; runpy.run_path({str(ROOT / 'examples' / name)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "examples")]),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
