"""What the package offers by name, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import sentinel_sql


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
