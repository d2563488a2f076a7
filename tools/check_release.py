"""Checks a built release: what it holds, and that it works where no checkout is.

`python tools/check_release.py dist` after `python -m build`. It installs the wheel into a fresh
environment and runs the demo there, so it needs a package index.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

NEEDED = (
    "sentinel_sql/py.typed",
    "sentinel_sql/report/page/templates/report.html.j2",
    "sentinel_sql/hospital/recordings/guided.jsonl.gz",
)
MOST_MEGABYTES = 12


def main(folder: Path) -> None:
    """Check the one wheel and the one sdist of a folder; exits with a message where one fails."""
    wheel, sdist = _only(folder, "*.whl"), _only(folder, "*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    stray = [n for n in names if not n.startswith(("sentinel_sql/", "sentinel_sql-"))]
    _require(not stray, f"{wheel.name} holds files that aren't the package: {stray[:3]}")
    missing = [name for name in NEEDED if name not in names]
    _require(not missing, f"{wheel.name} lacks {missing}")
    size = wheel.stat().st_size / 2**20
    _require(size <= MOST_MEGABYTES, f"{wheel.name} has {size:.1f} MB")
    with tarfile.open(sdist) as source:
        sources = {name.partition("/")[2] for name in source.getnames()}
    lost = [n for n in names if n.startswith("sentinel_sql/") and f"src/{n}" not in sources]
    _require(not lost, f"{sdist.name} lacks {lost[:3]}, which {wheel.name} holds")
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        venv.create(home / "env", with_pip=True)
        python = home / "env" / "bin" / "python"
        _run([str(python), "-m", "pip", "install", "--quiet", f"{wheel}[report]"], home)
        command = str(home / "env" / "bin" / "sentinel")
        for words in (["--version"], ["demo"], ["doctor"]):
            _run([command, *words], home)
        made = (home / "demo" / "monitor").is_dir()
        _require(made, "the demo of the wheel fitted no monitor")
    print(f"{wheel.name} ({size:.1f} MB) and {sdist.name} are fit to be published")  # noqa: T201


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    _require(len(found) == 1, f"{folder} holds {len(found)} files like {pattern}, and needs one")
    return found[0].resolve()


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    _require(done.returncode == 0, f"{' '.join(command[:3])} fails: {done.stderr[-2000:]}")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"check_release: {otherwise}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
