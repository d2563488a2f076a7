"""What the pages about databases tell people to run does what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sentinel_sql as sentinel
from postgres_cluster import PostgresCluster
from sentinel_sql.database import opening
from sentinel_sql.testing import CLOCK, tiny_database

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def code(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_role_of_the_page_reads_and_has_no_needless_right(
    postgres_cluster: PostgresCluster,
) -> None:
    import psycopg

    sql = code("connect-a-postgresql.md", "sql")
    sql = sql.replace("clinic", "page").replace("reader", "page_reader")
    with psycopg.connect(postgres_cluster.create("page"), autocommit=True) as owner:
        owner.execute("CREATE TABLE stays (id int)")
        owner.execute(sql.encode())
        owner.execute("CREATE TABLE later (id int)")
    address = postgres_cluster.address("page", "page_reader")
    with sentinel.open_database(address, clock=CLOCK) as database:
        assert list(database.schema.tables) == ["stays", "later"]
        assert database.execute("SELECT count(*) FROM later").rows == ((0,),)
        assert database.health().warnings == ()
        assert "held to 1024 MB" in database.health().detail


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A database opened by the page's code, over SQLAlchemy's own SQLite."""
    monkeypatch.setattr(opening, "_registered", {})
    names: dict[str, Any] = {}
    exec(compile(code("add-a-database.md", "python"), "add-a-database.md", "exec"), names)
    assert "mysql" in opening._registered
    address = f"sqlite:///{tiny_database(tmp_path / 'tiny.sqlite')}"
    sentinel.register_database(
        "other",
        lambda _, *, name, clock, limits: names["AlchemyDatabase"](
            address, dialect="sqlite", name=name, clock=clock, limits=limits
        ),
    )
    with sentinel.open_database("other://h/d", limits=sentinel.Limits(rows=2)) as database:
        yield database


def test_the_pages_own_database_keeps_the_contract(own: Any) -> None:
    assert "patients" in own.schema.tables
    result = own.execute("SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3")
    assert (result.kind, result.columns, result.rows) == ("rows", ("a",), ((1,), (2,)))
    assert result.truncated
    assert own.execute("SELECT 1 WHERE 0").kind == "empty"
    assert own.execute("DELETE FROM patients").kind == "refused"
    assert own.execute("SELECT * FROM nothing").kind == "error"
    assert own.execute("SELECT (").kind == "refused"
    assert own.health().detail


def test_the_pages_own_database_raises_when_it_is_gone(own: Any) -> None:
    own.engine.dispose()
    own.engine = sentinel_engine("sqlite:////nowhere/at/all.sqlite")
    with pytest.raises(sentinel.DatabaseError, match="is gone"):
        own.execute("SELECT 1")


def sentinel_engine(address: str) -> Any:
    import sqlalchemy

    return sqlalchemy.create_engine(address)
