"""The whole loop through the command, from questions to exhibits."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from command_project import Project, Sentinel, made_up_questions, scripted_agent
from sentinel_sql.cli.verbs.collect import _progress
from sentinel_sql.monitor.bundle import load
from sentinel_sql.pipeline.collect import Progress
from sentinel_sql.testing import CLOCK, ScriptedEndpoint
from sentinel_sql.trajectory.store import read_trajectories


def test_check_counts_every_question_once(project: Project, sentinel: Sentinel) -> None:
    call = sentinel(
        *("questions", "check", project.questions, "--database", project.database),
        *("--clock", CLOCK, "--json"),
    )
    assert call.code == 0
    counts = call.document
    assert counts["answerable"] == counts["unanswerable"] == 144
    assert counts["uncompared"] == 144  # the file ships no answers to compare with
    assert counts["errors"] == 0


def test_collecting_again_runs_nothing_again(fitted: Project, sentinel: Sentinel) -> None:
    before = Path(fitted.store, "trajectories.jsonl").read_bytes()
    with ScriptedEndpoint(scripted_agent) as endpoint:
        call = sentinel(
            *("collect", "--questions", fitted.questions, "--database", fitted.database),
            *("--base-url", endpoint.url, "--model", "scripted", "--store", fitted.store),
            *("--clock", CLOCK, "--json"),
        )
        asked = len(endpoint.requests)
    assert (call.code, asked) == (0, 0)
    assert call.document["done"] == 0
    assert call.document["already_there"] == len(made_up_questions())
    assert call.document["gaps"] == []
    assert Path(fitted.store, "trajectories.jsonl").read_bytes() == before


def test_answers_are_judged_at_the_clock_of_their_runs(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    other = tmp_path / "another_name.sqlite"
    other.write_bytes(Path(fitted.database).read_bytes())
    call = sentinel(
        *("label", fitted.store, "--questions", fitted.questions, "--database", other),
        *("--out", tmp_path / "labels.jsonl"),
    )
    assert call.code == 0, call.err
    header = json.loads((tmp_path / "labels.jsonl").read_text().splitlines()[0])
    assert header["clock"] == CLOCK


@pytest.mark.parametrize(
    ("name", "mode"), [("tiny", "sentinel-1"), ("Mimic_IV", "ehrsql-2024"), ("eicu", "ehrsql-v1")]
)
def test_answers_are_compared_as_their_data_set_does_and_else_by_ours(
    fitted: Project, sentinel: Sentinel, tmp_path: Path, name: str, mode: str
) -> None:
    database, labels = tmp_path / f"{name}.sqlite", tmp_path / "labels.jsonl"
    database.write_bytes(Path(fitted.database).read_bytes())
    words = (fitted.store, "--questions", fitted.questions, "--database", database)
    call = sentinel("label", *words, "--out", labels, "--json")
    assert (call.code, call.document["mode"]) == (0, mode), call.err
    assert json.loads(labels.read_text().splitlines()[0])["mode"] == mode


def test_database_of_another_schema_is_refused_and_another_name_is_reported(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    renamed, other = tmp_path / "renamed.sqlite", tmp_path / "other.sqlite"
    renamed.write_bytes(Path(fitted.database).read_bytes())
    with closing(sqlite3.connect(other)) as made:
        made.execute("CREATE TABLE prescriptions (drug TEXT, starttime TEXT, hadm_id INT)")
        made.commit()
    for database, code, told in ((renamed, 0, "made over tiny"), (other, 2, "another schema")):
        call = sentinel(
            *("label", fitted.store, "--questions", fitted.questions, "--database", database),
            *("--out", tmp_path / "labels.jsonl"),
        )
        assert (call.code, told in call.err) == (code, True), call.err


def test_show_without_an_id_lists_the_runs(fitted: Project, sentinel: Sentinel) -> None:
    listed = sentinel("show", fitted.store, "--json").document["runs"]
    assert [run["id"] for run in listed] == [
        run.question.id for run in read_trajectories(fitted.store)
    ]
    assert sentinel("show", fitted.store).code == 0


def test_show_reads_a_run_before_any_monitor_is_fitted(fitted: Project, sentinel: Sentinel) -> None:
    for run in list(read_trajectories(fitted.store))[:5]:
        shown = sentinel("show", fitted.store, run.question.id, "--json").document
        assert shown["question"] == {"id": run.question.id, "text": run.question.text}
        assert shown["outcome"] == run.outcome.kind
        assert [(step["t"], step["sql"]) for step in shown["steps"]] == [
            (t, step.sql) for t, step in enumerate(run.steps, start=1)
        ]
        lines = sentinel("show", fitted.store, run.question.id).out.splitlines()
        assert lines[0] == run.question.text
        assert lines[-1] == f"outcome: {run.outcome.kind}"
        assert max(map(len, lines)) <= 80


def test_show_lists_the_runs_of_a_project_whose_settings_name_a_monitor(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    settings = tmp_path / "sentinel.toml"
    settings.write_text(f'monitor = "{fitted.monitor}"\nlabels = "{fitted.labels}"\n')
    listed = sentinel("--settings", settings, "show", fitted.store, "--json").document["runs"]
    assert listed == sentinel("show", fitted.store, "--json").document["runs"]


def test_label_names_an_id_that_runs_of_unknown_questions_could_carry(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    for text, expected in (
        ("question,gold_sql\nhow many,SELECT 1\n", "'mine-1'"),
        ("id,question,gold_sql\n7,how many,SELECT 1\n", "'7'"),
    ):
        questions = tmp_path / "mine.csv"
        questions.write_text(text)
        call = sentinel(
            *("label", fitted.store, "--questions", questions),
            *("--database", fitted.database, "--out", tmp_path / "labels.jsonl"),
        )
        assert (call.code, expected in call.err) == (2, True), call.err


def test_a_limit_leaves_gaps_and_says_so(
    project: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    with ScriptedEndpoint(scripted_agent) as endpoint:
        call = sentinel(
            *("collect", "--questions", project.questions, "--database", project.database),
            *("--base-url", endpoint.url, "--model", "scripted", "--store", tmp_path / "store"),
            *("--limit", 5, "--workers", 2, "--clock", CLOCK, "--json"),
        )
    assert call.document["done"] == 5
    assert len(call.document["gaps"]) == len(made_up_questions()) - 5
    assert len(list(read_trajectories(tmp_path / "store"))) == 5


def test_evaluate_gives_every_exhibit_by_name_and_counts_the_same_look_once(
    fitted: Project, sentinel: Sentinel
) -> None:
    arguments = (
        *("evaluate", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--monitor", fitted.monitor, "--json"),
    )
    first, second = sentinel(*arguments), sentinel(*arguments)
    assert first.code == second.code == 0
    ladder = first.document["exhibits"]["ladder"]["rows"]
    systems = {"vanilla", "gate", "chow", "full", "early-stop", "certified", "always-abstain"}
    assert {(row["system"], row["stakes"]) for row in ladder} == {
        (system, stakes) for system in systems for stakes in (1.0, 4.0, 9.0)
    }
    for name in ("heads", "operating", "gain", "reliability", "by_step", "step_economics"):
        assert first.document["exhibits"][name]["rows"], name
    assert second.document["spent"] == first.document["spent"]
    assert first.document["exhibits"] == second.document["exhibits"]
    another = sentinel(*arguments, "--exact-bar")
    assert another.document["spent"] == first.document["spent"] + 1


def test_a_monitor_beats_the_agent_alone_where_failures_show(
    fitted: Project, sentinel: Sentinel
) -> None:
    call = sentinel(
        *("evaluate", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--monitor", fitted.monitor, "--json"),
    )
    score = {
        (row["system"], row["stakes"]): row["rs"]["estimate"]
        for row in call.document["exhibits"]["ladder"]["rows"]
    }
    for stakes in (1.0, 4.0, 9.0):
        assert score["full", stakes] > score["vanilla", stakes]
        assert score["full", stakes] >= score["always-abstain", stakes]


def test_tables_fit_eighty_columns(
    fitted: Project, sentinel: Sentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run = next(read_trajectories(fitted.store))
    first, pasted = run.question.id, run.agent.fingerprint
    for arguments in (
        ("fit", fitted.store, *_fit_options(fitted), "--out", fitted.folder / "again"),
        ("evaluate", fitted.store, *_fit_options(fitted), "--monitor", fitted.monitor),
        ("show", fitted.store, first, "--monitor", fitted.monitor, "--stakes", "4"),
        ("doctor", "--database", fitted.database, "--monitor", fitted.monitor),
    ):
        call = sentinel(*arguments)
        assert call.code == 0, call.err
        # The agent's line is pasted into a guard, so it alone is never broken.
        lines = [line for line in call.out.splitlines() if line != pasted]
        assert max(map(len, lines)) <= 80, arguments


def test_show_stops_where_the_policy_stops(fitted: Project, sentinel: Sentinel) -> None:
    decisions = set()
    served = load(fitted.monitor).thresholds.served
    assert served is not None
    for trajectory in list(read_trajectories(fitted.store))[:60]:
        call = sentinel(
            *("show", fitted.store, trajectory.question.id, "--monitor", fitted.monitor),
            *("--stakes", served.limit, "--json"),
        )
        states = call.document["states"]
        assert len(states) == len(trajectory.steps) + 1
        stops = [state for state in states if state["decision"] != "continue"]
        assert stops, "the last state always decides"
        assert not stops[0]["after_stop"]
        assert all(state["after_stop"] for state in states[stops[0]["t"] + 1 :])
        decisions.add(stops[0]["decision"])
    assert "deliver" in decisions
    assert decisions & {"refuse", "exit", "withhold"}


def test_every_json_verb_prints_one_document_and_nothing_else_on_stdout(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    for arguments in (
        ("questions", "pools", fitted.questions, "--out", tmp_path / "pools.json"),
        ("label", fitted.store, *_label_options(fitted), "--out", tmp_path / "labels.jsonl"),
        ("fit", fitted.store, *_fit_options(fitted), "--out", tmp_path / "monitor"),
        ("doctor",),
    ):
        call = sentinel(*arguments, "--json")
        assert call.code == 0, call.err
        json.loads(call.out)


def test_doctor_lists_the_models_of_an_endpoint_and_says_where_there_is_none(
    sentinel: Sentinel,
) -> None:
    listed = b'{"data": [{"id": "small"}, {"id": "large"}]}'
    with ScriptedEndpoint(["x"], fault=lambda number, body: listed) as endpoint:
        found = sentinel("doctor", "--base-url", endpoint.url)
        url = endpoint.url
    assert "small, large" in found.out
    gone = sentinel("doctor", "--base-url", url)
    assert gone.code != 0
    assert "no connection" in gone.out + gone.err


def test_what_was_collected_is_readable_by_its_owner_only(fitted: Project) -> None:
    files = [
        *Path(fitted.store).iterdir(),
        Path(fitted.labels),
        *Path(fitted.monitor).iterdir(),
    ]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_labels_and_fit_are_the_same_twice(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    labelled = tmp_path / "labels.jsonl"
    assert sentinel("label", fitted.store, *_label_options(fitted), "--out", labelled).code == 0
    assert labelled.read_bytes() == Path(fitted.labels).read_bytes()
    assert sentinel("fit", fitted.store, *_fit_options(fitted), "--out", tmp_path / "m").code == 0
    for name in ("monitor.npz", "calibration.npz"):
        assert (tmp_path / "m" / name).read_bytes() == Path(fitted.monitor, name).read_bytes()


def _fit_options(project: Project) -> tuple[str, ...]:
    return ("--pools", project.pools, "--labels", project.labels)


def _label_options(project: Project) -> tuple[str, ...]:
    return (
        *("--questions", project.questions, "--database", project.database),
        *("--clock", CLOCK),
    )


def test_a_collection_without_a_terminal_tells_its_last_line_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = Progress(total=2, done=2, failed=0, seconds=1.0)
    with _progress() as advance:
        for now in (replace(ended, done=1), ended, ended, ended):  # the workers may be ahead
            advance(now)
    assert capsys.readouterr().err.splitlines() == [
        "2 of 2 recorded, 120.0 a minute, 0 min left, 0 failed"
    ]


@pytest.mark.parametrize("columns", [None, "40", "80"])
def test_a_fit_prints_its_agent_unbroken_to_be_pasted(
    fitted: Project,
    sentinel: Sentinel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: str | None,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    call = sentinel(
        *("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--out", tmp_path / "monitor"),
    )
    assert call.code == 0, call.err
    agent = load(tmp_path / "monitor").agent
    assert len(agent) > 80
    assert agent in call.out.splitlines()


def test_a_shown_run_says_by_which_rules(
    fitted: Project, sentinel: Sentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run = next(iter(read_trajectories(fitted.store))).question.id
    shown = ("show", fitted.store, run, "--monitor", fitted.monitor, "--stakes")
    assert "λ = 0 delivers answers from τ = 0 on; early stop off\n" in sentinel(*shown, 0).out
    assert "early stop off" not in sentinel(*shown, 0, "--early-stop").out
    assert "λ = 4 is above what this monitor can serve: nothing is delivered\n" in (
        sentinel(*shown, 4).out
    )
