"""The hint is a command that works: the bare name, or else the path."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

import pytest

from command_project import Sentinel
from sentinel_sql.cli.command_name import NAME, path_to_call


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "env" / "bin"
    place.mkdir(parents=True)
    (place / NAME).write_text("#!/bin/sh\n")
    (place / NAME).chmod(0o700)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(place))
    return place


def test_no_hint_if_the_name_alone_calls_this_command(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(scripts))
    assert path_to_call() is None
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / NAME).symlink_to(scripts / NAME)
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert path_to_call() is None


def test_off_the_path_it_is_named_from_the_working_folder_or_whole(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.chdir(tmp_path)
    assert path_to_call() == f"env/bin/{NAME}"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert path_to_call() == str(scripts / NAME)


def test_another_command_of_this_name_on_the_path_is_not_ours(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    shutil.copy(scripts / NAME, tmp_path / "theirs" / NAME)
    monkeypatch.setenv("PATH", str(tmp_path / "theirs"))
    assert path_to_call() == str(scripts / NAME)


@pytest.mark.parametrize("on_path", [True, False])
def test_verbs_that_end_with_commands_say_once_how_to_call_them(
    scripts: Path,
    tmp_path: Path,
    sentinel: Sentinel,
    monkeypatch: pytest.MonkeyPatch,
    on_path: bool,
) -> None:
    monkeypatch.setenv("PATH", str(scripts) if on_path else os.devnull)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    call = sentinel("hospital", "ward", "--patients", 40, "--size", 100)
    assert call.code == 0, call.err
    assert call.out.count(f"env/bin/{NAME}") == (0 if on_path else 1)
