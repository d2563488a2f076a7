"""A database that can't be used is one line of every verb, and never shows a password."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_project import Project, Sentinel
from postgres_cluster import PostgresCluster

SECRET = "s3cret-word"

VERBS: dict[str, Callable[[Project, str], tuple[object, ...]]] = {
    "collect": lambda it, address: (
        *("collect", "--questions", it.questions, "--database", address),
        *("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--store", it.folder / "new"),
    ),
    "label": lambda it, address: (
        *("label", it.store, "--questions", it.questions, "--database", address),
        *("--out", it.folder / "new.jsonl"),
    ),
    "probe": lambda it, address: (
        *("probe", it.store, "--database", address, "--store", it.folder / "new"),
    ),
    "ask": lambda it, address: (
        *("ask", "how many?", "--database", address, "--monitor", it.monitor),
        *("--base-url", "http://127.0.0.1:9/v1", "--model", "m"),
    ),
    "questions check": lambda it, address: (
        *("questions", "check", it.questions, "--database", address),
    ),
    "rivals collect": lambda it, address: (
        *("rivals", "collect", it.store, "--database", address, "--out", it.folder / "new"),
        *("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--dry-run"),
    ),
    "doctor": lambda _, address: ("doctor", "--database", address, "--json"),
}

FILES = {
    "sqlite, missing": ("{folder}/nowhere.sqlite", 3, "isn't there"),
    "sqlite, a folder": ("{folder}", 3, "is a folder"),
    "sqlite, no database": ("{folder}/text.sqlite", 3, "text.sqlite"),
    "sqlite, empty": ("{folder}/empty.sqlite", 3, "empty.sqlite"),
    "duckdb, missing": ("duckdb:///{folder}/nowhere.duckdb", 3, "isn't there"),
    "duckdb, a folder": ("duckdb:///{folder}", 3, "is a folder"),
    "duckdb, no database": ("duckdb:///{folder}/text.sqlite", 3, "text.sqlite"),
    "another kind": (f"oracle://reader:{SECRET}@server/hospital", 3, "oracle"),
    "a kind in capitals": (f"MYSQL://reader:{SECRET}@server/hospital", 3, "mysql"),
}

SERVERS = {
    "no server": ("postgresql://reader:{secret}@127.0.0.1:9/clinic", 3, "127.0.0.1"),
    "unknown host": ("postgresql://reader:{secret}@no-such-host.invalid/clinic", 3, "no-such-host"),
    "wrong password": ("postgresql://locked:{secret}@127.0.0.1:{port}/postgres", 3, "password"),
    "no password": ("postgresql://locked@127.0.0.1:{port}/postgres", 3, "PGPASSWORD"),
    "no such role": (
        "postgresql://nobody_here:{secret}@/postgres?host={folder}&port={port}",
        *(3, "nobody_here"),
    ),
    "no such database": (
        "postgresql://postgres:{secret}@/nowhere?host={folder}&port={port}",
        *(3, "nowhere"),
    ),
    "no rights": (
        "postgresql://outsider:{secret}@/faults?host={folder}&port={port}",
        *(3, "GRANT"),
    ),
    "no table": (
        "postgresql://postgres:{secret}@/template1?host={folder}&port={port}",
        *(3, "holds no table"),
    ),
    "no port": ("postgresql://reader:{secret}@server:port/clinic", 3, "port"),
    "half an address": ("postgresql://reader:{secret}@[::1/clinic", 2, "postgresql://"),
    "unknown setting": ("postgresql://reader:{secret}@server/clinic?colour=red", 2, "colour"),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places")
    (folder / "text.sqlite").write_text("this is a text and no database\n" * 400)
    (folder / "empty.sqlite").touch()
    return folder


@pytest.fixture(scope="module")
def servers(postgres_cluster: PostgresCluster) -> PostgresCluster:
    """The cluster with a database whose tables one role can't read."""
    import psycopg

    with psycopg.connect(postgres_cluster.address(), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(7)")
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'outsider'").fetchone():
            connection.execute("CREATE ROLE outsider LOGIN")
            with psycopg.connect(postgres_cluster.create("faults")) as made:
                made.execute("CREATE TABLE t (x int)")
    return postgres_cluster


def one_line(call: object, code: int, part: str) -> None:
    assert call.code == code, call  # type: ignore[attr-defined]
    said = call.err + call.out  # type: ignore[attr-defined]
    assert part.lower() in said.lower()
    assert SECRET not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("fault", FILES)
def test_a_file_that_cannot_be_used_is_one_line_of_each_verb(
    fitted: Project, places: Path, sentinel: Sentinel, verb: str, fault: str
) -> None:
    address, code, part = FILES[fault]
    call = sentinel(*VERBS[verb](fitted, address.format(folder=places)))
    one_line(call, 1 if verb == "doctor" else code, part)
    assert len(call.err.splitlines()) == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("fault", SERVERS)
def test_a_server_that_cannot_be_used_is_one_line_of_each_verb(
    fitted: Project, servers: PostgresCluster, sentinel: Sentinel, verb: str, fault: str
) -> None:
    address, code, part = SERVERS[fault]
    place = {"folder": servers.folder, "port": servers.port, "secret": SECRET}
    call = sentinel(*VERBS[verb](fitted, address.format(**place)))
    one_line(call, 1 if verb == "doctor" else code, part)
    assert len(call.err.splitlines()) == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("package", "address"),
    [
        ("psycopg", f"postgresql://reader:{SECRET}@server/clinic"),
        ("duckdb", "duckdb:///ward.duckdb"),
    ],
)
def test_a_missing_extra_is_one_line_that_says_what_to_install(
    fitted: Project,
    sentinel: Sentinel,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    package: str,
    address: str,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for name in [it for it in sys.modules if it.startswith(f"sentinel_sql.database.{package}")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "sentinel_sql.database.postgres.database", raising=False)
    call = sentinel(*VERBS[verb](fitted, address))
    assert call.code != 0
    said = " ".join((call.err + call.out).split())
    assert f"[{'postgres' if package == 'psycopg' else 'duckdb'}]" in said
    assert SECRET not in said
    assert len(call.err.splitlines()) == 1
