"""The benchmark of the executor runs, and its figures are within what is promised."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "executor.py"
    spec = importlib.util.spec_from_file_location("benchmarks_executor", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_runaways_stop_within_half_their_deadline_again_and_2_gb_take_under_300_mb(
    benchmark: ModuleType, ward_file: Path
) -> None:
    assert benchmark.runaway_ratio(ward_file) <= 1.5
    assert benchmark.huge_result_megabytes(ward_file) <= 300


def test_without_real_data_it_measures_generated_queries(
    benchmark: ModuleType, tmp_path: Path
) -> None:
    path, queries = benchmark.generated(tmp_path)
    assert 0.5 < benchmark.overheads(path, queries[:100]).typical < 5


@pytest.mark.slow
def test_the_executor_costs_at_most_15_percent_on_the_gold_queries(
    benchmark: ModuleType, shared_data: Path
) -> None:
    figures = benchmark.measure(shared_data.parent)
    assert figures["queries"] == 5_605
    assert figures["overhead_ratio"] <= 1.15
    assert figures["short_query_more_milliseconds"] <= 0.3
