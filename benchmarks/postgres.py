"""What running SQL through Sentinel costs on PostgreSQL beside bare psycopg, as ratios of one run.

`measure(address)` gives the figures; run as a script with an address it prints them as JSON. The
database at the address holds the clinic of `tests/sql/postgres_clinic.sql`; an empty one is filled.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg

from sentinel_sql.database.postgres.database import PostgresDatabase
from sentinel_sql.database.statements.postgres_rules import POSTGRES_RULES
from sentinel_sql.database.statements.rules import check_tree
from sentinel_sql.database.statements.statement import read_statement

SUITE = Path(__file__).resolve().parents[1] / "tests" / "sql"
GROWTH = (
    "INSERT INTO visits (patient, day, ward, note, started, ended, cost, tags) "
    "SELECT patient, day, ward, note, started, ended, cost, tags "
    "FROM visits, generate_series(1, 9)",
    "INSERT INTO readings SELECT id + 12000 * n, visit + 300 * n, kind, value, "
    "at + n * INTERVAL '1 minute' FROM readings, generate_series(1, 9) n",
    "REFRESH MATERIALIZED VIEW ward_counts",
    "ANALYZE",
)
"""Makes the suite's clinic one of 3,000 visits and 120,000 readings, still a small one."""

TYPICAL = 1_000
"""Characters up to which a query counts as typical."""


def measure(address: str, rounds: int = 3) -> dict[str, float | int]:
    """Return overhead and walk figures.

    Args:
        address: a database whose role may read the clinic.
        rounds: how often the suite is run.
    """
    queries = honest()
    overhead = overheads(address, queries * rounds)
    walks = [walk_milliseconds(query) for query in queries if len(query) <= TYPICAL]
    return {
        "queries": len(queries),
        "overhead_ratio": overhead.ratio,
        "overhead_required": 1.15,
        "more_milliseconds_in_the_median": overhead.more,
        "walk_milliseconds": median(walks),
        "longest_walk_milliseconds": max(walks),
        "walk_required_milliseconds": 1.0,
    }


class Overhead(NamedTuple):
    """What Sentinel costs beside bare psycopg.

    `ratio` is its time for all queries over the other's. `more` is how many milliseconds it takes
    more for one query, in the median.
    """

    ratio: float
    more: float


def overheads(address: str, queries: Sequence[str]) -> Overhead:
    """Time Sentinel and bare psycopg, interleaved."""
    spent: dict[str, list[float]] = {"bare": [], "sentinel": []}
    with PostgresDatabase.open(address) as database, psycopg.connect(address) as bare:
        bare.autocommit = True
        runs: list[tuple[str, Callable[[str], object]]] = [
            ("bare", lambda sql: bare.execute(sql.encode()).fetchall()),
            ("sentinel", database.execute),
        ]
        for sql in dict.fromkeys(queries):  # both find the pages in memory
            bare.execute(sql.encode())
        for sql in queries:
            runs.reverse()
            for name, run in runs:
                started = time.perf_counter()
                run(sql)
                spent[name].append(time.perf_counter() - started)
    pairs = list(zip(spent["bare"], spent["sentinel"], strict=True))
    return Overhead(
        ratio=sum(spent["sentinel"]) / sum(spent["bare"]),
        more=median(1e3 * (sentinel - plain) for plain, sentinel in pairs),
    )


def walk_milliseconds(sql: str, times: int = 5) -> float:
    """Return the quickest time to check the tree of a query, in milliseconds."""
    statement = read_statement(sql, "postgres")
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        check_tree(statement, POSTGRES_RULES)
        spent.append(1e3 * (time.perf_counter() - started))
    return min(spent)


def honest() -> list[str]:
    """Return the honest queries of the suite, the long ones too."""
    content = tomllib.loads((SUITE / "postgres_honest.toml").read_text(encoding="utf-8"))
    found = [query for group in content["group"] for query in group["queries"]]
    for shape in content["shape"]:
        for count in shape["counts"]:
            parts = [shape["each"].format(n=n, before=n - 1) for n in range(1, count + 1)]
            end = shape["end"].format(last=count)
            found.append(shape["start"] + shape["between"].join(parts) + end)
    return found


def fill(address: str) -> None:
    """Make the clinic in an empty database, and leave another one as it is."""
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT to_regclass('public.patients')").fetchone()
        if found == (None,):
            connection.execute((SUITE / "postgres_clinic.sql").read_bytes())
    if found == (None,):
        grow(address)


def grow(address: str) -> None:
    """Make the clinic ten times as large."""
    with psycopg.connect(address) as connection:
        for statement in GROWTH:
            connection.execute(statement)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="postgresql://… of a database named clinic")
    arguments = parser.parse_args()
    fill(arguments.address)
    print(json.dumps(measure(arguments.address), indent=2))
