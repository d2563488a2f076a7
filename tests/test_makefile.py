"""`make clean` takes away what the other targets made, and nothing else."""

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
