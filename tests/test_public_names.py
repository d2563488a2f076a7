"""What the package offers by name, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sentinel_sql
from sentinel_sql.monitor.bundle import save
from small_runs import fitted


def test_every_public_name_is_there_and_no_other() -> None:
    for name in sentinel_sql.__all__:
        assert getattr(sentinel_sql, name) is not None
    assert set(sentinel_sql._HOMES) == set(sentinel_sql.__all__)


def test_importing_the_package_and_asking_for_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; import sentinel_sql; import sentinel_sql.cli.main; "
        "print(*{m.partition('.')[0] for m in sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "numpy",
        "sklearn",
        "scipy",
        "pydantic",
        "sqlglot",
        "openai",
        "httpx",
        "httpx2",
        "sqlite3",
    }
    assert not heavy & set(loaded)


def test_a_guard_judges_without_the_libraries_of_fitting(tmp_path: Path) -> None:
    save(fitted()[0], tmp_path / "monitor")
    program = """
import sys
from sentinel_sql import Guard
guard = Guard.load(sys.argv[1], stakes=1.0, early_stop=True)
with guard.session("how many patients got heparin") as session:
    session.observe(thought="look", sql="SELECT drug FROM prescriptions", result=[("heparin",)])
print(*{name.partition(".")[0] for name in sys.modules})
"""
    loaded = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "monitor")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"sklearn", "scipy", "pandas", "torch", "matplotlib"} & set(loaded)
