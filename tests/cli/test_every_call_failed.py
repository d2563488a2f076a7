"""Verbs that call a model don't tell of success where every call failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from command_project import Project, Sentinel, scripted_agent
from sentinel_sql.testing import CLOCK, ScriptedEndpoint


def collecting(its: Project, url: str, out: Path) -> tuple[object, ...]:
    return (
        *("collect", "--questions", its.questions, "--database", its.database, "--limit", 8),
        *("--base-url", url, "--model", "scripted", "--store", out, "--clock", CLOCK),
    )


def asking(its: Project, url: str, out: Path) -> tuple[object, ...]:
    return (
        *("rivals", "collect", its.store, "--database", its.database, "--limit", 8),
        *("--method", "verbalized", "--base-url", url, "--model", "scripted", "--out", out),
    )


def judging(its: Project, url: str, out: Path) -> tuple[object, ...]:
    return (
        *("label", its.store, "--questions", its.questions, "--database", its.database),
        *("--out", out, "--mode", "ehrsql-v1", "--judge", "llm", "--yes"),
        *("--base-url", url, "--model", "the-judge"),
    )


def question_of(request: dict[str, Any]) -> str:
    said = [message["content"] for message in request["messages"]]
    return next((text for text in reversed(said) if text.startswith("QUESTION:")), said[-1])


@pytest.mark.parametrize("verb", [collecting, asking, judging])
@pytest.mark.parametrize("some_succeed", [False, True])
def test_nothing_recorded_because_every_call_failed_is_exit_code_4(
    fitted: Project,
    sentinel: Sentinel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: Callable[[Project, str, Path], tuple[object, ...]],
    some_succeed: bool,
) -> None:
    # It isn't given up before.
    monkeypatch.setattr("sentinel_sql.pipeline.ask_many.FAILURES_IN_A_ROW", 10_000)

    def fault(_number: int, request: dict[str, Any]) -> int | None:
        return None if some_succeed and crc32(question_of(request).encode()) % 2 else 500

    def reply(messages: Any) -> str:
        return "1" if verb is judging else scripted_agent(messages)

    with ScriptedEndpoint(reply, fault=fault) as endpoint:
        words = verb(fitted, endpoint.url, tmp_path / "out")
        call = sentinel(*words, "--workers", 1, "--retries", 0, "--json")
    failed = sum(call.document["failed"].values())
    assert failed > 0
    assert "Traceback" not in call.err
    if some_succeed:
        assert call.code == 0, call.err
    else:
        assert call.code == 4
        told = call.err.strip().splitlines()[-1]
        assert f"all {failed} calls failed" in told
        assert "status 500" in told
        assert "give the same command again to resume" in told
        assert "judged-correct" not in call.document.get("reasons", {})
