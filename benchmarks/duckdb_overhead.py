"""What running SQL through Sentinel costs on DuckDB beside bare DuckDB, as ratios of one run.

`measure(path)` gives the figures; run as a script it fills a file and prints them as JSON. Both run
on one thread. The clinic of `tests/sql/duckdb_clinic.sql` gets more readings, so that its queries
take what queries over a hospital's tables take.
"""

from __future__ import annotations

import json
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from statistics import median

import duckdb

from sentinel_sql.database.duckdb.database import DuckdbDatabase
from sentinel_sql.database.statements.duckdb_rules import DUCKDB_RULES
from sentinel_sql.database.statements.rules import check_tree
from sentinel_sql.database.statements.statement import read_statement

SUITE = Path(__file__).resolve().parents[1] / "tests" / "sql"
VISITS, READINGS = 20_000, 1_000_000
TYPICAL = 1_000
"""Characters up to which a query counts as typical."""


def measure(path: Path, rounds: int = 2) -> dict[str, float | int]:
    """Return overhead and walk figures.

    Args:
        path: a file made by `fill`.
        rounds: how often the suite is run.
    """
    queries = honest()
    bare, sentinel = times(path, queries, rounds)
    walks = [walk_milliseconds(query) for query in queries if len(query) <= TYPICAL]
    return {
        "queries": len(queries),
        "bare_seconds": sum(bare),
        "overhead_ratio": sum(sentinel) / sum(bare),
        "overhead_required": 1.15,
        "more_milliseconds_in_the_median": median(
            1e3 * (ours - theirs) for theirs, ours in zip(bare, sentinel, strict=True)
        ),
        "walk_milliseconds": median(walks),
        "walk_required_milliseconds": 1.0,
    }


def times(path: Path, queries: list[str], rounds: int) -> tuple[list[float], list[float]]:
    """Return each query's quickest seconds on bare DuckDB and here, run in turn."""
    settings: dict[str, str | bool | int | float | list[str]] = {"threads": 1}
    with (
        DuckdbDatabase.open(path) as database,
        duckdb.connect(str(path), read_only=True, config=settings) as bare,
    ):
        most = database.limits.rows
        bare.execute("SET TimeZone = 'UTC'")
        runs: list[tuple[int, Callable[[str], object]]] = [
            (0, lambda sql: bare.execute(sql).fetchmany(most)),
            (1, database.execute),
        ]
        quickest = ([float("inf")] * len(queries), [float("inf")] * len(queries))
        for _ in range(rounds):
            for place, sql in enumerate(queries):
                runs.reverse()
                for which, run in runs:
                    started = time.perf_counter()
                    run(sql)
                    spent = time.perf_counter() - started
                    quickest[which][place] = min(quickest[which][place], spent)
    return quickest


def walk_milliseconds(sql: str, times: int = 5) -> float:
    """Return the quickest time to check the tree of a query, in milliseconds."""
    statement = read_statement(sql, "duckdb")
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        check_tree(statement, DUCKDB_RULES)
        spent.append(1e3 * (time.perf_counter() - started))
    return min(spent)


def honest() -> list[str]:
    """Return the honest queries of the suite that aren't made long on purpose."""
    content = tomllib.loads((SUITE / "duckdb_honest.toml").read_text(encoding="utf-8"))
    return [query for group in content["group"] for query in group["queries"]]


def fill(path: Path, visits: int = VISITS, readings: int = READINGS) -> None:
    """Make the clinic in a new file, with more visits and readings."""
    with duckdb.connect(str(path)) as connection:
        connection.execute((SUITE / "duckdb_clinic.sql").read_text(encoding="utf-8"))
        connection.execute(
            "INSERT INTO visits SELECT n, n % 37 + 1, DATE '2100-01-01' + n % 180, "
            "['icu', 'surgery', 'medicine'][n % 3 + 1], 'stable since day ' || n % 5, "
            "TIMESTAMPTZ '2100-01-01 08:00+00' + (n % 180) * INTERVAL '1 day', NULL, "
            "n % 900 * 12.5, ['planned'] FROM (SELECT range::INTEGER AS n FROM range(301, ?))",
            [visits],
        )
        connection.execute(
            "INSERT INTO readings SELECT n, n % (? - 1) + 1, ['glucose', 'sodium', 'potassium']"
            "[n % 3 + 1], n % 199 + 0.25, TIMESTAMP '2100-01-01' + n * INTERVAL '1 second' "
            "FROM (SELECT range::INTEGER AS n FROM range(12001, ?))",
            [visits, readings],
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "clinic.duckdb"
        fill(file)
        print(json.dumps(measure(file), indent=1))
