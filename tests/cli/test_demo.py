"""The demo on recorded runs of a scripted agent over the hospital, and what it leaves behind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from command_project import Sentinel
from hospital_runs import FEW, ended_live_and_replayed
from postgres_cluster import PostgresCluster
from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.labels.file import read_labels
from sentinel_sql.pipeline.demo import endings, find_demo
from sentinel_sql.pipeline.scoring import prefix_scores
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.store import read_trajectories


@pytest.fixture(scope="module")
def document(demo_folder: Path) -> Any:
    return json.loads((demo_folder / "told.json").read_text())


def test_the_demo_evaluates_and_shows_one_run_of_each_ending(document: Any) -> None:
    assert document["evaluation"]["pool"] == "heldout"
    assert document["evaluation"]["exhibits"]["ladder"]["rows"]
    replays = {replay["kind"]: replay for replay in document["replays"]}
    assert list(replays) == ["refused", "stopped", "delivered"]
    for kind, decisions in (
        ("refused", {"refuse"}),
        ("stopped", {"exit", "withhold"}),
        ("delivered", {"deliver"}),
    ):
        run = replays[kind]["run"]
        assert (run is None) == (replays[kind]["cases"] == 0)
        if run is not None:
            assert run["pool"] == "heldout"
            assert run["answer"]["decision"] in decisions
            assert run["states"][-1]["decision"] == run["answer"]["decision"]
            assert [state["decision"] for state in run["states"][:-1]] == ["continue"] * (
                len(run["states"]) - 1
            )
    assert replays["stopped"]["run"]
    assert replays["delivered"]["run"]
    (show,) = (command for command in document["next"] if "sentinel show" in command)
    assert show.split()[3] == replays["delivered"]["run"]["question"]["id"]
    right = replays["delivered"]["run"]["truth"]
    assert right["correct"]
    assert right["gold"] == right["given"]


def test_endings_and_runs_without_an_answer_add_up_to_the_ladders_counts(document: Any) -> None:
    evaluation = document["evaluation"]
    (row,) = (
        row
        for row in evaluation["exhibits"]["ladder"]["rows"]
        if (row["system"], row["stakes"]) == ("early-stop", 1.0)
    )
    cases = {replay["kind"]: replay["cases"] for replay in document["replays"]}
    decided = row["decisions"]
    assert cases["refused"] == decided.get("refuse", 0)
    assert cases["delivered"] == decided.get("deliver", 0)
    assert cases["stopped"] + document["without_answer"] == decided.get("exit", 0) + decided.get(
        "withhold", 0
    )
    assert sum(cases.values()) + document["without_answer"] == evaluation["counts"]["runs"]
    alone = evaluation["counts"]["abstained"] + evaluation["counts"]["cap"]
    assert 0 < document["without_answer"] <= alone


def test_the_runs_shown_are_chosen_as_the_rule_says(demo_folder: Path) -> None:
    made = find_demo(demo_folder)
    assert made is not None
    labels, pools = read_labels(made.labels)[1], Pools.read(made.pools)
    runs = [r for r in read_trajectories(made.runs) if pools.pool_of(r.question.id) == "heldout"]
    guard = Guard.load(made.monitor, stakes=1.0, early_stop=True)
    scores = prefix_scores(guard.monitor.estimators, runs, pools=pools, labels=labels)
    shown = endings(scores, guard.policy)["delivered"]
    delivered = []
    for run in runs:
        with guard.session(run.question) as session:
            for _ in guarded(run.steps, session):
                pass
        if session.answer is not None and session.answer.delivered:
            delivered.append(run)
    assert shown.cases == len(delivered)
    correct = [run for run in delivered if labels[run.question.id].correct]
    assert shown.right == len(correct)
    clean = [run for run in correct if run.steps[-1].observation.kind == "rows"]
    longest = max(len(run.steps) for run in clean)
    assert shown.chosen == min(r.question.id for r in clean if len(r.steps) == longest)


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_live_guard_ends_every_recorded_run_as_the_evaluation_counts_it(
    demo_folder: Path, early_stop: bool
) -> None:
    made = find_demo(demo_folder)
    assert made is not None
    live, replayed = ended_live_and_replayed(made, stakes=4.0, early_stop=early_stop)
    assert live == replayed
    assert len({reason for _, reason, _ in live}) >= 3


def test_the_screen_fits_eighty_columns_and_names_what_to_do_next(
    recorded_runs: Path,
    sentinel: Sentinel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    call = sentinel("demo", "--runs", recorded_runs, "--fast")
    assert call.code == 0, call.err
    assert max(map(len, call.out.splitlines())) <= 80
    for told in (
        "System ladder",
        "Heads",
        "Refused before",
        "Delivered",
        "sentinel evaluate demo/",
        "--rivals --out demo/evaluation",
        "sentinel report demo/evaluation",
        "held-out runs the agent itself gave no answer.",
    ):
        assert told in call.out, told
    shown = re.search(r"sentinel show (\S+) (\S+) ", call.out)
    assert shown is not None
    assert shown[2] in {run.question.id for run in read_trajectories(Path(shown[1]))}
    assert (tmp_path / "demo" / "monitor" / "manifest.json").is_file()


def test_too_few_runs_to_fit_are_named_and_the_hospital_stays(
    recorded_runs: Path, sentinel: Sentinel, tmp_path: Path
) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(recorded_runs.read_text().splitlines()[:FEW]) + "\n")
    call = sentinel("demo", tmp_path / "demo", "--runs", few)
    assert (call.code, call.out) == (5, "")
    last = call.err.strip().splitlines()[-1]
    assert f"only {FEW} runs" in last
    assert "few.jsonl" in last
    assert (tmp_path / "demo" / "hospital.sqlite").is_file()
    assert find_demo(tmp_path / "demo") is None


def test_runs_of_other_questions_are_refused(
    recorded_runs: Path, sentinel: Sentinel, tmp_path: Path
) -> None:
    strange = json.loads(recorded_runs.read_text().splitlines()[0])
    strange["question"]["id"] = "another"
    (tmp_path / "strange.jsonl").write_text(json.dumps(strange) + "\n")
    call = sentinel("demo", tmp_path / "demo", "--runs", tmp_path / "strange.jsonl")
    assert call.code == 2
    assert "another" in call.err


def test_hospital_writes_what_collect_needs(sentinel: Sentinel, tmp_path: Path) -> None:
    folder = tmp_path / "ward"
    call = sentinel("hospital", folder, "--patients", 40, "--size", 100, "--seed", 7, "--json")
    assert call.code == 0, call.err
    files = [Path(call.document[name]) for name in ("database", "questions", "notes", "examples")]
    before = [file.read_bytes() for file in files]
    assert len(before[1].splitlines()) == 100
    again = sentinel("hospital", folder, "--patients", 40, "--size", 100, "--seed", 7)
    assert [file.read_bytes() for file in files] == before
    assert "sentinel collect --questions" in again.out
    checked = sentinel("questions", "check", files[1], "--database", files[0], "--json")
    assert checked.document["errors"] == 0
    assert sentinel("hospital", folder, "--patients", 0).code == 2


def test_hospital_is_copied_with_the_files_that_collect_needs(
    sentinel: Sentinel, tmp_path: Path
) -> None:
    pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")
    folder = tmp_path / "hospital"
    address = f"duckdb:///{folder / 'hospital.duckdb'}"
    few = ("--patients", 40, "--size", 60)
    document = json.loads(sentinel("hospital", folder, "--into", address, *few, "--json").out)
    assert document["database"] == address
    assert document["dialect"] == "duckdb"
    assert Path(document["questions"]).name == "questions.duckdb.jsonl"
    assert (folder / "questions.jsonl").is_file()
    shown = sentinel("hospital", folder, "--into", address, *few).out
    assert "--clock '2100-12-31 23:59:00'" in shown
    refused = sentinel("hospital", folder, "--into", "mysql://me:geheim@host/db", *few)
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1
    assert "geheim" not in refused.err


@pytest.mark.slow
def test_the_demo_over_postgresql_labels_the_runs_as_over_sqlite(
    sentinel: Sentinel,
    postgres_cluster: PostgresCluster,
    demo_folder: Path,
    recorded_runs: Path,
    tmp_path: Path,
) -> None:
    address = postgres_cluster.create("demo_hospital")
    folder = tmp_path / "demo"
    made = sentinel(
        "demo", folder, "--runs", recorded_runs, "--database", address, "--fast", "--json"
    )
    assert made.code == 0
    assert "what the agents saw stays as recorded" in made.err
    header, theirs = read_labels(folder / "labels.jsonl")
    ours = read_labels(demo_folder / "labels.jsonl").by_run
    assert (header.dialect, header.time_zone) == ("postgres", "UTC")
    differ = [name for name, label in ours.items() if theirs[name].correct != label.correct]
    assert differ == []
    demo = find_demo(folder)
    assert demo is not None
    assert demo.address == address
