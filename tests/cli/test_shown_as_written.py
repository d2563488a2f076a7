"""On the terminal, what users and data say is shown as it is written, and ids are whole."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import sentinel_sql
from command_project import Project, Sentinel
from sentinel_sql.cli.output import emit
from sentinel_sql.labels.file import read_labels, write_labels
from sentinel_sql.report.terminal.evaluation import TABLES
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.record import Observation

MARKUP = "[red]x[/]"


def store(folder: Path, *ids: str, text: str = "how many patients had heparin " * 5) -> Path:
    folder.mkdir()
    step = make_step(1, action="final_sql", sql=f"SELECT '{MARKUP}'")
    runs = [make_trajectory(name, text, steps=[step]) for name in ids]
    (folder / "trajectories.jsonl").write_bytes(b"".join(map(encode, runs)))
    return folder


def test_only_one_place_opens_the_terminal_and_it_reads_no_markup() -> None:
    source = Path(sentinel_sql.__file__).parent
    opened, read = [], []
    for file in source.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            called = getattr(node, "func", None)
            name = getattr(called, "id", getattr(called, "attr", None))
            if name == "Console":
                opened.append(file.relative_to(source).as_posix())
            if name == "from_markup":
                read.append(file.name)
    assert (opened, read) == (["cli/output.py"], [])


def test_markup_in_questions_and_ids_is_shown_as_it_is(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    listed = sentinel("show", store(tmp_path / "store", MARKUP, text=f"{MARKUP} :smile:"))
    assert listed.code == 0, listed.err
    assert listed.out.splitlines()[1].split()[0] == MARKUP
    assert f"{MARKUP} :smile:" in listed.out
    run = sentinel("show", tmp_path / "store", MARKUP, "--monitor", fitted.monitor, "--why")
    assert run.code == 0, run.err
    assert f"{MARKUP} :smile:" in run.out
    assert f"SELECT '{MARKUP}'" in run.out


def test_markup_in_judges_folders_and_systems_is_shown_as_it_is(
    fitted: Project,
    sentinel: Sentinel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    header, labels = read_labels(Path(fitted.labels))
    by_model = replace(header, judge="llm", model=MARKUP, prompt_sha256="0" * 64)
    write_labels(tmp_path / "llm.jsonl", by_model, labels.values())
    audited = sentinel("audit", "disagreement", fitted.labels, tmp_path / "llm.jsonl")
    assert audited.code == 0, audited.err
    assert MARKUP in audited.out
    monkeypatch.chdir(tmp_path)
    evaluated = sentinel(
        *("evaluate", fitted.store, "--pools", fitted.pools, "--labels", "llm.jsonl"),
        *("--monitor", fitted.monitor, "--pool", "calibration", "--out", "[red]x", "--no-runs"),
    )
    assert evaluated.code == 0, evaluated.err
    row = {
        "stakes": 1.0, "system": MARKUP, "rs": {"estimate": 0.0, "low": 0.0, "high": 0.0},
        "coverage": None, "accuracy": None, "steps_saved": None, "tokens_saved": None,
    }  # fmt: skip
    emit({}, as_json=False, tables=lambda: [TABLES["ladder"].show({"rows": [row]})])
    assert MARKUP in capsys.readouterr().out
    pytest.importorskip("matplotlib", reason="the report needs the extra `report`")
    reported = sentinel("report", "[red]x", "--out", "[red]page")
    assert reported.code == 0, reported.err
    assert "[red]page/" in reported.out


@pytest.mark.parametrize("columns", ["80", "100", None])
@pytest.mark.parametrize("length", [3, 24, 50, 64, 130])
def test_the_list_of_runs_shows_ids_whole_beside_outcome_and_steps(
    sentinel: Sentinel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: str | None,
    length: int,
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    ids = [str(number) * length for number in (1, 2)]
    lines = sentinel("show", store(tmp_path / "store", *ids)).out.splitlines()
    assert max(map(len, lines)) <= int(columns or 80)
    for name in ids:
        first, *_ = (line for line in lines if line.startswith(name[:3]))
        assert first.split()[1:3] == ["answered", "1"]
        if length <= 50:
            assert first.split()[0] == name
        assert sum(line.split()[0].count(name[0]) for line in lines[1:]) == length


def test_extras_keep_their_brackets(sentinel: Sentinel, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert "[encoders]" in sentinel("doctor").out


def test_fit_says_that_nothing_of_the_tokens_is_needed(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    arguments = (
        *("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--head", "ngrams", "--out", tmp_path / "monitor"),
    )
    needs = sentinel(*arguments, "--json").document["needs_telemetry"]
    (line,) = (it for it in sentinel(*arguments).out.splitlines() if "a live run needs" in it)
    assert ("nothing of the model's tokens" in line) == (needs == [])


def test_failing_gold_is_reported_and_empty_gold_is_listed(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    golds = {"1": "SELECT * FROM zzz", "2": "SELECT drug FROM prescriptions WHERE drug = 'no'"}
    lines = [
        json.dumps({"id": name, "question": "which?", "answerable": True, "gold_sql": gold})
        for name, gold in golds.items()
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    arguments = (
        "questions", "check", tmp_path / "questions.jsonl", "--database", fitted.database,
    )  # fmt: skip
    call = sentinel(*arguments)
    assert "question 1: no such table: zzz" in call.out, call.err
    assert "error_ids" not in call.out
    assert sentinel(*arguments, "--json").document["empty_gold_ids"] == ["2"]
    assert ["empty_gold_ids", "2"] in [line.split() for line in call.out.splitlines()]


def test_labels_of_two_clocks_are_compared_with_a_note(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    header, labels = read_labels(Path(fitted.labels))
    later = replace(header, clock="2101-01-01 00:00:00")
    write_labels(tmp_path / "later.jsonl", later, labels.values())
    call = sentinel("audit", "disagreement", fitted.labels, tmp_path / "later.jsonl", "--json")
    assert call.code == 0, call.err
    assert "2101-01-01" in call.document["notes"][0]
    assert "--clock" in call.err
    same = sentinel("audit", "disagreement", fitted.labels, fitted.labels, "--json")
    assert (same.document["notes"], same.err) == ([], "")


def test_labels_of_another_judge_or_mode_than_the_fit_s_are_noted(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    header, labels = read_labels(Path(fitted.labels))
    other = replace(header, judge="strict", mode="ehrsql-v1")
    write_labels(tmp_path / "other.jsonl", other, labels.values())
    arguments = (
        *("evaluate", fitted.store, "--pools", fitted.pools, "--monitor", fitted.monitor),
        *("--pool", "calibration", "--labels"),
    )
    notes = sentinel(*arguments, tmp_path / "other.jsonl", "--json").document["notes"]
    assert [f"{what} {now}" in note for note, (what, now) in zip(
        notes, (("judge", "strict"), ("mode", "ehrsql-v1")), strict=True
    )] == [True, True]  # fmt: skip
    assert sentinel(*arguments, tmp_path / "other.jsonl").out.count("note: these labels") == 2
    assert sentinel(*arguments, fitted.labels, "--json").document["notes"] == []


HOSTILE = "\x1b[2J\x1b]0;title\x07 \x9b31m \u202eabc\u202c\r\x08\x7f"


def test_text_of_a_run_never_controls_the_terminal(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    bad = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
    place = tmp_path / "store"
    place.mkdir()
    seen = Observation(kind="rows", rows=1, columns=1, text=HOSTILE)
    step = make_step(1, action="final_sql", sql=f"SELECT '{HOSTILE}'", observation=seen)
    run = make_trajectory(f"id{HOSTILE}", f"how many {HOSTILE}?", steps=[step])
    (place / "trajectories.jsonl").write_bytes(encode(run))
    for call in (
        ("show", place),
        ("show", place, run.question.id, "--monitor", fitted.monitor, "--why"),
        ("show", place, f"no{HOSTILE}", "--monitor", fitted.monitor),
        ("show", place / HOSTILE.replace("/", ""), "x", "--monitor", fitted.monitor),
    ):
        told = sentinel(*call)
        assert not re.search(bad, told.out + told.err), call
        assert all(len(line) <= 80 for line in told.out.splitlines())
    told = sentinel("show", place, "--json")
    assert not re.search(bad, told.out)
    assert told.document["runs"][0]["question"] == run.question.text
