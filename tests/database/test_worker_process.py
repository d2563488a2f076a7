"""The process that runs SQL: quick, replaced when it ends, and gone when its parent is."""

from __future__ import annotations

import gc
import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.executor import Cell, Limits
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.database.worker.process import WorkerProcess
from sentinel_sql.database.worker.wire import HEAD, frame_of, message_of
from sentinel_sql.errors import DatabaseError, InputError

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("worker") / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
    return path


@pytest.fixture
def database(path: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.open(path, limits=Limits(seconds=5)) as opened:
        yield opened


def workers() -> set[int]:
    """Return the worker processes of this process, zombies too."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            zombie, parent = stat.rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and (b"database.worker" in command or zombie == "Z"):
                found.add(int(entry.name))
    return found


CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
)


@given(st.lists(st.lists(CELLS)))
def test_every_cell_comes_over_the_wire_as_it_was(rows: list[list[Cell]]) -> None:
    frame = frame_of(["rows", rows])
    assert HEAD.unpack_from(frame) == (len(frame) - HEAD.size,)
    _, came = message_of(frame[HEAD.size :])
    assert [[(type(cell), repr(cell)) for cell in row] for row in came] == [
        [(type(cell), repr(cell)) for cell in row] for row in rows
    ]


def test_the_wire_is_no_pickle() -> None:
    assert json.loads(frame_of(["SELECT 1"])[HEAD.size :]) == ["SELECT 1"]


def test_a_result_of_many_chunks_is_that_of_this_process(path: Path) -> None:
    sql = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9000) "
        "SELECT x, x / 3.0, printf('%.*c', 200, 'é'), CAST(x AS BLOB), NULL FROM c"
    )
    with (
        SqliteDatabase.open(path) as apart,
        SqliteDatabase.open(path, in_process=True) as here,
    ):
        a, b = apart.execute(sql), here.execute(sql)
    assert (a.kind, a.columns, a.truncated) == (b.kind, b.columns, b.truncated)
    assert a.rows == b.rows
    assert len(a.rows) == 9_000


@linux
def test_a_worker_is_used_again_and_no_more_are_kept_than_ran_at_once(path: Path) -> None:
    before = workers()
    with SqliteDatabase.open(path) as database, ThreadPoolExecutor(8) as threads:
        for _ in range(50):
            database.execute("SELECT 1")
        assert len(workers() - before) == 1
        results = list(threads.map(lambda n: database.execute(f"SELECT {n}").rows, range(300)))
        assert results == [((n,),) for n in range(300)]
        assert len(workers() - before) <= 8
    assert workers() == before


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_a_worker_that_dies_in_a_query_is_an_error_and_is_replaced(
    number: signal.Signals, path: Path
) -> None:
    before = workers()
    with SqliteDatabase.open(path, limits=Limits(seconds=20)) as database:
        database.execute("SELECT 1")
        (worker,) = workers() - before
        timer = threading.Timer(0.6, os.kill, [worker, number])
        timer.start()
        result = database.execute(ENDLESS)
        timer.join()
        assert (result.kind, result.rows, result.timed_out) == ("error", (), False)
        assert "process" in (result.error or "")
        assert database.execute("SELECT 1").rows == ((1,),)
    assert workers() == before


@linux
def test_a_worker_that_died_while_idle_costs_no_query(path: Path) -> None:
    before = workers()
    with SqliteDatabase.open(path) as database:
        for _ in range(5):
            assert database.execute("SELECT 1").rows == ((1,),)
            for worker in workers() - before:
                os.kill(worker, signal.SIGKILL)
            time.sleep(0.05)
    assert workers() == before


@linux
def test_a_worker_that_died_while_it_started_costs_no_query(path: Path) -> None:
    before = workers()
    with SqliteDatabase.open(path) as database:
        for worker in workers() - before:
            os.kill(worker, signal.SIGTERM)
        time.sleep(0.2)
        assert database.execute("SELECT 1").rows == ((1,),)
    assert workers() == before


@linux
def test_a_worker_that_hangs_in_a_query_is_ended_from_outside(path: Path) -> None:
    before = workers()
    with SqliteDatabase.open(path, limits=Limits(seconds=0.5)) as database:
        database.execute("SELECT 1")
        (worker,) = workers() - before
        timer = threading.Timer(0.2, os.kill, [worker, signal.SIGSTOP])
        timer.start()
        result = database.execute(ENDLESS)
        timer.join()
        assert result.timed_out
        assert 0.5 <= result.seconds < 2
        assert database.execute("SELECT 1").rows == ((1,),)
    assert workers() == before


@linux
@pytest.mark.parametrize("sql", ["SELECT 1", f"SELECT 1 -- {'x' * 900_000}"])
@pytest.mark.parametrize("starting", [False, True])
def test_a_stopped_worker_costs_no_query(sql: str, starting: bool, path: Path) -> None:
    before = workers()
    with SqliteDatabase.open(path) as database:
        if not starting:
            database.execute("SELECT 1")
        for worker in workers() - before:
            os.kill(worker, signal.SIGSTOP)
        started = time.monotonic()
        assert database.execute(sql).rows == ((1,),)
        assert time.monotonic() - started < 15  # the limit of a query is 30
    assert workers() == before


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_worker_that_is_killed_before_it_reads_its_query_costs_no_query(
    number: signal.Signals, path: Path
) -> None:
    with SqliteDatabase.open(path) as database:
        database.execute("SELECT 1")
        worker = database._idle[0]
        assert isinstance(worker, WorkerProcess)
        os.kill(worker._process.pid, signal.SIGSTOP)

        def kill() -> None:
            os.kill(worker._process.pid, number)
            os.kill(worker._process.pid, signal.SIGCONT)

        timer = threading.Timer(0.1, kill)
        timer.start()
        assert database.execute("SELECT 7").rows == ((7,),)
        timer.join()


@linux
def test_short_queries_get_their_answers_while_workers_are_killed(path: Path) -> None:
    moments = random.Random(1)

    def kill(worker: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)

    with SqliteDatabase.open(path) as database:
        for number in range(12):
            database.execute("SELECT 1")
            worker = database._idle[0]
            assert isinstance(worker, WorkerProcess)
            timer = threading.Timer(moments.random() * 2e-3, kill, [worker._process.pid])
            timer.start()
            assert database.execute(f"SELECT {number}").rows == ((number,),)
            timer.join()


@linux
@pytest.mark.parametrize("sql", [ENDLESS, "SELECT printf('%.*c', 2000000000, 'x')", "SELECT 1"])
def test_workers_end_with_a_parent_that_is_killed(sql: str, path: Path) -> None:
    code = (
        "import sys, os, threading, time\n"
        "from sentinel_sql.database.sqlite.database import SqliteDatabase\n"
        "database = SqliteDatabase.open(sys.argv[1])\n"
        "database.execute('SELECT 1')\n"
        "print(database._idle[0]._process.pid, flush=True)\n"
        "threading.Thread(target=database.execute, args=[sys.argv[2]]).start()\n"
        "time.sleep(30)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path), sql], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.kill()
    until = time.monotonic() + 10
    while time.monotonic() < until and state(worker) not in ("", "Z"):
        time.sleep(0.05)
    assert state(worker) in ("", "Z")  # nobody reaps the orphans of some containers


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@linux
def test_unclosed_database_leaves_no_process(path: Path) -> None:
    before = workers()
    for _ in range(3):
        SqliteDatabase.open(path).execute("SELECT 1")
    gc.collect()
    assert workers() == before


@linux
def test_both_sides_of_a_fork_go_on_with_workers_of_their_own(path: Path) -> None:
    with SqliteDatabase.open(path) as database:
        assert database.execute("SELECT 1").rows == ((1,),)
        child = os.fork()
        if child == 0:
            try:
                fine = database.execute("SELECT 2").rows == ((2,),)
                database.close()
                os._exit(0 if fine else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert database.execute("SELECT 3").rows == ((3,),)


def test_a_user_s_interrupt_leaves_no_answer_for_the_next_query(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute("SELECT 1")
    real = WorkerProcess._receive

    def interrupted(self: WorkerProcess, until: float | None) -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(WorkerProcess, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        database.execute("SELECT 'first'")
    monkeypatch.setattr(WorkerProcess, "_receive", real)
    assert database.execute("SELECT 'second'").rows == (("second",),)


def test_process_that_cannot_start_is_reported_with_a_remedy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DatabaseError, match="in_process=True"):
        SqliteDatabase.open(path)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        SqliteDatabase.open(path) as database,
        pytest.raises(DatabaseError, match="doesn't start"),
    ):
        database.execute("SELECT 1")


@linux
def test_a_large_sort_writes_no_file(path: Path, tmp_path: Path) -> None:
    sql = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 300000) "
        "SELECT count(*) FROM (SELECT x || printf('%.*c', 100, 'a') AS y FROM c ORDER BY y DESC)"
    )
    with SqliteDatabase.open(path) as database:
        database.execute("SELECT 1")
        worker = database._idle[0]
        assert isinstance(worker, WorkerProcess)
        assert database.execute(sql).rows == ((300_000,),)
        written = Path(f"/proc/{worker._process.pid}/io").read_text()
    counts = dict(line.split(": ") for line in written.splitlines())
    assert int(counts["write_bytes"]) == 0


@linux
def test_the_operating_system_holds_the_memory(path: Path) -> None:
    with SqliteDatabase.open(path, limits=Limits(memory=200_000_000)) as database:
        assert database.memory_held_by == "the operating system"
        worker = database._idle[0]
        assert isinstance(worker, WorkerProcess)
        limits = Path(f"/proc/{worker._process.pid}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max data size")]
    assert line.split()[3] == "200000000"


@pytest.mark.parametrize("sql", [None, b"SELECT 1", 1, 1.5, ["SELECT 1"], object()])
@pytest.mark.parametrize("in_process", [False, True])
def test_what_is_no_text_is_refused_with_what_to_give(
    sql: object, in_process: bool, path: Path
) -> None:
    with (
        SqliteDatabase.open(path, in_process=in_process) as database,
        pytest.raises(InputError, match="give one statement as a str"),
    ):
        database.execute(sql)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["seconds", "rows", "cell", "total", "memory"])
@pytest.mark.parametrize("value", [0, -1, math.nan])
def test_a_limit_that_nothing_fits_under_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=name):
        Limits(**{name: value})  # type: ignore[arg-type]


def test_a_query_may_have_no_deadline(path: Path) -> None:
    with SqliteDatabase.open(path, limits=Limits(seconds=math.inf)) as database:
        assert database.execute("SELECT 1").rows == ((1,),)
