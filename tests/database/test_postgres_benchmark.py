"""The benchmark of PostgreSQL runs, and its figures are within what is promised."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

import pytest

from postgres_cluster import PostgresCluster
from sentinel_sql.database.statements.statement import read_statement


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    pytest.importorskip("psycopg", reason="psycopg absent: install the extra postgres")
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "postgres.py"
    spec = importlib.util.spec_from_file_location("benchmarks_postgres", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_walk_takes_a_small_part_of_the_parsing(benchmark: ModuleType) -> None:
    walked = parsed = 0.0
    for sql in benchmark.honest():
        started = time.perf_counter()
        read_statement(sql, "postgres")
        parsed += 1e3 * (time.perf_counter() - started)
        walked += benchmark.walk_milliseconds(sql, times=2)
    assert walked < 0.5 * parsed


@pytest.mark.slow
def test_sentinel_costs_at_most_15_percent_and_the_walk_a_millisecond(
    benchmark: ModuleType, postgres_cluster: PostgresCluster, postgres_clinic: str
) -> None:
    address = postgres_cluster.address(postgres_clinic)
    benchmark.grow(address)
    figures = benchmark.measure(address)
    assert figures["overhead_ratio"] <= 1.15
    assert figures["longest_walk_milliseconds"] <= 1.0
