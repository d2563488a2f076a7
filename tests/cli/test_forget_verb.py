"""`sentinel forget` and `label --ratings` through the command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_project import Outcome, Project, Sentinel, made_up_questions, scripted_agent
from sentinel_sql.labels.file import read_labels
from sentinel_sql.testing import CLOCK, ScriptedEndpoint
from sentinel_sql.trajectory.store import read_trajectories

ERASED = next(x for x in made_up_questions() if x["question"].startswith("quickly, "))
"""Its wording is in no other question."""


@pytest.fixture
def own(fitted: Project, tmp_path: Path) -> Project:
    """A copy of the project that a test may change."""
    made = Project(tmp_path / "own")
    shutil.copytree(fitted.folder, made.folder)
    return made


def collected(project: Project, sentinel: Sentinel) -> tuple[Outcome, int]:
    with ScriptedEndpoint(scripted_agent) as endpoint:
        call = sentinel(
            *("collect", "--questions", project.questions, "--database", project.database),
            *("--base-url", endpoint.url, "--model", "scripted", "--store", project.store),
            *("--clock", CLOCK, "--json"),
        )
        return call, len(endpoint.requests)


def holds(path: str | Path, text: str) -> bool:
    path = Path(path)
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    forms = {text.encode(), json.dumps(text)[1:-1].encode()}
    return any(form in file.read_bytes() for file in files for form in forms)


def test_a_forgotten_question_is_in_no_cleaned_file_and_is_not_collected_again(
    own: Project, sentinel: Sentinel
) -> None:
    (run,) = [x for x in read_trajectories(own.store) if x.question.id == ERASED["id"]]
    texts = [
        run.question.text,
        *(step.sql for step in run.steps if step.sql),
    ]
    others = [x for x in read_trajectories(own.store) if x.question.id != ERASED["id"]]
    only_here = [
        text for text in texts if not any(text in other.model_dump_json() for other in others)
    ]
    assert only_here
    assert all(holds(own.store, text) for text in only_here)
    call = sentinel("forget", ERASED["id"], own.store, own.labels, own.monitor, own.pools, "--json")
    assert call.code == 0, call.err
    assert [(x["kind"], x["records"]) for x in call.document["cleaned"]] == [
        ("store", 1),
        ("labels", 1),
    ]
    for path in (own.store, own.labels):
        assert not any(holds(path, text) for text in only_here)
        assert not holds(path, f'"{ERASED["id"]}"')
    assert list(read_trajectories(own.store)) == others
    assert ERASED["id"] not in read_labels(own.labels).by_run
    elsewhere = {x["kind"]: x for x in call.document["elsewhere"]}
    assert elsewhere["pools"]["named_in"] == [own.pools]
    assert "fit it again" in elsewhere["monitor"]["todo"]
    again, asked = collected(own, sentinel)
    assert (again.code, asked) == (0, 0)
    assert again.document["forgotten"] == [ERASED["id"]]
    assert again.document["gaps"] == []
    assert list(read_trajectories(own.store)) == others
    twice = sentinel("forget", ERASED["id"], own.store, own.labels)
    assert twice.code == 0, "a second call has nothing left to do"


def test_a_dry_run_changes_nothing(own: Project, sentinel: Sentinel) -> None:
    before = {p: p.read_bytes() for p in own.folder.rglob("*") if p.is_file()}
    call = sentinel("forget", ERASED["id"], own.store, own.labels, "--dry-run")
    assert call.code == 0, call.err
    assert "1 would be erased" in " ".join(call.out.split())
    assert {p: p.read_bytes() for p in own.folder.rglob("*") if p.is_file()} == before


def test_settings_name_what_is_cleaned_and_what_is_searched(
    own: Project, sentinel: Sentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own.folder)
    names = ("questions", "store", "labels", "pools", "monitor")
    lines = [f'{name} = "{Path(getattr(own, name)).name}"' for name in names]
    Path("sentinel.toml").write_text("\n".join(lines))
    call = sentinel("forget", ERASED["id"], "--json")
    assert call.code == 0, call.err
    assert {x["kind"] for x in call.document["cleaned"]} == {"store", "labels"}
    elsewhere = {Path(x["path"]).name: x for x in call.document["elsewhere"]}
    assert set(elsewhere) == {"questions.jsonl", "pools.json", "monitor"}
    assert elsewhere["questions.jsonl"]["named_in"] == ["questions.jsonl"]


def test_an_evaluation_that_shows_the_run_is_named(
    own: Project, evaluated: Path, sentinel: Sentinel
) -> None:
    views = (evaluated / "views.jsonl").read_text().splitlines()
    shown = json.loads(views[0])["id"]
    call = sentinel("forget", shown, own.store, evaluated, "--dry-run", "--json")
    assert call.code == 0, call.err
    (found,) = call.document["elsewhere"]
    assert found["kind"] == "evaluation"
    assert "views.jsonl" in found["named_in"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no-such-id", "store"], "nothing of 'no-such-id' is in it"),
        (["a-0", "absent"], "no such file"),
        (["a-0", "questions.jsonl"], "nothing among these can be cleaned"),
        (["a-0"], "name what to clean"),
    ],
)
def test_what_cannot_be_forgotten_is_said_in_one_line(
    own: Project,
    sentinel: Sentinel,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(own.folder)
    before = {p: p.read_bytes() for p in own.folder.rglob("*") if p.is_file()}
    call = sentinel("forget", *arguments)
    assert call.code == 2
    assert says in call.err
    assert call.err.count("\n") == 1
    assert {p: p.read_bytes() for p in own.folder.rglob("*") if p.is_file()} == before


def test_people_rate_runs_and_everything_left_open_is_said(
    own: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    table = tmp_path / "ratings.csv"
    known = read_labels(own.labels).by_run
    lines = ["id,rating,rater,answerable,comment", "elsewhere,right,ann,,"]
    for name, label in known.items():
        word = {True: "right", False: "wrong", None: ""}[label.correct]
        lines.append(f"{name},{word},ann,{'yes' if label.answerable else 'no'},x")
    table.write_text("\n".join(lines))
    out = tmp_path / "rated.jsonl"
    call = sentinel("label", own.store, "--ratings", table, "--out", out, "--json")
    assert call.code == 0, call.err
    assert "1 rated ids are of no run of this store" in call.err
    assert "hold no schema" in call.err
    assert call.document["judge"] == "ratings"
    assert call.document["other_columns"] == ["comment"]
    made = read_labels(out).by_run
    assert {name: label.correct for name, label in made.items()} == {
        name: label.correct for name, label in known.items()
    }
    call = sentinel(
        *(
            "label",
            own.store,
            "--ratings",
            table,
            "--out",
            out,
            "--database",
            own.database,
            "--json",
        )
    )
    assert call.code == 0, call.err
    assert read_labels(out).header.schema.tables


def test_ratings_and_a_model_as_judge_exclude_each_other(
    own: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    call = sentinel(
        *("label", own.store, "--ratings", own.questions, "--judge", "llm"),
        *("--out", tmp_path / "l.jsonl"),
    )
    assert (call.code, call.err.count("\n")) == (2, 1)
    assert "--judge llm" in call.err


def test_label_without_ratings_needs_questions_and_a_database(
    own: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    for given in (["--questions", own.questions], ["--database", own.database], []):
        call = sentinel("label", own.store, *given, "--out", tmp_path / "l.jsonl")
        assert (call.code, call.err.count("\n")) == (2, 1)
        assert "--ratings" in call.err
