"""`sentinel doctor` knows every library that the project states, and what may be absent."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from postgres_cluster import PostgresCluster
from sentinel_sql.cli.main import app
from sentinel_sql.cli.verbs.doctor import EXTRAS, LIBRARIES

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_every_library_and_extra_of_the_project_is_looked_at() -> None:
    stated = [re.match(r"[\w.-]+", line).group() for line in PROJECT["dependencies"]]  # type: ignore[union-attr]
    assert set(LIBRARIES) == set(stated)
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"])


def test_missing_extra_is_absent_and_no_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name in ("torch", "sqlglotc"):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    shown = CliRunner().invoke(app, ["doctor", "--json"])
    assert shown.exit_code == 0
    found = {each["name"]: each for each in json.loads(shown.stdout)["findings"]}
    assert found["extra encoders"]["standing"] == "absent"
    assert re.search(
        r"pip install .*\[encoders\]'? brings torch", found["extra encoders"]["detail"]
    )
    assert found["extra fast"]["standing"] == "absent"
    assert found["sqlglot"]["standing"] == "ok"


def test_needless_rights_are_warnings_with_their_remedies_and_no_fault(
    postgres_cluster: PostgresCluster,
) -> None:
    import psycopg

    address = postgres_cluster.create(f"doctor{os.getpid()}")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE t (x int)")
    shown = CliRunner().invoke(app, ["doctor", "--database", address, "--json"])
    assert shown.exit_code == 0
    document = json.loads(shown.stdout)
    found = [it for it in document["findings"] if it["name"] == "database"]
    assert [it["standing"] for it in found] == ["ok"] + ["warning"] * (len(found) - 1)
    assert any("superuser" in it["detail"] for it in found[1:])
    table = CliRunner().invoke(app, ["doctor", "--database", address]).stdout
    assert "warning" in table
    assert max(map(len, table.splitlines())) <= 80
