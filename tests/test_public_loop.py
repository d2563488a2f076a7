"""A program finishes the loop with public names, from a wheel, where no checkout is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

from command_project import GOLD, made_up_questions, scripted_agent
from sentinel_sql.agent.model import Message
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.testing import tiny_database

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "public_loop.py"
README = (ROOT / "README.md").read_text(encoding="utf-8")
(SNIPPET,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

MY_AGENT = """
from dataclasses import dataclass

@dataclass
class Turn:
    thought: str
    sql: str
    rows: list
    is_final: bool = False

def my_agent(question):
    yield Turn("look first", "SELECT drug FROM prescriptions", [("heparin",)])
    yield Turn("plain and certain", "SELECT COUNT(*) FROM prescriptions", [(3,)], is_final=True)

"""


def _run(*command: str | Path, folder: Path) -> str:
    # The wheel alone is to be found: neither the checkout nor what points at it.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that has the project from its wheel.

    The libraries are those of the environment that runs the tests, so no index is needed.
    """
    home = tmp_path_factory.mktemp("wheel")
    source = home / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", home, folder=source)
    shutil.rmtree(source)
    (wheel,) = home.glob("*.whl")
    venv.create(home / "env")
    fresh = home / "env" / "bin" / "python"
    _run(
        *(sys.executable, "-m", "pip", "--python", fresh, "install", "--quiet", "--no-deps"),
        *("--no-index", wheel),
        folder=home,
    )
    (site,) = (home / "env" / "lib").glob("python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return fresh


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a user brings: questions, a database, and the logs of an agent in chat messages."""
    folder = tmp_path_factory.mktemp("project")
    tiny_database(folder / "tiny.sqlite")
    questions = made_up_questions()
    lines = [json.dumps(question) for question in questions]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n")
    with SqliteDatabase.open(folder / "tiny.sqlite") as database:
        logs = [json.dumps(_log(question, database)) for question in questions]
    (folder / "logs.jsonl").write_text("\n".join(logs) + "\n")
    return folder


def _log(question: dict[str, Any], database: SqliteDatabase) -> dict[str, Any]:
    """Return the run of a scripted agent as a log of chat messages with tool calls."""
    asked: list[Message] = [{"role": "user", "content": f"QUESTION: {question['question']}"}]
    log: list[dict[str, Any]] = [{"role": "user", "content": question["question"]}]
    for turn in range(4):
        reply = scripted_agent(asked)
        thought, _, rest = reply.removeprefix("THOUGHT: ").partition("\n")
        kind, _, sql = rest.partition(": ")
        asked.append({"role": "assistant", "content": reply})
        if sql == "null":
            log.append({"role": "assistant", "content": thought})
            break
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "query", "arguments": json.dumps({"sql": sql})},
        }
        log.append({"role": "assistant", "content": thought, "tool_calls": [call]})
        rows = [list(row) for row in database.execute(sql).rows]
        log.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": json.dumps(rows)})
        if kind == "FINAL_SQL":
            log.append({"role": "assistant", "content": f"The answer is {rows}."})
            break
    return {"id": question["id"], "messages": log}


def test_the_loop_runs_in_ten_statements_from_a_wheel_without_a_checkout(
    python: Path, project: Path
) -> None:
    script = shutil.copy(SCRIPT, project / "loop.py")
    decision, _, _, place = _run(python, script, folder=project).split()
    assert decision in {"refuse", "exit", "withhold", "deliver"}
    assert not Path(place).is_relative_to(ROOT)
    assert "site-packages" in place
    loop = SCRIPT.read_text(encoding="utf-8").partition("def main")[2].partition("again =")[0]
    statements = re.findall(r"^    (?:\w+ = )?(?:sentinel|evaluation|guard)\.", loop, re.MULTILINE)
    assert len(statements) == 11  # the guard is loaded and run in one statement or in two


def test_the_snippet_of_the_readme_runs_from_a_wheel_without_a_checkout(
    python: Path, project: Path
) -> None:
    if not (project / "monitor").is_dir():
        _run(python, shutil.copy(SCRIPT, project / "loop.py"), folder=project)
    manifest = json.loads((project / "monitor" / "manifest.json").read_text())
    code = f"AGENT = {manifest['agent']!r}\n{MY_AGENT}\n{SNIPPET}"
    code = code.replace(
        "how many patients got heparin in 2100?", next(iter(GOLD)).format("heparin")
    )
    (project / "snippet.py").write_text(code)
    decision = _run(python, project / "snippet.py", folder=project).split()[0]
    assert decision in {"refuse", "exit", "withhold", "deliver"}


def test_a_typed_program_of_public_names_passes_mypy_strict(python: Path, tmp_path: Path) -> None:
    script = shutil.copy(SCRIPT, tmp_path / "loop.py")
    # The types are those of the wheel; the project's own code is checked elsewhere.
    settings = ["--strict", "--no-incremental", "--config-file", os.devnull]
    settings += ["--python-executable", str(python)]
    checked = _run(sys.executable, "-m", "mypy", *settings, script, folder=tmp_path)
    assert "no issues" in checked
