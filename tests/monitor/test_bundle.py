"""A saved monitor comes back bit for bit, or is refused in one line."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.errors import BundleError
from sentinel_sql.monitor import bundle
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline.fit import fit


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    made, pools, labels = planted_store(240, seed=31)
    return fit(made, pools, labels, HEADER)


@pytest.fixture
def saved(monitor: Monitor, tmp_path: Path) -> Path:
    bundle.save(monitor, tmp_path / "monitor")
    return tmp_path / "monitor"


def test_a_loaded_monitor_assesses_bit_for_bit(monitor: Monitor, saved: Path) -> None:
    loaded = bundle.load(saved)
    made, _, _ = planted_store(40, seed=32)
    for run in made:
        assert list(loaded.replay(run)) == list(monitor.replay(run))
    assert loaded.thresholds == monitor.thresholds
    assert loaded.facts == monitor.facts
    assert loaded.agent == monitor.agent
    assert loaded.estimators.schema == monitor.estimators.schema


def test_dialect_and_time_zone_are_kept_and_may_be_unknown(
    monitor: Monitor, tmp_path: Path
) -> None:
    known = replace(monitor.estimators, dialect="postgres", time_zone="UTC")
    bundle.save(replace(monitor, estimators=known), tmp_path / "known")
    loaded = bundle.load(tmp_path / "known").estimators
    assert (loaded.dialect, loaded.time_zone) == ("postgres", "UTC")
    assert loaded.surroundings.dialect == "postgres"
    path = tmp_path / "known" / bundle.MANIFEST
    older = json.loads(path.read_text())
    del older["dialect"], older["time_zone"]
    path.write_text(json.dumps(bundle._with_hash(older)))
    assert bundle.load(tmp_path / "known").estimators.dialect is None


def test_loaded_monitor_has_the_columns_of_the_calibration_pool(
    monitor: Monitor, saved: Path
) -> None:
    kept, loaded = monitor.calibration, bundle.load(saved).calibration
    assert loaded.question_ids == kept.question_ids
    assert loaded.templates == kept.templates
    for name, column in vars(kept).items():
        np.testing.assert_array_equal(getattr(loaded, name), column)


def test_hybrid_is_saved_and_loaded(monitor: Monitor, tmp_path: Path) -> None:
    from dataclasses import replace

    from sentinel_sql.monitor.delivery_estimator import Delivery, fit_hybrid

    rng = np.random.default_rng(0)
    hybrid = fit_hybrid(rng.random((80, 11)), rng.random(80) < 0.5, seed=1)
    delivery = Delivery(hybrid=hybrid, auroc_head=0.6, auroc_hybrid=0.7)
    with_hybrid = replace(monitor, estimators=replace(monitor.estimators, delivery=delivery))
    bundle.save(with_hybrid, tmp_path / "m")
    made, _, _ = planted_store(20, seed=33)
    loaded = bundle.load(tmp_path / "m")
    assert loaded.estimators.delivery.name == "hybrid"
    for run in made:
        assert list(loaded.replay(run)) == list(with_hybrid.replay(run))


def test_files_are_private_and_hold_no_text_of_runs(saved: Path) -> None:
    for path in saved.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                assert not any(archive[name].dtype == object for name in archive.files)
    told = (saved / bundle.MANIFEST).read_text()
    assert "glucose" not in told
    assert "carefully" not in told


def test_save_replaces_an_older_bundle_and_leaves_no_temporary_file(
    monitor: Monitor, saved: Path
) -> None:
    bundle.save(monitor, saved)
    assert [path.name for path in saved.parent.iterdir()] == ["monitor"]
    bundle.load(saved)


def test_save_never_overwrites_a_folder_that_is_no_bundle(monitor: Monitor, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(BundleError, match="choose another folder"):
        bundle.save(monitor, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_failed_save_keeps_the_older_bundle(
    monitor: Monitor, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundle, "_write", full)
    with pytest.raises(BundleError, match="No space left"):
        bundle.save(monitor, saved)
    assert [path.name for path in saved.parent.iterdir()] == ["monitor"]
    bundle.load(saved)


@pytest.mark.parametrize("name", [bundle.MANIFEST, *bundle.ARRAYS])
def test_damaged_bundle_is_refused_in_one_line(saved: Path, name: str) -> None:
    path = saved / name
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(whole), 25).tolist():
        flipped = bytes([whole[at] ^ 1])
        for damaged in (whole[:at], whole[:at] + flipped + whole[at + 1 :]):
            if name == bundle.MANIFEST and _values(damaged) == _values(whole):
                continue  # the last digit of a number, which reads as the same number
            path.write_bytes(damaged)
            with pytest.raises(BundleError) as told:
                bundle.load(saved)
            assert "\n" not in str(told.value)
    path.unlink()
    with pytest.raises(BundleError):
        bundle.load(saved)


def _values(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None


def test_bundle_of_another_version_is_refused(saved: Path) -> None:
    path = saved / bundle.MANIFEST
    manifest = json.loads(path.read_text()) | {"format": "sentinel-monitor/9"}
    path.write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="sentinel-monitor/9"):
        bundle.load(saved)


def test_folder_without_a_monitor_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="holds no monitor"):
        bundle.load(tmp_path / "nowhere")


def test_too_deeply_nested_manifest_is_refused(saved: Path) -> None:
    (saved / bundle.MANIFEST).write_text("[" * 100_000)
    with pytest.raises(BundleError, match="damaged"):
        bundle.load(saved)


@pytest.mark.parametrize(
    "key",
    [
        *("agent", "commit_on_error", "max_steps", "clock", "head", "settings", "delivery"),
        *("files", "brought", "facts", "schema", "dialect", "time_zone"),
    ],
)
def test_manifest_value_of_the_wrong_type_is_refused(saved: Path, key: str) -> None:
    path = saved / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    for wrong in ([1], -1.5):
        path.write_text(json.dumps(bundle._with_hash(manifest | {key: wrong})))
        with pytest.raises(BundleError):
            bundle.load(saved)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("delivery", {"estimator": "trees"}),
        ("delivery", {"estimator": None}),
        ("delivery", {"auroc_head": "0.6"}),
        ("delivery", {"auroc_hybrid": "0.6"}),
        ("delivery", {"auroc_head": None}),
        ("facts", {"probed": "no"}),
        ("facts", {"probed": 1}),
    ],
)
def test_part_of_a_manifest_value_of_the_wrong_type_is_refused(
    saved: Path, part: str, wrong: dict[str, object]
) -> None:
    path = saved / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(bundle._with_hash(manifest | {part: manifest[part] | wrong})))
    with pytest.raises(BundleError, match="damaged"):
        bundle.load(saved)


def test_a_monitor_that_is_replaced_while_it_is_read_is_read_whole(
    monitor: Monitor, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(monitor, agent="another agent")
    read_manifest, calls = bundle._read_manifest, []

    def read_and_replace(folder: Path) -> dict[str, Any]:
        found = read_manifest(folder)
        if not calls:
            bundle.save(other, folder)  # its arrays aren't those of the manifest just read
        calls.append(folder)
        return found

    arrays = bundle._arrays
    monkeypatch.setattr(
        bundle, "_arrays", lambda monitor: arrays(monitor) | {"more/column": np.zeros(3)}
    )
    monkeypatch.setattr(bundle, "_read_manifest", read_and_replace)
    assert bundle.load(saved).agent == "another agent"
    assert len(calls) == 2


@pytest.mark.parametrize("place", ["../weights", "/etc/hosts", "correctness/..", "a/b/c", "x"])
def test_manifest_that_names_a_file_outside_of_its_folder_is_refused(
    saved: Path, place: str
) -> None:
    path = saved / bundle.MANIFEST
    manifest = json.loads(path.read_text())
    manifest["brought"] = {"answerability": {"weights": place}, "correctness": {}}
    manifest["files"][place] = "0" * 64
    path.write_text(json.dumps(bundle._with_hash(manifest)))
    with pytest.raises(BundleError, match="outside"):
        bundle.load(saved)
