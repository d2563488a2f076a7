from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from command_project import Sentinel
from message_forms import Told, Turn


def log(path: Path, tool: Turn, *, last: Turn | None = None) -> Path:
    turns = (tool,) if last is None else (tool, last)
    story = Told(question="How many?", turns=turns, closing="" if last else "One.")
    path.write_text(json.dumps({"id": "a", "messages": story.messages("langchain")}))
    return path


def test_import_takes_tools_and_says_how_runs_ended(sentinel: Sentinel, tmp_path: Path) -> None:
    ask = Turn(said="", tool="ask", arguments={"q": "SELECT 1"}, result="[(1,)]")
    done = Turn(said="", tool="done", arguments={"answer": "One."}, result="")
    file = log(tmp_path / "m.json", ask, last=done)
    store = str(tmp_path / "s")
    found = sentinel(
        "import", str(file), "--store", store, "--sql-tool", "ask:q", "--final-tool", "done",
        "--json",
    )  # fmt: skip
    assert found.code == 0
    assert json.loads(found.out)["endings"] == {"final-tool": 1}
    file = log(tmp_path / "m.json", replace(ask, arguments={"q": "SELECT 2"}))
    again = sentinel("import", str(file), "--store", store)
    assert again.code != 0
    assert "other runs under 1 of these ids" in again.err


@pytest.mark.parametrize("tool", [":query", " "])
def test_blank_tool_is_refused_in_one_line(tool: str, sentinel: Sentinel, tmp_path: Path) -> None:
    ask = Turn(said="", tool="ask", arguments={"q": "SELECT 1"}, result="[(1,)]")
    file = log(tmp_path / "m.json", ask)
    found = sentinel("import", str(file), "--store", str(tmp_path / "s"), "--sql-tool", tool)
    assert found.code != 0
    assert "NAME" in found.err
