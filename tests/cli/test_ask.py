"""`sentinel ask`: one guarded question over the hospital, or over one's own database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from command_project import Project, Sentinel, scripted_agent
from hospital_runs import script_over
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.pipeline.demo import find_demo
from sentinel_sql.questions.pools import Pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import CLOCK, ScriptedEndpoint
from sentinel_sql.trajectory.store import read_trajectories


@pytest.fixture(autouse=True)
def _no_endpoint_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SENTINEL_BASE_URL", raising=False)
    monkeypatch.delenv("SENTINEL_MODEL", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def questions(demo_folder: Path) -> list[Question]:
    return read_questions([HospitalFolder.at(demo_folder).questions])


@pytest.fixture
def endpoint(questions: list[Question]) -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(script_over(questions)) as opened:
        yield opened


def test_a_live_question_ends_as_its_recorded_run(
    demo_folder: Path, endpoint: ScriptedEndpoint, sentinel: Sentinel
) -> None:
    made = find_demo(demo_folder)
    assert made is not None
    ended = set()
    for run in list(read_trajectories(made.runs))[:15]:
        common = ("--folder", demo_folder, "--on-unavailable", "deliver", "--json")
        recorded = sentinel("ask", "--recorded", run.question.id, *common)
        live = sentinel(
            *("ask", run.question.text, "--base-url", endpoint.url, "--model", "scripted"), *common
        )
        assert live.code == recorded.code == 0, live.err
        ours, theirs = live.document["answer"], recorded.document["answer"]
        for name in ("decision", "reason", "t", "final_sql", "status"):
            assert ours[name] == theirs[name], name
        assert ours["status"] == "judged"
        assert (live.document["result"] is None) == (not ours["delivered"])
        ended.add(ours["decision"])
    assert {"deliver", "withhold"} <= ended


def test_each_state_is_shown_with_its_decision(
    demo_folder: Path, endpoint: ScriptedEndpoint, questions: list[Question], sentinel: Sentinel
) -> None:
    call = sentinel(
        *("ask", questions[0].text, "--folder", demo_folder, "--base-url", endpoint.url),
        *("--model", "scripted", "--stakes", 4, "--early-stop"),
    )
    assert call.code == 0, call.err
    assert max(map(len, call.out.splitlines())) <= 80
    assert "the question alone" in call.out
    assert call.out.startswith("λ = 4 delivers answers from τ = 0.8 on; early stop ")
    assert "early stop off" not in call.out
    assert any(said in call.out for said in ("Delivered.", "No answer.", "Stopped", "Refused"))


def test_another_agent_is_not_judged_and_delivers_only_where_that_was_asked_for(
    demo_folder: Path, endpoint: ScriptedEndpoint, questions: list[Question], sentinel: Sentinel
) -> None:
    asked = next(question for question in questions if question.answerable)
    ask = (
        *("ask", asked.text, "--folder", demo_folder),
        *("--base-url", endpoint.url, "--model", "another"),
    )
    closed = sentinel(*ask, "--json")
    assert closed.code == 0, closed.err
    answer = closed.document["answer"]
    assert (answer["decision"], answer["status"], answer["reason"]) == (
        *("refuse", "unavailable", "other-agent"),
    )
    assert (closed.document["result"], endpoint.requests) == (None, [])
    told = sentinel(*ask).out
    assert "another agent" in told
    assert "model (scripted there, another here)" in told
    assert "prompt" not in told
    capped = " ".join(sentinel(*ask, "--max-steps", 3, "--prompt", "plain").out.split())
    assert "step cap (8 there, 3 here)" in capped
    assert "--notes, --examples" in capped
    opened = sentinel(*ask, "--on-unavailable", "deliver")
    assert endpoint.requests
    assert "NOT JUDGED" in opened.out or "No answer" in opened.out


def test_a_users_own_database_takes_the_users_own_bundle(
    fitted: Project, sentinel: Sentinel
) -> None:
    with ScriptedEndpoint(scripted_agent) as endpoint:
        ask = (
            *("ask", "how many orders of heparin are there", "--database", fitted.database),
            *("--base-url", endpoint.url, "--model", "scripted", "--json"),
        )
        call = sentinel(*ask, "--monitor", fitted.monitor)
        bare = sentinel(*ask)
        later = sentinel(*ask[:-1], "--monitor", fitted.monitor, "--clock", "2101-01-01 00:00:00")
    assert (later.code, "leave out --clock" in later.out) == (0, True)
    assert CLOCK in later.out
    assert "2101-01-01 00:00:00" in later.out
    assert f"the database's time is {CLOCK}" in call.err
    assert call.code == 0, call.err
    assert call.document["answer"]["status"] == "judged"
    if call.document["answer"]["delivered"]:
        assert call.document["result"]["rows"] == [[2]]
    assert bare.code == 2
    assert "--monitor" in bare.err


def test_without_an_endpoint_it_says_how_to_start_one_and_offers_a_recorded_run(
    demo_folder: Path, sentinel: Sentinel
) -> None:
    call = sentinel("ask", "how many patients are there?", "--folder", demo_folder)
    assert (call.code, call.out) == (4, "")
    assert "--base-url" in call.err
    assert "sentinel ask --recorded" in call.err
    assert max(map(len, call.err.splitlines())) <= 80
    offered = sentinel("ask", "--recorded", "--folder", demo_folder)
    assert offered.code == 0, offered.err
    assert "The agent alone would have" in offered.out
    assert offered.out.startswith("λ = 1 delivers answers from τ = 0.5 on; early stop off\n")


def test_the_endpoint_can_stand_in_the_environment(
    demo_folder: Path,
    endpoint: ScriptedEndpoint,
    questions: list[Question],
    sentinel: Sentinel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SENTINEL_BASE_URL", endpoint.url)
    monkeypatch.setenv("SENTINEL_MODEL", "scripted")
    call = sentinel("ask", questions[0].text, "--folder", demo_folder, "--json")
    assert call.code == 0, call.err
    assert call.document["answer"]["status"] == "judged"


def test_a_recorded_run_that_the_monitor_was_fitted_on_says_so(
    demo_folder: Path, sentinel: Sentinel
) -> None:
    made = find_demo(demo_folder)
    assert made is not None
    pools = Pools.read(made.pools)
    known = next(
        run.question.id
        for run in read_trajectories(made.runs)
        if pools.pool_of(run.question.id) == "train"
    )
    assert "train pool" in sentinel("ask", "--recorded", known, "--folder", demo_folder).out
    gone = sentinel("ask", "--recorded", "nothing", "--folder", demo_folder)
    assert gone.code == 2
    assert "nothing" in gone.err
