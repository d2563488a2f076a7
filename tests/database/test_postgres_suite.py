"""Hundreds of hostile and honest queries over PostgreSQL: nothing changes, nothing runs away."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest

from postgres_cluster import PostgresCluster

psycopg = pytest.importorskip("psycopg", reason="psycopg absent: install the extra postgres")

from sentinel_sql.database.executor import Limits  # noqa: E402
from sentinel_sql.database.postgres.database import PostgresDatabase  # noqa: E402

FOLDER = Path(__file__).resolve().parents[1] / "sql"
CLOCK = "2100-12-31 23:59:00"
HOSTILE_LIMITS = Limits(seconds=0.3, memory=200_000_000)
AT_ONCE = 6
ENDS = {
    "refused": {"refused"},
    "error": {"error"},
    "bounded": {"error", "rows", "empty"},
    "rows": {"rows", "empty"},
}


def queries(name: str) -> list[tuple[str, str]]:
    """Return (query, how it ends) of one file."""
    content = tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
    found = [
        (query, group.get("ends", "rows"))
        for group in content["group"]
        for query in group["queries"]
    ]
    for shape in content["shape"]:
        for count in shape["counts"]:
            parts = [shape["each"].format(n=n, before=n - 1) for n in range(1, count + 1)]
            end = shape["end"].format(last=count)
            query = shape["start"] + shape["between"].join(parts) + end
            found.append((query, shape.get("ends", "rows")))
    return found


HOSTILE = queries("postgres_hostile.toml")
HONEST = queries("postgres_honest.toml")


@pytest.fixture(scope="module")
def clinic(postgres_cluster: PostgresCluster) -> str:
    """Make the clinic, once for all processes of the tests, and return its name."""
    with psycopg.connect(postgres_cluster.address(), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'clinic'").fetchone()
        if found is None:
            address = postgres_cluster.create("clinic")
            with psycopg.connect(address) as made:
                made.execute((FOLDER / "postgres_clinic.sql").read_bytes())
    return "clinic"


@pytest.fixture(scope="module")
def tight(postgres_cluster: PostgresCluster, clinic: str) -> Iterator[PostgresDatabase]:
    address = postgres_cluster.address(clinic, "reader")
    with PostgresDatabase.open(address, clock=CLOCK, limits=HOSTILE_LIMITS) as database:
        yield database


@pytest.fixture(scope="module")
def usual(postgres_cluster: PostgresCluster, clinic: str) -> Iterator[PostgresDatabase]:
    with PostgresDatabase.open(postgres_cluster.address(clinic, "reader"), clock=CLOCK) as database:
        yield database


def test_there_are_at_least_150_of_each_and_none_stands_twice() -> None:
    for suite in (HOSTILE, HONEST):
        assert len({query for query, _ in suite}) == len(suite) >= 150


def test_hostile_queries_change_nothing_and_none_outlives_its_deadline(
    tight: PostgresDatabase, postgres_cluster: PostgresCluster, clinic: str
) -> None:
    before = postgres_cluster.dump(clinic)
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
    assert postgres_cluster.dump(clinic) == before


class outliving:  # noqa: N801
    """Collects the statements of `reader` that the server itself shows as active for too long."""

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
                    "SELECT pid, query_start, query FROM pg_stat_activity WHERE usename = 'reader' "
                    "AND state = 'active' AND clock_timestamp() - query_start > %s * "
                    "INTERVAL '1 second'",
                    (self._seconds,),
                ):
                    self._found[pid, start] = query


@pytest.mark.parametrize(("sql", "ends"), HONEST, ids=range(len(HONEST)))
def test_an_honest_query_is_answered(sql: str, ends: str, usual: PostgresDatabase) -> None:
    result = usual.execute(sql)
    assert result.kind in ENDS[ends], (result.error, sql[:200])
