"""An evaluation that is killed leaves nothing or all of it, and its pool counts as spent."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.options import Options
from sentinel_sql.evaluation_store import tables
from sentinel_sql.evaluation_store.folder import read, save
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.spending import spending_log
from sentinel_sql.evaluation_store.views import read_views
from sentinel_sql.monitor import bundle
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.run_views import sample
from small_runs import fitted

STEPS = ("fsync", "replace", "mkdir", "unlink", "rename", "open")
"""Calls of the system that change what is on the disk; the child dies before one of them."""


@cache
def made() -> Evaluation:
    with contextlib.suppress(ImportError):
        import pyarrow.parquet  # noqa: F401 (each child would import it again)
    monitor, runs, pools, labels = fitted()
    evaluation = evaluate(monitor, runs, pools, labels, stakes=(1.0,))
    return replace(evaluation, views=tuple(sample(evaluation, monitor, runs, labels, most=4)))


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that dies without a word before its n-th change; True if it died."""
    child = os.fork()
    if child == 0:
        left = iter(range(step))

        def patched(call: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*args: Any, **how: Any) -> Any:
                if next(left, None) is None:
                    os._exit(9)
                return call(*args, **how)

            return counted

        for name in STEPS:
            setattr(os, name, patched(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 9


def kills(work: Callable[[], object], *, stride: int) -> Iterator[int]:
    """Kill the work at every change that it makes, and yield after each kill."""
    for step in count(0, stride):
        if not killed_at(step, work):
            return
        yield step


@pytest.mark.parametrize("stride", [37, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_evaluation_is_complete_or_absent(tmp_path: Path, stride: int) -> None:
    place = tmp_path / "evaluation"
    died = there = 0
    for _ in kills(lambda: save(made(), place), stride=stride):
        died += 1
        if place.exists():
            there += 1
            read(place)
            assert len(read_views(place, most=9, size=10**7)) == 4
            shutil.rmtree(place)
    assert died > 60 / stride
    assert there < died / 2


@pytest.mark.parametrize("stride", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_command_that_adds_tables_leaves_a_complete_evaluation(
    tmp_path: Path, stride: int
) -> None:
    place = tmp_path / "evaluation"
    save(made(), place)
    further = {"further": made().exhibits["heads"]}
    found = set()
    for _ in kills(lambda: tables.write(place, further), stride=stride):
        if (place / "tables").exists():  # exchanged by two renames where the kernel has no better
            found.add("further" in read(place).tables)
    assert False in found


def test_spending_is_on_disk_before_any_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor, runs, pools, labels = fitted()
    bundle.save(monitor, tmp_path / "monitor")
    spent_before = []

    def killed(*_: object, **__: object) -> None:
        spent_before.append(spending_log(tmp_path / "monitor").read_text().count("\n"))
        raise KeyboardInterrupt

    monkeypatch.setattr(Evidence, "gather", killed)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            evaluate(monitor, runs, pools, labels, bundle=tmp_path / "monitor")
    assert spent_before == [1, 2]


@pytest.mark.parametrize("options", [Options(strict=True), Options(reweight=0.5)])
def test_impossible_option_spends_nothing(tmp_path: Path, options: Options) -> None:
    monitor, runs, pools, labels = fitted()
    bundle.save(monitor, tmp_path / "monitor")
    labels = {
        name: label.model_copy(update={"strict": None, "answerable": True})
        for name, label in labels.items()
        if label.answerable
    }
    with pytest.raises(InputError, match=r"strict verdicts|no unanswerable question"):
        evaluate(monitor, runs, pools, labels, bundle=tmp_path / "monitor", options=options)
    assert not spending_log(tmp_path / "monitor").exists()


@pytest.mark.parametrize(
    "name", ["views.jsonl", "scores.npz", "tables/checksums.json", "tables/ladder.csv"]
)
def test_missing_file_of_an_evaluation_is_named(tmp_path: Path, name: str) -> None:
    place = tmp_path / "evaluation"
    save(made(), place)
    (place / name).unlink()
    with pytest.raises(InputError, match=rf"{Path(name).name} .*make it again"):
        read(place)


@pytest.mark.parametrize(
    "version", ["sentinel-evaluation/9", "sentinel-evaluation/2", "other", None]
)
def test_an_evaluation_of_another_version_is_refused_by_every_reader(
    tmp_path: Path, version: str | None
) -> None:
    from sentinel_sql.report.evaluated_agents import read_agents

    place = tmp_path / "evaluation"
    save(made(), place)
    document = json.loads((place / "evaluation.json").read_text())
    (place / "evaluation.json").write_text(json.dumps(document | {"format": version}))
    for reader in (lambda: read(place), lambda: read_agents([place])):
        with pytest.raises(InputError, match=f"of format {version}, this version reads"):
            reader()
