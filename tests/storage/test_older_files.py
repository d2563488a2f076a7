"""What commit 7945c9b wrote, before lines had checksums, loads as it did.

`written_by_7945c9b.tar.xz` was made by that commit's own code from the runs of `small_runs.world`.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.evaluation.exhibits.stakes_sweep import StakesRow
from sentinel_sql.evaluation_store.folder import read
from sentinel_sql.evaluation_store.views import read_views
from sentinel_sql.labels.file import read_labels
from sentinel_sql.labels.verdicts import VerdictLog, read_verdicts
from sentinel_sql.rivals.confidences import ConfidenceStore, read_confidences
from sentinel_sql.trajectory.manifest import read_manifest
from sentinel_sql.trajectory.store import TrajectoryStore, read_trajectories
from small_runs import AGENT, header, world


@pytest.fixture
def older(tmp_path: Path) -> Path:
    with tarfile.open(Path(__file__).with_name("written_by_7945c9b.tar.xz")) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def test_a_store_loads_goes_on_and_is_counted_from_then_on(older: Path) -> None:
    runs = world()[0]
    place = older / "store"
    manifest = read_manifest(place)
    assert manifest is not None
    assert (manifest.agent, manifest.database, manifest.clock) == (AGENT, "ward", "now")
    assert list(read_trajectories(place)) == runs[:4]
    with TrajectoryStore.open(place, manifest=manifest) as store:
        store.append(runs[4])
    assert list(read_trajectories(place)) == runs[:5]
    file = place / "trajectories.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(StoreError, match="2 lines are missing at its end"):
        list(read_trajectories(place))


def test_labels_load(older: Path) -> None:
    found, labels = read_labels(older / "labels.jsonl")
    assert found == header()
    assert labels == dict(list(world()[2].items())[:4])


def test_confidences_and_verdicts_load_and_go_on(older: Path) -> None:
    manifest, records = read_confidences(older / "confidences")
    assert [record.run for record in records] == ["q0", "q1", "q2"]
    with ConfidenceStore.open(older / "confidences", manifest=manifest) as store:
        store.append(records[0].model_copy(update={"run": "q3"}))
    assert [record.run for record in read_confidences(older / "confidences")[1]][3:] == ["q3"]
    verdicts = read_verdicts(older / "verdicts")
    with VerdictLog.open(older / "verdicts") as log:
        log.add(verdicts[0].model_copy(update={"question_id": "q3"}))
    assert len(read_verdicts(older / "verdicts")) == len(verdicts) + 1 == 4


def test_an_evaluation_loads_and_is_reported(older: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
    from sentinel_sql.report.write import write_report

    stored = read(older / "evaluation")
    assert stored.has_views
    assert len(read_views(stored.folder, most=9, size=10**7)) == 2
    assert all(isinstance(row, StakesRow) for row in stored.rows["stakes"])
    assert set(stored.tables) == set(stored.document["exhibits"])
    assert write_report([stored.folder], tmp_path / "report").runs == 2


def test_an_evaluation_that_was_killed_before_its_runs_is_named(
    older: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="the report needs the extra 'report'")
    from sentinel_sql.report.write import write_report

    (older / "evaluation" / "views.jsonl").unlink()
    with pytest.raises(InputError, match=r"holds no single runs .*--no-runs"):
        write_report([older / "evaluation"], tmp_path / "report")
    assert not (tmp_path / "report").exists()
    assert write_report([older / "evaluation"], tmp_path / "report", runs=False).runs == 0
