"""A whole small project made by the command itself: questions, runs, labels, pools, a bundle."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main

from command_project import (
    Outcome,
    Project,
    Sentinel,
    exit_code,
    made_up_questions,
    run_once,
    scripted_agent,
)
from made_once import made_once
from sentinel_sql.testing import CLOCK, ScriptedEndpoint, tiny_database


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Questions and a database: what a user brings."""
    return _brought(tmp_path_factory.mktemp("project"))


def _brought(folder: Path) -> Project:
    made = Project(folder)
    tiny_database(made.database)
    lines = [json.dumps(question) for question in made_up_questions()]
    Path(made.questions).write_text("\n".join(lines) + "\n")
    return made


@pytest.fixture(scope="session", autouse=True)
def _one_command() -> Iterator[None]:
    """Build the command's options once; a process of its own builds them once, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.main.get_command", cache(typer.main.get_command))
        yield


@pytest.fixture
def sentinel(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sentinel:
    """Call the command in this process, as a shell would."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["sentinel", *map(str, arguments)])
        code = exit_code()
        captured = capsys.readouterr()
        return Outcome(code=code, out=captured.out, err=captured.err)

    return call


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Such a project after collect, label, pools and fit; each test process has a copy."""
    made = made_once(tmp_path_factory, "fitted_project", _fit_one)
    return Project(Path(shutil.copytree(made, tmp_path_factory.mktemp("fitted") / "project")))


def _fit_one(folder: Path) -> None:
    folder.mkdir()
    project = _brought(folder)
    with ScriptedEndpoint(scripted_agent) as endpoint:
        calls = [
            ("questions", "pools", project.questions, "--out", project.pools),
            (
                *("collect", "--questions", project.questions, "--database", project.database),
                *("--base-url", endpoint.url, "--model", "scripted", "--store", project.store),
                *("--workers", "8", "--clock", CLOCK),
            ),
            (
                *("label", project.store, "--questions", project.questions),
                *("--database", project.database, "--out", project.labels, "--clock", CLOCK),
            ),
            (
                *("fit", project.store, "--pools", project.pools, "--labels", project.labels),
                *("--out", project.monitor),
            ),
        ]
        for arguments in calls:
            run_once(*arguments)


@pytest.fixture(scope="session")
def evaluated(fitted: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evaluation of this project, kept with a sample of its runs; only to be read."""
    folder = tmp_path_factory.mktemp("evaluated") / "evaluation"
    run_once(
        *("evaluate", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--monitor", fitted.monitor, "--out", folder),
    )
    return folder


@pytest.fixture(scope="session")
def demo_folder(recorded_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `sentinel demo` makes of these runs; `told.json` is what it printed."""

    def make(folder: Path) -> None:
        told = io.StringIO()
        arguments = ["sentinel", "demo", str(folder), "--runs", str(recorded_runs), "--json"]
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(told):
            patch.setattr(sys, "argv", arguments)
            assert exit_code() == 0
        (folder / "told.json").write_text(told.getvalue())

    return made_once(tmp_path_factory, "demo", make)
