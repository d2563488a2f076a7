"""A whole small project made by the command itself: questions, runs, labels, pools, a bundle."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from command_project import Outcome, Project, Sentinel, made_up_questions, scripted_agent
from hospital_runs import record_runs
from sentinel_sql.cli.main import run
from sentinel_sql.testing import CLOCK, ScriptedEndpoint, tiny_database


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Questions and a database: what a user brings."""
    made = Project(tmp_path_factory.mktemp("project"))
    tiny_database(made.database)
    lines = [json.dumps(question) for question in made_up_questions()]
    Path(made.questions).write_text("\n".join(lines) + "\n")
    return made


def run_once(*arguments: object) -> None:
    """Call the command for a fixture that several tests share; it must succeed."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(sys, "argv", ["sentinel", *map(str, arguments)])
        assert _exit_code() == 0, arguments


@pytest.fixture
def sentinel(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sentinel:
    """Call the command in this process, as a shell would."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["sentinel", *map(str, arguments)])
        code = _exit_code()
        captured = capsys.readouterr()
        return Outcome(code=code, out=captured.out, err=captured.err)

    return call


def _exit_code() -> Any:
    try:
        run()
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.fixture(scope="session")
def fitted(project: Project) -> Project:
    """The same project after collect, label, pools and fit."""
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
    return project


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
def recorded_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of a scripted agent over the hospital, as one recordings file."""
    return record_runs(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="session")
def demo_folder(recorded_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `sentinel demo` makes of these runs; `told.json` is what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(told):
        patch.setattr(
            sys, "argv", ["sentinel", "demo", str(folder), "--runs", str(recorded_runs), "--json"]
        )
        assert _exit_code() == 0
    (folder / "told.json").write_text(told.getvalue())
    return folder
