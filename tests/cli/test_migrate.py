"""`sentinel migrate`: files that commit 7945c9b wrote come into today's form and say the same."""

from __future__ import annotations

import re
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from command_project import Project, Sentinel
from sentinel_sql.cli.verbs.migrate import FOLDERS
from sentinel_sql.errors import UncheckedWarning
from sentinel_sql.evaluation_store.folder import DOCUMENT
from sentinel_sql.labels.file import read_labels
from sentinel_sql.labels.verdicts import read_verdicts
from sentinel_sql.monitor import bundle
from sentinel_sql.rivals import confidences
from sentinel_sql.storage.checksums import carries_checksum
from sentinel_sql.trajectory import store

ARCHIVE = Path(__file__).parents[1] / "storage" / "written_by_7945c9b.tar.xz"


@pytest.fixture
def older(tmp_path: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


PARTS: list[tuple[str, str, Callable[[Path], object]]] = [
    ("store", "store/trajectories.jsonl", lambda p: list(store.read_trajectories(p))),
    ("confidences", "confidences/confidences.jsonl", confidences.read_confidences),
    ("labels.jsonl", "labels.jsonl", read_labels),
    ("verdicts", "verdicts", read_verdicts),
]


@pytest.mark.parametrize(("name", "log", "read"), PARTS)
def test_what_was_written_before_says_the_same_with_checksums(
    older: Path, sentinel: Sentinel, name: str, log: str, read: Callable[[Path], object]
) -> None:
    before = read(older / name)
    call = sentinel("migrate", older / name, "--json")
    assert call.code == 0, call.err
    (done,) = call.document["paths"]
    assert done["state"] == "converted"
    lines = (older / log).read_bytes().splitlines()
    assert all(map(carries_checksum, lines))
    assert done["detail"] == f"{len(lines)} lines got checksums"
    assert read(older / name) == before
    kept = (older / log).read_bytes()
    again = sentinel("migrate", older / name, "--json").document["paths"][0]
    assert (again["state"], (older / log).read_bytes()) == ("current", kept)


def test_what_could_hide_damage_is_said_on_stderr(older: Path, sentinel: Sentinel) -> None:
    warnings.simplefilter("default", UncheckedWarning)
    bare = sentinel("show", older / "store", "--json")
    assert bare.code == 0, bare.err
    assert re.search(r"\d+ of \d+ lines have no checksum.*`sentinel migrate`", bare.err)
    assert sentinel("migrate", older / "store").code == 0
    assert sentinel("show", older / "store", "--json").err == ""
    (older / "store" / "trajectories.jsonl.count").unlink()
    uncounted = sentinel("show", older / "store", "--json")
    assert uncounted.document == bare.document
    assert re.search(r"\d+ lines are read, but trajectories.jsonl.count is miss", uncounted.err)


@pytest.mark.parametrize(("name", "log", "read"), PARTS)
def test_a_flip_in_a_converted_file_is_found(
    older: Path, sentinel: Sentinel, name: str, log: str, read: Callable[[Path], object]
) -> None:
    assert sentinel("migrate", older / name).code == 0
    data = bytearray((older / log).read_bytes())
    data[len(data) // 2] ^= 1
    (older / log).write_bytes(data)
    assert sentinel("migrate", older / name).code == 2


def test_a_damaged_file_is_left_as_it_is(older: Path, sentinel: Sentinel) -> None:
    file = older / "store" / "trajectories.jsonl"
    broken = file.read_bytes().replace(b'"question"', b'"quaestio"', 1)
    file.write_bytes(broken)
    call = sentinel("migrate", older / "store")
    assert (call.code, file.read_bytes()) == (2, broken)


def test_todays_files_are_current(fitted: Project, sentinel: Sentinel) -> None:
    words = (fitted.store, fitted.labels, fitted.pools, fitted.monitor)
    call = sentinel("migrate", *words, "--json")
    assert call.code == 0, call.err
    assert [(it["kind"], it["state"]) for it in call.document["paths"]] == [
        ("store", "current"),
        ("labels", "current"),
        ("pools", "current"),
        ("monitor", "current"),
    ]


def test_a_monitor_of_another_version_is_to_be_made_again(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    folder = tmp_path / "monitor"
    folder.mkdir()
    for file in Path(fitted.monitor).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    manifest = folder / bundle.MANIFEST
    manifest.write_text(manifest.read_text().replace(bundle.FORMAT, "sentinel-monitor/0"))
    call = sentinel("migrate", folder)
    assert call.code == 2
    assert "must be made again" in call.err
    assert "sentinel fit" in call.err


def test_what_sentinel_did_not_write_is_named(sentinel: Sentinel, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    for path in (tmp_path / "notes.txt", tmp_path / "absent", tmp_path):
        call = sentinel("migrate", path)
        assert call.code == 2
        assert str(path) in call.err


def test_folders_are_known_by_the_files_that_their_rooms_write() -> None:
    assert set(FOLDERS) == {store.MANIFEST, confidences.MANIFEST, bundle.MANIFEST, DOCUMENT}
