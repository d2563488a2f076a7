"""`sentinel label --judge llm` says what it costs and what is sent, and asks before it starts."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_project import Project, Sentinel
from sentinel_sql.testing import CLOCK, ScriptedEndpoint


@pytest.fixture
def judge() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(
        lambda messages: "1" if "SELECT 77" in messages[-1]["content"] else "0"
    ) as at:
        yield at


def label(project: Project, out: Path, endpoint: ScriptedEndpoint) -> tuple[object, ...]:
    return (
        *("label", project.store, "--questions", project.questions, "--clock", CLOCK),
        *("--database", project.database, "--out", out, "--mode", "ehrsql-v1", "--judge", "llm"),
        *("--base-url", endpoint.url, "--model", "the-judge"),
    )


def test_it_labels_once_agreed_to_and_goes_on_for_nothing(
    fitted: Project, sentinel: Sentinel, tmp_path: Path, judge: ScriptedEndpoint
) -> None:
    arguments = (*label(fitted, tmp_path / "labels", judge), "--yes", "--price", "2.5", "--json")
    call = sentinel(*arguments)
    assert call.code == 0, call.err
    counted = call.document
    assert counted["asked"] == counted["calls"] == len(judge.requests) > 0
    assert counted["unjudged"] == 0
    assert counted["reasons"]["judged-correct"] > 0
    assert f"{counted['asked']} calls (at most {3 * counted['asked']})" in call.err
    for told in (
        "the-judge at http://127.0.0.1",
        "tokens read",
        "which cost about",
        "patients' data",
    ):
        assert told in " ".join(call.err.split()), told
    request = json.loads(json.dumps(judge.requests[0]))
    assert request["temperature"] == 0
    again = sentinel(*arguments)
    assert (again.code, again.document["asked"], again.document["found"]) == (
        0,
        0,
        counted["asked"],
    )
    assert len(judge.requests) == counted["calls"]
    assert again.document["reasons"] == counted["reasons"]


def test_without_a_terminal_nothing_is_asked_unless_agreed_to(
    fitted: Project, sentinel: Sentinel, tmp_path: Path, judge: ScriptedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    call = sentinel(*label(fitted, tmp_path / "labels", judge), "--rows", 0)
    assert (call.code, call.out) == (2, "")
    assert "--yes" in call.err
    assert "no row, are sent" in call.err
    assert judge.requests == []
    assert not (tmp_path / "labels").exists()


@pytest.mark.parametrize(("said", "code"), [("n\n", 1), ("\n", 1), ("y\n", 0)])
def test_on_a_terminal_the_answer_decides(
    fitted: Project, sentinel: Sentinel, tmp_path: Path, judge: ScriptedEndpoint,
    monkeypatch: pytest.MonkeyPatch, said: str, code: int,
) -> None:  # fmt: skip
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(said))
    call = sentinel(*label(fitted, tmp_path / "labels", judge), "--json")
    assert call.code == code, call.err
    assert bool(judge.requests) == (tmp_path / "labels").exists() == (code == 0)


def test_the_judge_needs_an_endpoint(fitted: Project, sentinel: Sentinel, tmp_path: Path) -> None:
    call = sentinel(
        *("label", fitted.store, "--questions", fitted.questions, "--database", fitted.database),
        *("--out", tmp_path / "labels", "--judge", "llm"),
    )
    assert (call.code, "--base-url and --model" in call.err) == (2, True)


def test_labels_and_verdicts_never_take_one_place(
    fitted: Project, sentinel: Sentinel, tmp_path: Path, judge: ScriptedEndpoint
) -> None:
    out = tmp_path / "labels"
    call = sentinel(*label(fitted, out, judge), "--yes", "--verdicts", out)
    assert (call.code, judge.requests) == (2, [])
    assert "both labels and verdicts" in call.err
    call = sentinel(*label(fitted, Path(fitted.questions), judge), "--yes")
    assert (call.code, judge.requests) == (2, [])
    assert "something other than labels" in call.err
