"""`sentinel audit`: export sheets, score what raters return, compare judges."""

from __future__ import annotations

import csv
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from command_project import Project, Sentinel


@pytest.fixture
def strict_v1(fitted: Project, sentinel: Sentinel, tmp_path: Path) -> Path:
    """Labels by rules, whose strict mode refuses some answers that the rules accept."""
    out = tmp_path / "rules-v1.jsonl"
    call = sentinel(
        *("label", fitted.store, "--questions", fitted.questions, "--database", fitted.database),
        *("--out", out, "--mode", "ehrsql-v1"),
    )
    assert call.code == 0, call.err
    return out


def export(project: Project, labels: Path, out: Path) -> tuple[object, ...]:
    return (
        *("audit", "export", project.store, "--labels", labels, "--questions", project.questions),
        *("--database", project.database, "--out", out, "--sample", 12),
    )


def test_an_audit_goes_out_and_comes_back(
    fitted: Project, sentinel: Sentinel, strict_v1: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "audit"
    made = sentinel(*export(fitted, strict_v1, folder), "--json")
    assert made.code == 0, made.err
    assert sorted(path.name for path in folder.iterdir()) == [
        "key.json", "rater-1.csv", "rater-2.csv",
    ]  # fmt: skip
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    key = json.loads((folder / "key.json").read_text())
    said = {case["case"]: case["correct"] for case in key["cases"]}
    assert made.document["cases"] == len(said) == 12
    for sheet, wrong in (("ann", 0), ("ben", 3)):
        with (folder / "rater-1.csv").open(encoding="utf-8-sig", newline="") as source:
            rows = list(csv.DictReader(source))
        with (tmp_path / f"{sheet}.csv").open("w", newline="") as sink:
            writer = csv.writer(sink, delimiter=";")
            writer.writerow(["case", "correct"])
            writer.writerows(
                [row["case"], "yn"[said[row["case"]] == (at < wrong)]]
                for at, row in enumerate(rows)
            )
    scored = sentinel(
        *("audit", "score", folder, tmp_path / "ann.csv", tmp_path / "ben.csv"),
        *("--out", tmp_path / "kept", "--json"),
    )
    assert scored.code == 0, scored.err
    rows = {row["rater"]: row for row in scored.document["exhibits"]["judge_audit"]["rows"]}
    assert rows["ann"]["accuracy"]["estimate"] == 1.0
    assert rows["ben"]["accuracy"]["estimate"] == 0.75
    assert (rows["together"]["rated"], rows["together"]["left_open"]) == (9, 3)
    assert (tmp_path / "kept" / "tables" / "judge_audit.csv").exists()
    shown = sentinel("audit", "score", folder, tmp_path / "ann.csv", tmp_path / "ben.csv")
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 80
    again = sentinel(*export(fitted, strict_v1, folder))
    assert (again.code, "may hold a rater's work" in again.err) == (2, True)


def test_another_database_than_the_labels_is_refused(
    fitted: Project, sentinel: Sentinel, strict_v1: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as made:
        made.execute("CREATE TABLE prescriptions (drug TEXT)")
    other = [
        tmp_path / "other.sqlite" if part == fitted.database else part
        for part in export(fitted, strict_v1, tmp_path / "audit")
    ]
    call = sentinel(*other)
    assert (call.code, "another schema" in call.err) == (2, True)
    call = sentinel(
        *export(fitted, strict_v1, tmp_path / "audit"), "--clock", "2000-01-01 00:00:00"
    )
    assert (call.code, "made at the clock 2100" in call.err) == (2, True)
    assert not (tmp_path / "audit").exists()


def test_judges_are_compared(
    fitted: Project, sentinel: Sentinel, strict_v1: Path, tmp_path: Path
) -> None:
    call = sentinel("audit", "disagreement", fitted.labels, strict_v1, "--json")
    assert call.code == 0, call.err
    assert call.document["judges"] == [
        *("strict/sentinel-1", "rules/sentinel-1", "strict/ehrsql-v1", "rules/ehrsql-v1"),
    ]
    rows = call.document["exhibits"]["disagreement"]["rows"]
    assert len(rows) == 6
    assert all(row["answers"] > 50 and row["without_verdict"] == 0 for row in rows)
    shown = sentinel("audit", "disagreement", fitted.labels, strict_v1)
    assert max(map(len, shown.out.splitlines())) <= 80


def test_an_audit_without_its_key_says_so(sentinel: Sentinel, tmp_path: Path) -> None:
    call = sentinel("audit", "score", tmp_path, tmp_path / "ann.csv")
    assert (call.code, "sentinel audit export" in call.err) == (2, True)
    (tmp_path / "key.json").write_text("{}")
    call = sentinel("audit", "score", tmp_path, tmp_path / "ann.csv")
    assert (call.code, "isn't the key of an audit" in call.err) == (2, True)
