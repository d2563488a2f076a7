"""No query's text reaches the screen by way of the parser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "sentinel_sql"


@pytest.mark.parametrize(
    "call",
    [
        "from sentinel_sql.sql_tree import parse_one; parse_one(sql)",
        "from sentinel_sql.sql_tree import parse_all; parse_all(sql)",
        "from sentinel_sql.labels.answer_form import select_form; select_form(sql)",
        "from sentinel_sql.database.probes.probe import _parsed; _parsed(sql)",
    ],
)
@pytest.mark.parametrize(
    "sql", ["ALTER VIEW ann_miller", "PRAGMA ann_miller", "CALL ann_miller()", "SHOW ann_miller x"]
)
def test_what_the_parser_does_not_know_is_not_quoted_on_stderr(call: str, sql: str) -> None:
    code = (
        "import contextlib, logging; logging.basicConfig()\n"
        f"sql = {sql!r}\n"
        f"with contextlib.suppress(Exception): {call.split('; ')[0]}; {call.split('; ')[1]}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "miller" not in done.stderr + done.stdout


def test_there_is_one_door_to_the_parser() -> None:
    door = re.compile(
        r"^import sqlglot$|sqlglot\.parse|from sqlglot import (?:parse|transpile)", re.M
    )
    users = [path.name for path in SOURCE.rglob("*.py") if door.search(path.read_text())]
    assert users == ["sql_tree.py"]
