"""What running SQL through the executor costs, and how well its bounds hold, as ratios of one run.

`measure()` gives the figures; run as a script it prints them as JSON.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from sentinel_sql.database.equivalence import MODES
from sentinel_sql.database.executor import Limits
from sentinel_sql.database.sqlite.database import SqliteDatabase

MEGABYTE = 1_000_000
SHARED = Path(__file__).resolve().parents[1] / ".." / "shared"

RUNAWAYS = (
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000) "
    "SELECT sum(a.x * b.x % d.x) FROM c a, c b, c d",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT x FROM c ORDER BY random() LIMIT 5",
    "WITH RECURSIVE c(x) AS (SELECT printf('%.*c', 400000, 'x') UNION ALL SELECT upper(x) FROM c) "
    "SELECT sum(length(replace(x, 'X', 'y'))) FROM c",
    "SELECT printf('%.*c', 2000000000, 'x')",
    "WITH c0 AS (SELECT 1)"
    + "".join(
        f", c{n} AS (SELECT * FROM c{n - 1} UNION ALL SELECT * FROM c{n - 1})" for n in range(1, 40)
    )
    + " SELECT count(*) FROM c39",
)
"""Queries without an end: in SQLite's loops, in one call of a function, and while preparing."""

_ROWS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {rows}) "
HUGE = {
    "long rows of long texts": _ROWS.format(rows=5_000)
    + "SELECT printf('%.*c', 400000, 'x') FROM c",
    "many rows of short texts": _ROWS.format(rows=200_000)
    + "SELECT printf('%.*c', 10000, 'x') || x FROM c",
    "one text": "SELECT printf('%.*c', 2000000000, 'x')",
    "one text, doubled": "WITH RECURSIVE c(x) AS (SELECT 'x' UNION ALL SELECT x || x FROM c "
    "LIMIT 32) SELECT x FROM c ORDER BY length(x) DESC",
    "wide rows of wide characters": _ROWS.format(rows=50)
    + "SELECT "
    + ", ".join(["printf('%.*c', 440000, 'x') || char(128512)"] * 100)
    + " FROM c",
    "one aggregate": _ROWS.format(rows=2_000_000)
    + "SELECT group_concat(printf('%1000d', x)) FROM c",
}
"""Queries whose results would take some 2 GB."""


def measure(shared: Path = SHARED) -> dict[str, float | int | str]:
    """Return overhead, runaway and memory figures.

    Args:
        shared: folder with `data/ehrsql2024`; where it is absent, generated queries are run.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = shared / "data" / "ehrsql2024"
        real = data.is_dir()
        path, queries = gold(data, Path(folder)) if real else generated(Path(folder))
        overhead = overheads(path, queries)
        return {
            "queries": len(queries),
            "queries_from": "EHRSQL-2024" if real else "generated",
            "overhead_ratio": overhead.ratio,
            "short_query_more_milliseconds": overhead.short_more,
            "runaway_ratio": runaway_ratio(path),
            "overhead_required": 1.15,
            "short_query_more_required_milliseconds": 0.3,
            "runaway_required": 1.5,
            "huge_result_required_megabytes": 300,
            "huge_result_megabytes": huge_result_megabytes(path),
        }


class Overhead(NamedTuple):
    """What the executor costs beside plain `sqlite3`.

    `ratio` is its time for all queries over the other's, and `typical` the median over queries of
    such ratios, which no pause of the machine moves. `short_more` is how many milliseconds it
    takes more, in the median, for a query that takes the other less than one.
    """

    ratio: float
    typical: float
    short_more: float


def overheads(path: Path, queries: Sequence[str]) -> Overhead:
    """Time the executor, its process included, and plain `sqlite3`, interleaved."""
    spent: dict[str, list[float]] = {"plain": [], "executor": []}
    uri = f"{path.as_uri()}?mode=ro"
    with SqliteDatabase.open(path) as database, closing(sqlite3.connect(uri, uri=True)) as plain:
        runs: list[tuple[str, Callable[[str], object]]] = [
            ("plain", lambda sql: plain.execute(sql).fetchall()),
            ("executor", database.execute),
        ]
        database.execute("SELECT 1")  # starts the process, once for all
        for sql in queries:
            runs.reverse()  # neither always finds the pages that the other has just read
            for name, run in runs:
                started = time.perf_counter()
                run(sql)
                spent[name].append(time.perf_counter() - started)
    pairs = list(zip(spent["plain"], spent["executor"], strict=True))
    more = [1e3 * (executor - plain) for plain, executor in pairs if plain < 1e-3]
    return Overhead(
        ratio=sum(spent["executor"]) / sum(spent["plain"]),
        typical=median(executor / plain for plain, executor in pairs),
        short_more=median(more) if more else 0.0,
    )


def runaway_ratio(path: Path, seconds: float = 1.0) -> float:
    """Return the longest time that an endless query ran, over its deadline."""
    longest = 0.0
    with SqliteDatabase.open(path, limits=Limits(seconds=seconds)) as database:
        for sql in RUNAWAYS:
            database.execute("SELECT 1")  # the worker that the query before ended is replaced
            started = time.perf_counter()
            result = database.execute(sql)
            longest = max(longest, time.perf_counter() - started)
            if result.kind != "error":
                raise RuntimeError(f"an endless query ended: {sql}")
    return longest / seconds


def huge_result_megabytes(path: Path) -> float:
    """Return the peak memory of a process of its own that asks for 2 GB results in turn."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--huge", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def _run_huge(path: Path) -> None:
    with SqliteDatabase.open(path, limits=Limits(seconds=20)) as database:
        for sql in HUGE.values():
            database.execute(sql)
    print(_peak_memory() / MEGABYTE)


def _peak_memory() -> int:
    status = Path("/proc/self/status")
    if status.exists():  # `ru_maxrss` of a child counts its parent's memory on Linux
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def gold(data: Path, folder: Path) -> tuple[Path, list[str]]:
    """Return the unpacked database and all gold queries of train and valid, ready to run."""
    path = folder / "mimic_iv.sqlite"
    with lzma.open(data / "mimic_iv.sqlite.xz") as source, path.open("wb") as sink:
        shutil.copyfileobj(source, sink)
    prepare = MODES["ehrsql-2024"].postprocess
    queries = []
    for split in ("train", "valid"):
        with gzip.open(data / f"tasks_{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
            tasks = [json.loads(line) for line in lines]
        queries += [prepare(task["gold_sql"]) for task in tasks if task["answerable"]]
    return path, queries


def generated(folder: Path) -> tuple[Path, list[str]]:
    """Return a database made in `folder` and queries over it."""
    path = folder / "generated.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE stays (id INTEGER, ward TEXT, start TEXT, cost REAL)")
        connection.executemany(
            "INSERT INTO stays VALUES (?, ?, ?, ?)",
            (
                (i, f"ward {i % 17}", f"2099-{i % 12 + 1:02}-{i % 28 + 1:02}", i * 0.25)
                for i in range(5_000)
            ),
        )
    return path, [
        f"SELECT ward, count(*), sum(cost) FROM stays WHERE id > {n} "
        "AND strftime('%Y-%m', start) >= '2099-05' GROUP BY ward"
        for n in range(500)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--huge", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.huge:
        _run_huge(arguments.huge)
    else:
        print(json.dumps(measure(arguments.shared), indent=2))
