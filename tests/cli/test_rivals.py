"""`sentinel rivals collect` over a real socket: asked once, resumed, refused."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from command_project import Project, Sentinel, scripted_agent
from sentinel_sql.agent.self_report import HOW_SURE, IS_IT_TRUE
from sentinel_sql.testing import ScriptedEndpoint

METHODS = ("p-true", "verbalized", "single-turn", "self-consistency")


def asked_of(request: dict[str, Any]) -> str:
    last = request["messages"][-1]["content"]
    if last.endswith(IS_IT_TRUE):
        return "p-true"
    if last.endswith(HOW_SURE):
        return "verbalized"
    return "sample" if request["temperature"] > 0 else "agent"


def completion(text: str, first: list[tuple[str, float]]) -> bytes:
    top = [{"token": token, "logprob": logprob} for token, logprob in first]
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
    if first:
        choice["logprobs"] = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": top}]}
    usage = {"prompt_tokens": 120, "completion_tokens": 1}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "confidences.jsonl").read_text().splitlines()]


def answering(_number: int, request: dict[str, Any]) -> bytes | None:
    """Be surer of answers that sound sure; sample something else with every third seed."""
    kind = asked_of(request)
    said = request["messages"][-2]["content"] if len(request["messages"]) > 1 else ""
    sure = "certain" in said
    luck = crc32(said.encode()) % 90 / 100
    if kind == "p-true":
        return completion("True", [("True", -0.2 - luck * (not sure)), ("False", -1.8)])
    if kind == "verbalized":
        return completion(f"{85 if sure else 60 - luck * 30:.0f}", [])
    if kind == "sample" and request["seed"] % 3 == 0:
        return completion("FINAL_SQL: SELECT 78", [])
    return None


def arguments(project: Project, url: str, out: Path, *more: object) -> tuple[object, ...]:
    return (
        *("rivals", "collect", project.store, "--database", project.database),
        *("--base-url", url, "--model", "scripted", "--pools", project.pools, "--out", out),
        *more,
    )


@pytest.fixture(scope="session")
def confidences(fitted: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All four methods asked about the calibration and held-out answers of the project."""
    out = tmp_path_factory.mktemp("confidences") / "asked"
    how = [word for method in METHODS for word in ("--method", method)]
    with ScriptedEndpoint(scripted_agent, fault=answering) as endpoint:
        words = arguments(fitted, endpoint.url, out, *how, "--samples", 3, "--workers", 4, "--json")
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from sentinel_sql.cli.main import run; run()",
                *map(str, words),
            ],
            capture_output=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    return out


def test_answers_of_calibration_and_held_out_are_asked_about_once_by_every_method(
    fitted: Project, confidences: Path, sentinel: Sentinel
) -> None:
    records = read(confidences)
    assert set(Counter((record["run"], record["method"]) for record in records).values()) == {1}
    by_method = Counter(record["method"] for record in records)
    assert set(by_method) == set(METHODS)
    assert len(set(by_method.values())) == 1
    pools = json.loads(Path(fitted.pools).read_text())
    train = {entry["pool"] == "train" for entry in pools["templates"]}
    assert train == {True, False}
    of_train = {
        question
        for question, number in pools["questions"].items()
        if pools["templates"][number]["pool"] == "train"
    }
    assert not of_train & {record["run"] for record in records}
    sampled = [record for record in records if record["method"] == "single-turn"]
    assert {len(record["verdicts"]) for record in sampled} == {3}
    assert {record["temperature"] for record in sampled} == {0.7}
    # Seeds 1 and 2 give what the agent gave, seed 3 something else.
    assert {tuple(record["verdicts"]) for record in sampled} == {("same", "same", "other")}
    assert stat.S_IMODE((confidences / "confidences.jsonl").stat().st_mode) == 0o600


def test_a_dry_run_tells_the_cost_and_calls_nothing(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    with ScriptedEndpoint(scripted_agent) as endpoint:
        call = sentinel(*arguments(fitted, endpoint.url, tmp_path / "c", "--dry-run", "--json"))
        assert endpoint.requests == []
    assert call.code == 0, call.err
    told = {cost["method"]: cost for cost in call.document["expected"]}
    assert list(told) == ["p-true", "verbalized", "self-consistency"]
    assert told["self-consistency"]["calls"] >= 5 * told["p-true"]["calls"] > 0
    assert "tokens read" in call.err
    assert not (tmp_path / "c").exists()


def test_a_killed_collection_loses_at_most_what_was_under_way(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    out = tmp_path / "c"
    with ScriptedEndpoint(scripted_agent, fault=answering, latency=0.02) as endpoint:
        how = ("--method", "p-true", "--method", "verbalized", "--limit", 20)
        words = arguments(fitted, endpoint.url, out, *how)
        child = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from sentinel_sql.cli.main import run; run()",
                *map(str, words),
            ],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        file = out / "confidences.jsonl"
        until = time.monotonic() + 120
        while not (file.exists() and file.read_bytes().count(b"\n") >= 5):
            assert time.monotonic() < until
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        calls = [sentinel(*words, "--json") for _ in range(2)]
        assert [call.code for call in calls] == [0, 0], calls[0].err
        assert calls[0].document["already_there"] >= 5
        asked = Counter(
            (asked_of(request), json.dumps(request["messages"])) for request in endpoint.requests
        )
    assert sorted(asked.values())[-2:] in ([1, 1], [1, 2])
    assert len(asked) == len(read(out))


def test_wrong_question_is_a_one_line_error(
    fitted: Project, confidences: Path, sentinel: Sentinel, tmp_path: Path
) -> None:
    with ScriptedEndpoint(scripted_agent) as endpoint:
        for out, more, code, told in (
            (tmp_path, ("--max-steps", 5), 2, "was collected with"),
            (tmp_path, ("--prompt", "plain"), 2, "was collected with"),
            (tmp_path, ("--mode", "nonsense"), 2, "no equivalence mode"),
            (tmp_path, ("--pool", "train", "--notes", tmp_path), 2, "can't be read"),
            (confidences, ("--method", "single-turn", "--samples", 4), 2, "single-turn of 3"),
        ):
            call = sentinel(*arguments(fitted, endpoint.url, out, *more))
            assert (call.code, told in call.err) == (code, True), call.err
            assert call.err.splitlines()[-1].startswith("sentinel: ")
        assert endpoint.requests == []
    dead = arguments(fitted, endpoint.url, tmp_path / "dead", "--retries", 0)
    call = sentinel(*dead)
    assert (call.code, "0 new records are kept" in call.err) == (4, True), call.err


def test_rivals_are_evaluated_beside_the_monitor_without_any_call(
    fitted: Project, confidences: Path, sentinel: Sentinel, tmp_path: Path
) -> None:
    arguments = (
        *("evaluate", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--monitor", fitted.monitor, "--no-runs"),
    )
    call = sentinel(
        *arguments, "--rivals", "--confidences", confidences, "--out", tmp_path / "e", "--json"
    )
    assert call.code == 0, call.err
    rows = {row["rival"]: row for row in call.document["exhibits"]["rivals"]["rows"]}
    answers = call.document["counts"]["answered"]
    assert {"delivery estimator", "transcript TF-IDF", "P(True)", "last turn sampled"} <= set(rows)
    assert {row["n"] for row in rows.values()} == {answers}
    assert {row["missing"] for row in rows.values()} == {""}
    # The scripted model is surer of answers that sound sure, and these are the right ones.
    for surer in ("P(True)", "verbalized"):
        assert rows[surer]["auroc"]["low"] > 0.9
    assert rows["last turn sampled"]["auroc"]["estimate"] == 0.5  # every answer: 2 of 3 agree
    assert rows["P(True)"]["tokens_a_step"] > 0
    kept = (tmp_path / "e" / "tables" / "rivals.csv").read_text().splitlines()
    assert len(kept) == 1 + len(rows)
    assert (tmp_path / "e" / "tables" / "rival_scores.csv").is_file()
    shown = sentinel(*arguments, "--rivals", "--confidences", confidences)
    assert "Rivals over all answers" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    for more, told in (
        (("--confidences", confidences), "give --rivals, too"),
        (("--rivals", "--question-only"), "reads none: give one"),
        (("--rivals", "--confidences", tmp_path / "nowhere"), "no confidences here"),
    ):
        call = sentinel(*arguments, *more)
        assert (call.code, told in call.err) == (2, True), call.err


def test_heads_are_compared_and_one_is_named(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    arguments = (
        *("heads", "compare", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--seeds", 1),
    )
    call = sentinel(*arguments, "--heads", "ngrams", "--out", tmp_path, "--json")
    assert call.code == 0, call.err
    rows = {row["candidate"]: row for row in call.document["candidates"]["rows"]}
    assert rows["ngrams"]["verdict"] == "simplest"
    assert rows["ngrams"]["auroc"]["estimate"] > 0.9
    assert (tmp_path / "tables" / "candidates.csv").is_file()
    shown = sentinel(*arguments, "--heads", "ngrams", "--no-rivals", "--pool", "heldout")
    assert shown.code == 0, shown.err
    assert "has seen it" in shown.err
    assert "Candidates for the head" in shown.out
    wrong = sentinel(*arguments, "--heads", "ngrams,oracle")
    assert (wrong.code, "no head called 'oracle'" in wrong.err) == (2, True), wrong.err
