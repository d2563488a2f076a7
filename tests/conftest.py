"""Fixtures that every room's tests share."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

from made_once import made_once
from postgres_cluster import PostgresCluster, find_binaries, shared_cluster
from sentinel_sql.errors import CannotFitError

if TYPE_CHECKING:
    from sentinel_sql.pipeline.demo import DemoFolder

# Tests run on all cores at once, so that a fit on several threads would wait for other tests.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# A busy machine is no defect of the code, and the same code gets the same verdict twice;
# `make search` draws new cases instead.
settings.register_profile("sentinel", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=300)
# A mutant need only be noticed, so that no smaller example is looked for.
settings.register_profile(
    "mutants", deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "sentinel"))


def _check_only(descriptor: int) -> None:
    os.fstat(descriptor)


# Tests kill processes and never the machine, so that nothing need wait for the disk.
os.fsync = _check_only

# A job that a shell starts in the background ignores SIGINT, and so would all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = (
    *("docs/test_tutorials", "hospital/test_recordings", "monitor/test_encoder"),
    *("monitor/test_conformity", "test_public_loop", "database/test_executor_benchmark"),
    *("pipeline/test_small_samples", "docs/test_examples", "pipeline/test_screen_features"),
    *("evaluation/test_killed_evaluation", "cli/test_demo", "cli/test_ask"),
)
"""The test files that take longest. They come first, so that no worker ends long after another."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    place = {here / f"{name}.py": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(LONGEST)))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data beside the checkout; tests that need it skip where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("SENTINEL_SHARED", beside)) / "data"
    if not folder.is_dir():
        pytest.skip("real data absent: set SENTINEL_SHARED to the folder that holds data/")
    return folder


@pytest.fixture(scope="session")
def mimic_iv(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MIMIC-IV demo database of EHRSQL-2024, unpacked once a session."""
    import lzma
    import shutil

    packed = shared_data / "ehrsql2024" / "mimic_iv.sqlite.xz"

    def make(folder: Path) -> None:
        folder.mkdir()
        with lzma.open(packed) as source, (folder / "mimic_iv.sqlite").open("wb") as sink:
            shutil.copyfileobj(source, sink)

    return made_once(tmp_path_factory, "mimic_iv", make) / "mimic_iv.sqlite"


@pytest.fixture(scope="session")
def recorded_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of a scripted agent over the hospital, as one recordings file."""
    from hospital_runs import record_runs

    return made_once(tmp_path_factory, "recorded", record_runs) / "runs.jsonl"


@pytest.fixture(scope="session")
def bundled_demo(tmp_path_factory: pytest.TempPathFactory) -> DemoFolder:
    """A demo over the recording that is bundled; tests skip where none is, or it is too small."""
    from sentinel_sql.hospital.recordings import bundled, recording
    from sentinel_sql.pipeline.demo import build, find_demo

    if "guided" not in bundled():
        pytest.skip("no recording is bundled yet")

    def make(folder: Path) -> None:
        with contextlib.suppress(CannotFitError):
            build(folder, runs=recording(), on_stage=lambda stage: None)

    made = find_demo(made_once(tmp_path_factory, "bundled_demo", make))
    return made or pytest.skip("too few runs are bundled to fit a monitor")


@pytest.fixture(scope="session")
def postgres_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresCluster]:
    """A running PostgreSQL that all tests share; they skip where none is installed."""
    pytest.importorskip("psycopg", reason="psycopg absent: install the extra postgres")
    if find_binaries() is None:
        pytest.skip("PostgreSQL absent: install the package postgresql")
    base = tmp_path_factory.getbasetemp()
    # all processes of one test session share the parent of their folders
    place = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "postgres.json"
    with shared_cluster(place) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def duckdb_clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file that holds the clinic of `tests/sql/duckdb_clinic.sql`; nobody writes it."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")
    path = tmp_path_factory.mktemp("duckdb_clinic") / "clinic.duckdb"
    content = Path(__file__).resolve().parent / "sql" / "duckdb_clinic.sql"
    with duckdb.connect(str(path)) as connection:
        connection.execute(content.read_text(encoding="utf-8"))
    return path
