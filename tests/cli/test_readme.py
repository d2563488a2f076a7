"""The README's own snippet runs as it stands, around any agent's loop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from command_project import DRUGS, GOLD, UNANSWERABLE, Project

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
(SNIPPET,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@dataclass
class Turn:
    thought: str
    sql: str
    rows: list[tuple[int]] = field(default_factory=lambda: [(3,)])
    is_final: bool = False


def steady_agent(question: str) -> Iterator[Turn]:
    yield Turn("look first", f"SELECT drug FROM prescriptions WHERE drug LIKE '{DRUGS[0]}%'")
    yield Turn("plain and certain", next(iter(GOLD.values())).format(DRUGS[0]), is_final=True)


def silent_agent(question: str) -> Iterator[Turn]:
    yield from ()


@pytest.mark.parametrize("agent", [steady_agent, silent_agent])
@pytest.mark.parametrize("frame", [next(iter(GOLD)), next(iter(UNANSWERABLE))])
def test_the_guard_of_the_readme_ends_every_run_with_a_decision(
    agent: object, frame: str, fitted: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    code = SNIPPET.replace('"monitor/"', repr(fitted.monitor)).replace(
        "how many patients got heparin in 2100?", frame.format(DRUGS[0])
    )
    whose = json.loads((Path(fitted.monitor) / "manifest.json").read_text())["agent"]
    exec(compile(code, "README.md", "exec"), {"my_agent": agent, "AGENT": whose})
    decision = capsys.readouterr().out.split()[0]
    assert decision in {"refuse", "exit", "withhold", "deliver"}
