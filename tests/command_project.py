"""A made-up project for tests of the command: questions, an agent that errs, file places."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from sentinel_sql.agent.model import Message
from sentinel_sql.cli.main import run

DRUGS = ("heparin", "aspirin", "insulin", "morphine", "warfarin", "furosemide")
GOLD = {
    "how many orders of {} are there": "SELECT COUNT(*) FROM prescriptions WHERE drug = '{}'",
    "when was {} first given": "SELECT MIN(starttime) FROM prescriptions WHERE drug = '{}'",
    "how many stays had {}": "SELECT COUNT(DISTINCT hadm_id) FROM prescriptions WHERE drug = '{}'",
    "did anyone get {}": "SELECT COUNT(*) > 0 FROM prescriptions WHERE drug = '{}'",
    "which stay was the last with {}": "SELECT MAX(hadm_id) FROM prescriptions WHERE drug = '{}'",
    "list the times of {}": "SELECT starttime FROM prescriptions WHERE drug = '{}' ORDER BY 1",
}
UNANSWERABLE = (
    "who invented {}",
    "what does the maker of {} pay in taxes",
    "draw the molecule of {}",
    "sing a song about {}",
    "which shop near here sells {}",
    "what will {} cost next spring",
)
WORDINGS = ("", "please tell me: ", "for the ward round, ", "quickly, ")


@dataclass(frozen=True)
class Project:
    """Paths of what the command made, beside one another in one folder."""

    folder: Path

    def __getattr__(self, name: str) -> str:
        files = {
            "database": "tiny.sqlite",
            "questions": "questions.jsonl",
            "store": "store",
            "pools": "pools.json",
            "labels": "labels.jsonl",
            "monitor": "monitor",
        }
        return str(self.folder / files[name])


def made_up_questions() -> list[dict[str, Any]]:
    asked = []
    for drug in DRUGS:
        for number, wording in enumerate(WORDINGS):
            for frame, gold in GOLD.items():
                asked.append(
                    {
                        "id": f"a-{len(asked)}",
                        "question": wording + frame.format(drug),
                        "gold_sql": gold.format(drug),
                        "template": f"{frame} {number % 2}",
                    }
                )
            for frame in UNANSWERABLE:
                asked.append(
                    {
                        "id": f"u-{len(asked)}",
                        "question": wording + frame.format(drug),
                        "answerable": False,
                        "template": f"{frame} {number % 2}",
                    }
                )
    return asked


def scripted_agent(messages: Sequence[Message]) -> str:
    """Answer rightly when its thought says so, wrongly or not at all otherwise."""
    asked = max(at for at, said in enumerate(messages) if said["content"].startswith("QUESTION: "))
    question = messages[asked]["content"].removeprefix("QUESTION: ")
    turn = sum(message["role"] == "assistant" for message in messages[asked:])
    luck = crc32(question.encode()) % 10
    drug = next(name for name in DRUGS if name in question)
    if turn == 0 and luck % 2:
        return f"THOUGHT: look first\nSQL: SELECT drug FROM prescriptions WHERE drug LIKE '{drug}%'"
    gold = next((sql for frame, sql in GOLD.items() if frame.format(drug) in question), None)
    if luck == 9:
        return "THOUGHT: I keep looking\nSQL: SELECT 1"
    if gold is None and luck < 5:
        return "THOUGHT: no table holds that\nFINAL: null"
    if gold is None or luck < 4:
        return (
            f"THOUGHT: I guess somehow\nFINAL_SQL: SELECT 77 FROM patients WHERE gender <> '{drug}'"
        )
    return f"THOUGHT: plain and certain\nFINAL_SQL: {gold.format(drug)}"


Sentinel = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What one call of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def run_once(*arguments: object) -> None:
    """Call the command for a fixture that several tests share; it must succeed."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(sys, "argv", ["sentinel", *map(str, arguments)])
        assert exit_code() == 0, arguments


def exit_code() -> Any:
    """Run the command with the arguments of this process, and return its exit code."""
    try:
        run()
    except SystemExit as end:
        return end.code or 0
    return 0
