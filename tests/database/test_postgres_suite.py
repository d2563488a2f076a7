"""Hundreds of hostile and honest queries over PostgreSQL: nothing changes, nothing runs away."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postgres_cluster import PostgresCluster
from sql_suites import ENDS, queries

psycopg = pytest.importorskip("psycopg", reason="psycopg absent: install the extra postgres")

from sentinel_sql.database.executor import Limits  # noqa: E402
from sentinel_sql.database.postgres.database import PostgresDatabase  # noqa: E402
from sentinel_sql.database.statements.statement import (  # noqa: E402
    RefusedError,
    read_statement,
)

CLOCK = "2100-12-31 23:59:00"
HOSTILE_LIMITS = Limits(seconds=0.3, memory=200_000_000)
AT_ONCE = 6


HOSTILE = queries("postgres_hostile.toml")
HONEST = queries("postgres_honest.toml")


@pytest.fixture(scope="module")
def tight(postgres_cluster: PostgresCluster, postgres_clinic: str) -> Iterator[PostgresDatabase]:
    address = postgres_cluster.address(postgres_clinic, "reader", application="hostile")
    with PostgresDatabase.open(address, clock=CLOCK, limits=HOSTILE_LIMITS) as database:
        yield database


@pytest.fixture(scope="module")
def usual(postgres_cluster: PostgresCluster, postgres_clinic: str) -> Iterator[PostgresDatabase]:
    with PostgresDatabase.open(
        postgres_cluster.address(postgres_clinic, "reader"), clock=CLOCK
    ) as database:
        yield database


def test_there_are_at_least_150_of_each_and_none_stands_twice() -> None:
    for suite in (HOSTILE, HONEST):
        assert len({query for query, _ in suite}) == len(suite) >= 150


def test_hostile_queries_change_nothing_and_none_outlives_its_deadline(
    tight: PostgresDatabase, postgres_cluster: PostgresCluster, postgres_clinic: str
) -> None:
    before = postgres_cluster.dump(postgres_clinic)
    most = 1.5 * HOSTILE_LIMITS.seconds
    with outliving(postgres_cluster, most) as seen, ThreadPoolExecutor(AT_ONCE) as threads:
        results = list(threads.map(tight.execute, [sql for sql, _ in HOSTILE]))
    wrong = [
        (sql[:100], result.kind, result.error)
        for (sql, ends), result in zip(HOSTILE, results, strict=True)
        if result.kind not in ENDS[ends]
    ]
    assert wrong == []
    # What else runs on the machine can only make it longer, so the quickest of three tries counts.
    late = {
        sql for (sql, _), result in zip(HOSTILE, results, strict=True) if result.seconds > most
    } | {sql for sql, _ in HOSTILE if sql in seen}
    for sql in late:
        with outliving(postgres_cluster, most) as again:
            tries = [tight.execute(sql).seconds for _ in range(3)]
        assert min(tries) <= most, sql[:100]
        assert again.count(sql) < 3, sql[:100]
    assert postgres_cluster.dump(postgres_clinic) == before


class outliving:  # noqa: N801
    """Collects the hostile statements that the server itself shows as active for too long."""

    def __init__(self, cluster: PostgresCluster, seconds: float) -> None:
        self._cluster = cluster
        self._seconds = seconds
        self._over = Event()
        self._thread = Thread(target=self._watch)
        self._found: dict[tuple[int, object], str] = {}
        self._statements: list[str] = []

    def __enter__(self) -> list[str]:
        self._thread.start()
        return self._statements

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._statements.extend(self._found.values())

    def _watch(self) -> None:
        with psycopg.connect(self._cluster.address(), autocommit=True) as connection:
            while not self._over.wait(0.03):
                for pid, start, query in connection.execute(
                    "SELECT pid, query_start, query FROM pg_stat_activity WHERE application_name = "
                    "'hostile' "
                    "AND state = 'active' AND clock_timestamp() - query_start > %s * "
                    "INTERVAL '1 second'",
                    (self._seconds,),
                ):
                    self._found[pid, start] = query


@pytest.mark.parametrize(("sql", "ends"), HONEST, ids=range(len(HONEST)))
def test_an_honest_query_is_answered(sql: str, ends: str, usual: PostgresDatabase) -> None:
    result = usual.execute(sql)
    assert result.kind in ENDS[ends], (result.error, sql[:200])


PIECES = ["'", '"', "$$", "$a$", "--", "/*", "*/", "\\", "E", "e'", "U&'", "\n", "a", " ", ",", "1"]
PIECES += ["\\'", "''", "'a'", "/**/", "::text", "||", "$", "x'f", "é", "\t", "\r", "-", "*", "/"]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_postgresql_and_sentinel_read_a_text_alike(bare: Any, noise: str) -> None:
    """What runs without its comments gives what the server makes of the text as it was written."""
    sql = f"SELECT 'x', {noise}, 2"
    try:
        statement = read_statement(sql, "postgres")
    except RefusedError:
        return

    def answer(text: str) -> object:
        try:
            return bare.execute(text.encode(), prepare=True).fetchall()
        except psycopg.Error as error:
            return error.sqlstate

    assert answer(statement.sql) == answer(sql)


@pytest.fixture(scope="module")
def bare(postgres_cluster: PostgresCluster, postgres_clinic: str) -> Iterator[Any]:
    address = postgres_cluster.address(postgres_clinic, "reader")
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection
