"""The default hospital and its benchmark, built once for all tests of the room."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_sql.hospital.benchmark import benchmark_questions, build_hospital
from sentinel_sql.questions.record import Question


@pytest.fixture(scope="session")
def hospital_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_hospital(tmp_path_factory.mktemp("hospital") / "hospital.sqlite")


@pytest.fixture(scope="session")
def hospital(hospital_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"{hospital_path.as_uri()}?mode=ro", uri=True)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def benchmark(hospital_path: Path) -> list[Question]:
    return benchmark_questions(hospital_path)
