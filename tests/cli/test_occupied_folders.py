"""A demo or a hospital takes no file away that it hasn't made, and what can't be meant is said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from rich.text import Text

from command_project import Project, Sentinel
from sentinel_sql.cli.output import emit
from sentinel_sql.errors import CannotFitError, InputError, StoreError
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.hospital.recordings import recording
from sentinel_sql.pipeline.demo import STAMP, build


def quiet(_: str) -> None:
    pass


@pytest.mark.parametrize(
    "part",
    [
        *("pools.json", "labels.jsonl", "monitor", "confidences", "runs.jsonl.gz"),
        *("questions.jsonl", "notes.txt", "examples.txt"),
    ],
)
def test_a_demo_replaces_no_file_that_no_demo_has_made(part: str, tmp_path: Path) -> None:
    place = tmp_path / part
    if "." not in part:
        place.mkdir()
        place /= "mine"
    place.write_text("mine")
    with pytest.raises(InputError, match=part):
        build(tmp_path, runs=recording(), confidences=tmp_path, on_stage=quiet)
    assert place.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == [part]


def test_confidences_that_a_user_collected_outlive_a_demo(tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    with gzip.open(recording()) as runs:
        few.write_bytes(b"".join(next(runs) for _ in range(3)))
    place = tmp_path / "demo"
    mine = place / "confidences" / "mine"
    mine.parent.mkdir(parents=True)
    mine.write_text("hours of work")
    (place / STAMP).write_text(json.dumps({"confidences": False}))
    with pytest.raises(CannotFitError):
        build(place, runs=few, on_stage=quiet)
    assert mine.read_text() == "hours of work"
    with pytest.raises(InputError, match="confidences"):
        build(place, runs=few, confidences=tmp_path, on_stage=quiet)
    assert mine.read_text() == "hours of work"
    # Interrupted or failed, it is a demo's folder that can be made again.
    with pytest.raises(CannotFitError):
        build(place, runs=few, on_stage=quiet)


def test_a_demo_s_place_must_be_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InputError, match="is no folder"):
        build(file, runs=recording(), on_stage=quiet)
    with pytest.raises(StoreError):
        build(tmp_path / "new", runs=tmp_path / "gone.jsonl", on_stage=quiet)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("part", ["questions.jsonl", "notes.txt", "examples.txt"])
def test_a_hospital_replaces_no_file_that_is_of_none(part: str, tmp_path: Path) -> None:
    (tmp_path / part).write_text("mine")
    with pytest.raises(InputError, match=part):
        HospitalFolder.write(tmp_path, size=10)
    assert [path.name for path in tmp_path.iterdir()] == [part]
    assert (tmp_path / part).read_text() == "mine"


def test_reasons_without_a_run_or_a_monitor_and_an_empty_question_are_refused(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    one = sentinel("show", fitted.store, "--json").document["runs"][0]["id"]
    monitor = ("--monitor", fitted.monitor)
    for place in ((), (one,), monitor):
        for options in (("--why",), ("--html", tmp_path / "page.html")):
            told = sentinel("show", fitted.store, *place, *options)
            assert told.code == 2
            assert "name the id of its question" in told.err
    told = sentinel("ask", "  ", "--folder", tmp_path / "demo", "--base-url", "http://127.0.0.1:1")
    assert told.code == 2
    assert "no question" in told.err
    assert not (tmp_path / "demo").exists()


def test_a_command_to_paste_is_never_broken(capsys: pytest.CaptureFixture[str]) -> None:
    command = "  sentinel evaluate " + "/a/long/place " * 12
    emit({}, as_json=False, tables=lambda: [Text(command, no_wrap=True, overflow="ignore")])
    assert capsys.readouterr().out.splitlines() == [command]
