"""What the targets of the Makefile do, as far as that can be told without doing it all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MADE = (".venv", "build", "dist", "demo", ".hypothesis", ".mypy_cache", "src/a.egg-info")
KEPT = ("src/package", "docs", "runs", "monitor")


@pytest.mark.skipif(shutil.which("make") is None, reason="make isn't installed")
def test_clean_removes_what_the_targets_made_and_nothing_else(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for folder in (*MADE, *KEPT):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").touch()
    (tmp_path / ".coverage").touch()
    for _ in range(2):  # nothing to remove is no fault
        subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    left = {str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("file")}
    assert left == set(KEPT)
    assert not (tmp_path / ".coverage").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make isn't installed")
def test_only_ci_measures_coverage_and_both_run_on_all_cores() -> None:
    here, ci = (
        subprocess.run(
            ["make", "--dry-run", "suite", f"CI={ci}"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()[-1]
        for ci in ("", "1")
    )
    assert "-n logical" in here
    assert "--cov" not in here
    assert ci.startswith(here.strip())
    assert "--cov" in ci
