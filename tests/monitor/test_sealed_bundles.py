"""A bundle that somebody sealed anew with impossible values is refused, and told by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.errors import BundleError
from sentinel_sql.monitor import bundle
from sentinel_sql.monitor.delivery_estimator import Delivery, fit_hybrid
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.storage.saved_parts import packed, unpacked

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    made, pools, labels = planted_store(240, seed=31)
    plain = fit(made, pools, labels, HEADER)
    rng = np.random.default_rng(0)
    hybrid = fit_hybrid(rng.random((80, 11)), rng.random(80) < 0.5, seed=1)
    delivery = Delivery(hybrid=hybrid, auroc_head=0.6, auroc_hybrid=0.7)
    return replace(plain, estimators=replace(plain.estimators, delivery=delivery))


@pytest.fixture
def saved(monitor: Monitor, tmp_path: Path) -> Path:
    bundle.save(monitor, tmp_path / "monitor")
    return tmp_path / "monitor"


def sealed(folder: Path, file: str, change: Callable[[Arrays], Arrays]) -> None:
    """Change the arrays of a bundle, and seal it so that every hash fits."""
    path = folder / file
    data = packed(change(unpacked(path.read_bytes())))
    path.write_bytes(data)
    manifest = json.loads((folder / bundle.MANIFEST).read_text())
    manifest["files"][file] = hashlib.sha256(data).hexdigest()
    (folder / bundle.MANIFEST).write_text(json.dumps(bundle._with_hash(manifest)))


def first_replaced(column: Any, value: float) -> Any:
    changed = column.copy()
    changed[0] = value
    return changed


FLOATS = (
    *(f"{part}/ngrams/{name}" for part in ("answerability", "correctness") for name in ("idf",)),
    *("correctness/ngrams/weights", "answerability/ngrams/intercept"),
    *("answerability/open/center", "correctness/answer/weights", "correctness/open/level"),
    *("hybrid/base", "hybrid/threshold", "hybrid/value"),
    *("prefix_map/scores", "delivery_map/confidences", "unanswerable_map/confidences"),
)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("wrong", ["nan", "infinite", "short", "whole numbers", "absent", "nested"])
def test_an_impossible_array_is_refused_by_its_parts_name(
    saved: Path, name: str, wrong: str
) -> None:
    def change(arrays: Arrays) -> Arrays:
        column = arrays[name]
        changed: Arrays = {
            "nan": lambda: {name: first_replaced(column, np.nan)},
            "infinite": lambda: {name: first_replaced(column, -np.inf)},
            "short": lambda: {name: column[:-1]},
            "whole numbers": lambda: {name: column.astype(np.int64)},
            "absent": dict,
            "nested": lambda: {name: column[np.newaxis]},
        }[wrong]()
        return {key: it for key, it in arrays.items() if key != name} | changed

    sealed(saved, "monitor.npz", change)
    with pytest.raises(BundleError, match=name.split("/")[0]) as told:
        bundle.load(saved)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["scores", "confidences"])
@pytest.mark.parametrize("which", ["prefix_map", "delivery_map", "unanswerable_map"])
def test_a_map_that_falls_is_refused_by_its_name(saved: Path, which: str, name: str) -> None:
    key = f"{which}/{name}"
    sealed(saved, "monitor.npz", lambda arrays: arrays | {key: arrays[key][::-1].copy()})
    with pytest.raises(BundleError, match=rf"{which}.*monotone"):
        bundle.load(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("answerability/ngrams/seen", 2**30),
        ("answerability/ngrams/seen", -1),
        ("hybrid/roots", 10**6),
        ("hybrid/column", 11),
        ("hybrid/left", 10**6),
        ("correctness/open/scale", 0.0),
    ],
)
def test_an_index_or_scale_out_of_range_is_refused(saved: Path, name: str, value: float) -> None:
    sealed(saved, "monitor.npz", lambda it: it | {name: first_replaced(it[name], value)})
    with pytest.raises(BundleError, match=name.split("/")[0]):
        bundle.load(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("p_answerable", np.nan),
        ("p_correct", 1.5),
        ("raw_correct", -0.1),
        ("delivery", np.inf),
        ("offsets", 1),
        ("tokens", -1.0),
        ("seconds", np.inf),
    ],
)
def test_calibration_columns_that_can_be_none_are_refused(
    saved: Path, name: str, value: float
) -> None:
    def change(arrays: Arrays) -> Arrays:
        at = int(np.flatnonzero(arrays["answered"])[0]) if name == "delivery" else 0
        column = arrays[name].copy()
        column[at] = value
        return arrays | {name: column}

    sealed(saved, "calibration.npz", change)
    with pytest.raises(BundleError, match=name):
        bundle.load(saved)


@pytest.mark.parametrize("name", ["correct", "delivery", "offsets", "templates", "p_answerable"])
@pytest.mark.parametrize("how", ["short", "text"])
def test_calibration_columns_of_another_length_or_kind_are_refused(
    saved: Path, name: str, how: str
) -> None:
    def change(arrays: Arrays) -> Arrays:
        column = arrays[name]
        other = column[:-1] if how == "short" else np.arange(len(column), dtype=np.complex128)
        return arrays | {name: other}

    sealed(saved, "calibration.npz", change)
    with pytest.raises(BundleError, match="columns"):
        bundle.load(saved)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("gate", "theta"), 1.5),
        (("gate", "theta"), "low"),
        (("gate", "stopped"), -1),
        (("gate", "answerable"), 2.5),
        (("gate", "rule"), "mine"),
        (("gate", "extra"), 1),
        (("served", "limit"), -1.0),
        (("served", "bound"), 1.0),
        (("early_stops", 0, "threshold"), -0.5),
        (("early_stops", 0, "stakes"), None),
        (("early_stops",), 3),
        (("gate",), None),
    ],
)
def test_thresholds_of_a_wrong_kind_are_refused_by_name(
    saved: Path, place: tuple[Any, ...], value: Any
) -> None:
    path = saved / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    at = manifest["thresholds"]
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    path.write_text(json.dumps(bundle._with_hash(manifest)))
    with pytest.raises(BundleError, match="thresholds"):
        bundle.load(saved)


def test_a_bundle_of_the_format_before_is_refused_in_one_line_that_says_what_to_do(
    saved: Path,
) -> None:
    path = saved / bundle.MANIFEST
    manifest = json.loads(path.read_text()) | {"format": "sentinel-monitor/1"}
    path.write_text(json.dumps(bundle._with_hash(manifest)))
    with pytest.raises(BundleError, match=r"sentinel-monitor/1.*sentinel fit") as told:
        bundle.load(saved)
    assert "\n" not in str(told.value)
