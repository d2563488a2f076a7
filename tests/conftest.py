"""Fixtures that every room's tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from postgres_cluster import PostgresCluster, find_binaries, shared_cluster

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


# A job that a shell starts in the background ignores SIGINT, and so would all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
    target = tmp_path_factory.mktemp("mimic_iv") / "mimic_iv.sqlite"
    with lzma.open(packed) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)
    return target


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
