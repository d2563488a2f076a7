"""Bad input gives one line that names the thing, a documented exit code, and no traceback."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from command_project import (
    DRUGS,
    GOLD,
    Outcome,
    Project,
    Sentinel,
    made_up_questions,
    scripted_agent,
)
from sentinel_sql.agent.model import Message
from sentinel_sql.database.sqlite import database as sqlite_module
from sentinel_sql.labels.file import read_labels, write_labels
from sentinel_sql.testing import CLOCK, ScriptedEndpoint
from sentinel_sql.trajectory.store import read_trajectories

Spoil = Callable[[Project, Path], tuple[object, ...]]


def refused(call: Outcome, code: int, *named: str) -> None:
    """Hold a call to the rule for errors."""
    assert call.code == code, call.err
    assert call.out == ""
    lines = call.err.strip().splitlines()
    assert len(lines) == 1, call.err
    assert lines[0].startswith("sentinel: ")
    assert "Traceback" not in call.err
    for name in named:
        assert name in lines[0], lines[0]


def copied(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder / "copy")
    return Project(folder / "copy")


def label(its: Project, **changed: object) -> tuple[object, ...]:
    options = {
        "store": its.store,
        "questions": its.questions,
        "database": its.database,
        "out": its.folder / "again.jsonl",
        "clock": CLOCK,
    } | changed
    return (
        *("label", options["store"], "--questions", options["questions"]),
        *("--database", options["database"], "--out", options["out"], "--clock", options["clock"]),
    )


def fit(its: Project, **changed: object) -> tuple[object, ...]:
    options = {"store": its.store, "pools": its.pools, "labels": its.labels} | changed
    return (
        *("fit", options["store"], "--pools", options["pools"], "--labels", options["labels"]),
        *("--out", its.folder / "again"),
    )


def evaluate(its: Project, **changed: object) -> tuple[object, ...]:
    options = {"store": its.store, "pools": its.pools, "monitor": its.monitor} | changed
    return (
        *("evaluate", options["store"], "--pools", options["pools"], "--labels", its.labels),
        *("--monitor", options["monitor"]),
    )


@pytest.mark.parametrize("verb", ["label", "fit", "evaluate", "show", "check", "pools"])
def test_a_missing_file_is_named(
    verb: str, fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    gone = tmp_path / "gone.jsonl"
    calls: dict[str, tuple[object, ...]] = {
        "label": label(fitted, store=gone),
        "fit": fit(fitted, labels=gone),
        "evaluate": evaluate(fitted, pools=gone),
        "show": ("show", gone, "a-0", "--monitor", fitted.monitor),
        "check": ("questions", "check", gone, "--database", fitted.database),
        "pools": ("questions", "pools", gone, "--out", tmp_path / "pools.json"),
    }
    refused(sentinel(*calls[verb]), 2, "gone.jsonl")


@pytest.mark.parametrize(
    "content",
    [b"", b"not a record\n", b"\x00\xff\xfe", b"[1, 2", b'{"format": "sentinel-trajectory/2"}\n'],
    ids=["empty", "text", "binary", "torn", "newer"],
)
def test_a_file_of_another_kind_is_refused_by_every_verb(
    content: bytes, fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(content)
    calls = [
        label(fitted, questions=bad),
        fit(fitted, labels=bad),
        fit(fitted, pools=bad),
        evaluate(fitted, monitor=bad),
        ("questions", "pools", bad, "--out", tmp_path / "pools.json"),
    ]
    if content:
        calls.append(label(fitted, store=bad))
    for call in calls:
        refused(sentinel(*call), 2, "bad.jsonl")


def test_a_database_that_is_none_is_exit_code_3(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    garbage = tmp_path / "garbage.sqlite"
    garbage.write_bytes(b"SQLite format 3\x00" + os.urandom(4096))
    text = tmp_path / "text.sqlite"
    text.write_text("hello")
    for bad in (tmp_path / "gone.sqlite", garbage, text, tmp_path):
        refused(sentinel(*label(fitted, database=bad)), 3, str(bad))


def test_a_locked_database_is_named_and_collected_runs_stay(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    its = copied(fitted, tmp_path)
    before = Path(its.store, "trajectories.jsonl").read_bytes()
    with closing(sqlite3.connect(its.database)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        refused(sentinel(*label(its)), 3, "tiny.sqlite", "locked")
        writer.rollback()
    assert Path(its.store, "trajectories.jsonl").read_bytes() == before


def test_a_wrong_schema_is_refused_not_labelled(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as made:
        made.execute("CREATE TABLE shelves (id INTEGER, colour TEXT)")
        made.commit()
    call = sentinel(*label(fitted, database=other), "--json")
    # No gold query runs there: nothing is labelled, and that is said.
    assert call.code != 0 or call.document["labelled"] < call.document["runs"]
    assert "Traceback" not in call.err


def test_a_store_of_another_agent_is_not_mixed_in(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    its = copied(fitted, tmp_path)
    with ScriptedEndpoint(scripted_agent) as endpoint:
        refused(
            sentinel(
                *("collect", "--questions", its.questions, "--database", its.database),
                *("--base-url", endpoint.url, "--model", "another", "--store", its.store),
                *("--clock", CLOCK),
            ),
            2,
            "another",
        )
    runs = Path(its.store, "trajectories.jsonl")
    lines = runs.read_text().splitlines()
    changed = json.loads(lines[-1])
    changed["agent"]["model"] = "another"
    runs.write_text("\n".join([*lines[:-1], json.dumps(changed)]) + "\n")
    refused(sentinel(*fit(its)), 2, "another")


def test_a_run_of_an_unknown_question_is_refused(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    its = copied(fitted, tmp_path)
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(json.dumps(question) for question in made_up_questions()[:50]))
    refused(sentinel(*label(its, questions=few)), 2, "question")
    pools = tmp_path / "few.json"
    assert sentinel("questions", "pools", few, "--out", pools).code == 0
    refused(sentinel(*fit(its, pools=pools)), 2, "pool manifest")
    refused(sentinel(*evaluate(its, pools=pools)), 2, "pool manifest")


def test_duplicate_ids_and_a_missing_gold_are_named(
    project: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    twice, bare = tmp_path / "twice.jsonl", tmp_path / "bare.jsonl"
    twice.write_text(
        '{"id": "q1", "question": "how many?", "gold_sql": "SELECT 1"}\n'
        '{"id": "q1", "question": "how few?", "gold_sql": "SELECT 2"}\n'
    )
    bare.write_text('{"id": "q2", "question": "how many?", "answerable": true}\n')
    for path, named in ((twice, "q1"), (bare, "q2")):
        refused(sentinel("questions", "check", path, "--database", project.database), 2, named)


def test_one_class_only_can_not_be_fitted(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    its = copied(fitted, tmp_path)
    header, labels = read_labels(Path(its.labels))
    right = {"correct": True, "strict": True}
    always_right = [
        label.model_copy(update=right)
        if label.answerable and label.outcome == "answered"
        else label
        for label in labels.values()
    ]
    write_labels(Path(its.labels), header, always_right)
    refused(sentinel(*fit(its)), 5, "train")


def test_runs_without_a_label_are_left_out_and_counted_unless_none_has_one(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    its = copied(fitted, tmp_path)
    header, labels = read_labels(Path(its.labels))
    write_labels(Path(its.labels), header, list(labels.values())[:-8])
    call = sentinel(*fit(its), "--json")
    assert call.code == 0, call.err
    counted = call.document["facts"]
    assert counted["unlabelled"] > 0
    gaps = sentinel(*evaluate(its), "--json").document["gaps"]["runs without a label"]
    assert counted["unlabelled"] + len(gaps) == 8
    write_labels(Path(its.labels), header, [])
    refused(sentinel(*fit(its)), 2, "label")


def test_a_damaged_bundle_is_refused_whichever_byte_is_wrong(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    its = copied(fitted, tmp_path)
    for file in sorted(Path(its.monitor).iterdir()):
        whole = file.read_bytes()
        for spoiled in (b"", whole[: len(whole) // 2], whole[:-20] + bytes(20)):
            file.write_bytes(spoiled)
            refused(sentinel(*evaluate(its)), 2, "monitor")
        file.unlink()
        refused(sentinel(*evaluate(its)), 2, "monitor")
        file.write_bytes(whole)


def test_changed_pools_are_noticed(fitted: Project, sentinel: Sentinel, tmp_path: Path) -> None:
    its = copied(fitted, tmp_path)
    text = Path(its.pools).read_text()
    Path(its.pools).write_text(text.replace('"pool": "heldout"', '"pool": "train"', 1))
    refused(sentinel(*fit(its)), 2, "pools.json", "hash")


def test_an_unknown_question_unknown_judge_and_senseless_stakes_are_refused(
    fitted: Project, sentinel: Sentinel
) -> None:
    refused(sentinel("show", fitted.store, "nobody", "--monitor", fitted.monitor), 2, "nobody")
    refused(sentinel(*label(fitted, clock="noon")), 2, "noon")
    for arguments in (
        (*label(fitted), "--judge", "oracle"),
        (*evaluate(fitted), "--stakes", "-1"),
        (*evaluate(fitted), "--stakes", "nan"),
        (*evaluate(fitted), "--stakes", "many"),
        ("nothing",),
    ):
        call = sentinel(*arguments)
        assert call.code == 2
        assert "Traceback" not in call.err
    refused(sentinel(*label(fitted), "--mode", "guess"), 2, "guess")


def test_an_endpoint_that_is_down_or_talks_nonsense_is_exit_code_4(
    project: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    def collect(url: str, store: str) -> Outcome:
        return sentinel(
            *("collect", "--questions", project.questions, "--database", project.database),
            *("--base-url", url, "--model", "scripted", "--store", tmp_path / store),
            *("--clock", CLOCK, "--workers", 2, "--retries", 0),
        )

    refused(collect("http://127.0.0.1:9/v1", "down"), 4, "127.0.0.1:9")
    refused(collect("nonsense", "address"), 4, "nonsense")
    with ScriptedEndpoint([], fault=lambda _n, _body: b"<html>hello</html>") as endpoint:
        refused(collect(endpoint.url, "nonsense"), 4, endpoint.url)
    with ScriptedEndpoint([], fault=lambda _n, _body: 401) as endpoint:
        refused(collect(endpoint.url, "key"), 4, "OPENAI_API_KEY")


def test_an_endpoint_that_dies_midway_costs_nothing_recorded(
    project: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    def dies(number: int, _body: object) -> int | None:
        return 500 if number >= 60 else None

    store = tmp_path / "store"
    arguments = (
        *("collect", "--questions", project.questions, "--database", project.database),
        *("--model", "scripted", "--store", store, "--clock", CLOCK),
        *("--workers", 4, "--retries", 0),
    )
    with ScriptedEndpoint(scripted_agent, fault=dies) as endpoint:
        call = sentinel(*arguments, "--base-url", endpoint.url)
    assert call.code == 4
    kept = {run.question.id for run in read_trajectories(store)}
    assert len(kept) > 5
    with ScriptedEndpoint(scripted_agent) as endpoint:
        again = sentinel(*arguments, "--base-url", endpoint.url, "--json")
    assert again.document["already_there"] == len(kept)
    assert again.document["gaps"] == []


def test_imports_that_hold_no_run_are_refused(sentinel: Sentinel, tmp_path: Path) -> None:
    for name, content in (
        ("empty.json", b""),
        ("list.json", b"[]"),
        ("other.json", b'{"hello": 1}'),
        ("torn.json.gz", gzip.compress(b"[{}]" * 100)[:-8]),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        refused(sentinel("import", path, "--store", tmp_path / "store"), 2, name)
    refused(sentinel("import", path, "--format", "morse", "--store", tmp_path / "s"), 2, "morse")


def test_an_interrupt_is_exit_code_130_and_keeps_finished_runs(
    project: Project, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    runs = store / "trajectories.jsonl"
    sent = threading.Event()

    def waiting_agent(messages: Sequence[Message]) -> str:
        if runs.is_file() and runs.stat().st_size > 4000:
            sent.wait(60)  # the last run can't be over before the interrupt is sent
        return scripted_agent(messages)

    with ScriptedEndpoint(waiting_agent, latency=0.05) as endpoint:
        command = [
            *(sys.executable, "-c", "from sentinel_sql.cli.main import run; run()"),
            *("collect", "--questions", project.questions, "--database", project.database),
            *("--base-url", endpoint.url, "--model", "scripted", "--store", str(store)),
            *("--workers", "2", "--clock", CLOCK),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            until = time.monotonic() + 60
            while time.monotonic() < until and not (runs.is_file() and runs.stat().st_size > 4000):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            sent.set()
            _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"interrupted; what was collected is kept" in err
    assert b"Traceback" not in err
    assert len(list(read_trajectories(store))) > 0


def test_no_error_quotes_a_row_of_data(fitted: Project, sentinel: Sentinel, tmp_path: Path) -> None:
    its = copied(fitted, tmp_path)
    secret = "s3cret-row"
    runs = Path(its.store, "trajectories.jsonl")
    lines = runs.read_text().splitlines()
    for spoiled in (
        lines[3].replace('"action":"', f'"action":"{secret}', 1),
        f'{{"format": "sentinel-trajectory/1", "question": "{secret}"',
        json.dumps({"format": "sentinel-trajectory/1", "steps": [secret]}),
    ):
        runs.write_text("\n".join([*lines[:3], spoiled, *lines[4:]]) + "\n")
        call = sentinel(*fit(its))
        refused(call, 2, "line 4")
        assert secret not in call.err


def collect(project: Project, url: str, store: Path, *options: object) -> tuple[object, ...]:
    return (
        *("collect", "--questions", project.questions, "--database", project.database),
        *("--base-url", url, "--model", "scripted", "--store", store, *options),
    )


def test_a_store_is_resumed_at_the_clock_that_it_began_with(
    project: Project, sentinel: Sentinel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    with ScriptedEndpoint(scripted_agent) as endpoint:
        for number, now in enumerate(("2030-01-01 00:00:00", "2031-01-01 00:00:00"), 1):
            monkeypatch.setattr(sqlite_module, "default_clock", lambda _, now=now: now)
            call = sentinel(*collect(project, endpoint.url, store, "--limit", 1))
            assert call.code == 0, call.err
            assert len(list(read_trajectories(store))) == number
    assert {run.question.clock for run in read_trajectories(store)} == {"2030-01-01 00:00:00"}


@pytest.mark.parametrize("seconds", ["0", "inf", "nan", "1e300"])
def test_a_senseless_time_limit_is_refused(
    seconds: str, project: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    call = collect(project, "http://127.0.0.1:1/v1", tmp_path / "s", "--timeout", seconds)
    refused(sentinel(*call), 2, "time limit")


@pytest.mark.parametrize("verb", ["label", "fit", "evaluate", "check", "pools", "doctor"])
def test_a_path_longer_than_any_is_a_path_that_can_not_be_used(
    verb: str, fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    long = tmp_path / ("x" * 300)
    calls: dict[str, tuple[tuple[object, ...], int]] = {
        "label": (label(fitted, store=long), 2),
        "fit": ((*fit(fitted)[:-1], long), 2),
        "evaluate": (evaluate(fitted, monitor=long), 2),
        "check": (("questions", "check", fitted.questions, "--database", long), 3),
        "pools": (("questions", "pools", long, "--out", tmp_path / "p"), 2),
        "doctor": (("doctor", "--database", long), 1),
    }
    arguments, code = calls[verb]
    call = sentinel(*arguments)
    assert call.code == code, call.err
    assert "unexpected" not in call.err


def shell(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script whose `sentinel` is this command."""
    define = (
        f'sentinel() {{ {sys.executable} -c "from sentinel_sql.cli.main import run; run()" "$@"; }}'
    )
    return subprocess.run(
        ["/bin/bash", "-c", f"{define}\n{script}"],
        capture_output=True,
        text=True,
        encoding="latin-1",
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "end", ["| true", "| head -1", "--json | true", "--json >&-", ">&-", "2>&-", "--json >&- 2>&-"]
)
def test_nobody_listening_is_no_failure(end: str, fitted: Project) -> None:
    ended = shell(
        f"sentinel show {fitted.store} a-0 --monitor {fitted.monitor} {end}; "
        "exit ${PIPESTATUS[0]}"
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_error_has_its_code_also_where_stderr_is_closed() -> None:
    assert shell("sentinel fit gone --pools p --labels l --out o 2>&-").returncode == 2


@pytest.mark.parametrize("json_wanted", [True, False])
def test_a_terminal_without_greek_gets_all_that_it_can_show(
    json_wanted: bool, fitted: Project, tmp_path: Path
) -> None:
    runs = tmp_path / "runs.jsonl"
    first = (Path(fitted.store) / "trajectories.jsonl").read_text().splitlines()[0]
    run = json.loads(first)
    run["question"]["text"] = "wie groß, λ?"
    runs.write_text(json.dumps(run) + "\n")
    options = "--json" if json_wanted else ""
    ended = shell(
        f"sentinel show {runs} {run['question']['id']} --monitor {fitted.monitor} {options}",
        PYTHONIOENCODING="ascii",
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    if json_wanted:
        assert json.loads(ended.stdout)["question"]["text"] == "wie groß, λ?"


def test_a_width_of_nothing_hides_nothing(fitted: Project) -> None:
    call = f"sentinel show {fitted.store} a-0 --monitor {fitted.monitor}"
    assert shell(call, COLUMNS="0").stdout.strip() != ""


def test_a_number_that_json_lacks_is_answered_in_words(fitted: Project, sentinel: Sentinel) -> None:
    # Asked like the answerable ones, so that nothing refuses it before its answer.
    question = next(iter(GOLD)).format(DRUGS[0])
    with ScriptedEndpoint(["FINAL_SQL: SELECT 9e999, -9e999, x'ff'"]) as endpoint:
        call = sentinel(
            *("ask", question, "--database", fitted.database, "--monitor", fitted.monitor),
            *("--base-url", endpoint.url, "--model", "scripted", "--clock", CLOCK, "--json"),
            *("--stakes", 0, "--on-unavailable", "deliver"),
        )
    assert call.code == 0, call.err
    assert call.document["result"]["rows"] == [["inf", "-inf", "ff"]]
