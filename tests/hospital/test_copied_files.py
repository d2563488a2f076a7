"""The files beside a copied hospital, and recorded runs in the SQL of its database."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pytest

from sentinel_sql.address import without_password
from sentinel_sql.hospital.copies.files import CopiedHospital, examples_in
from sentinel_sql.hospital.copies.gold_sql import DIALECTS, in_dialect
from sentinel_sql.hospital.copies.recorded_sql import in_other_sql
from sentinel_sql.hospital.folder import HospitalFolder
from sentinel_sql.hospital.recordings import recording
from sentinel_sql.questions.read import read_questions
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.store import read_trajectories


def test_questions_of_a_copy_differ_in_their_gold_sql_only(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb absent: install the extra duckdb")
    made = HospitalFolder.write(tmp_path, patients=40, size=60)
    copied = CopiedHospital.write(made, f"duckdb:///{tmp_path / 'copy.duckdb'}")
    ours, theirs = read_questions([made.questions]), read_questions([copied.questions])
    assert [(q.id, q.text, q.template, q.answerable) for q in ours] == [
        (q.id, q.text, q.template, q.answerable) for q in theirs
    ]
    assert [q.gold_sql and in_dialect(q.gold_sql, "duckdb") for q in ours] == [
        q.gold_sql for q in theirs
    ]
    assert ours != theirs
    assert copied.examples.read_text().count("QUESTION:") == made.examples.read_text().count(
        "QUESTION:"
    )
    assert copied.questions.stat().st_mode & 0o077 == made.questions.stat().st_mode & 0o077


@pytest.mark.parametrize("dialect", DIALECTS)
def test_examples_hold_neither_functions_nor_errors_of_sqlite(dialect: str) -> None:
    text = "\n\n".join(examples_in(dialect))
    assert "no such column" not in text
    assert not re.search(r"strftime\('", text)
    assert "gender" in text
    assert examples_in("sqlite") != examples_in(dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_recorded_runs_keep_what_the_agent_saw_and_commit_to_the_same_step(dialect: str) -> None:
    runs = list(islice(read_trajectories(recording()), 60))
    made, kept = in_other_sql(runs, dialect)
    assert kept <= 2
    for run, other in zip(runs, made, strict=True):
        assert other.question.dialect == dialect
        assert [step.observation for step in run.steps] == [s.observation for s in other.steps]
        assert not other.states_two_answers
        assert run.outcome.kind == other.outcome.kind
    changed = sum(a.steps != b.steps for a, b in zip(runs, made, strict=True))
    assert changed > 20


def test_sql_that_cannot_be_translated_is_counted_once_and_kept() -> None:
    broken = "SELECT FROM WHERE ("
    steps = [make_step(1, sql=broken), make_step(2, sql=broken)]
    (made,), kept = in_other_sql([make_trajectory(steps=steps)], "postgres")
    assert [step.sql for step in made.steps] == [broken, broken]
    assert kept == 1


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("postgresql://me:geheim@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql://me@host/db?password=geheim&sslmode=require",
         "postgresql://me@host/db?sslmode=require"),
        ("postgresql://host/db?password=geheim", "postgresql://host/db"),
        ("duckdb:////data/hospital.duckdb", "duckdb:////data/hospital.duckdb"),
        ("postgresql:///db", "postgresql:///db"),
    ],
)  # fmt: skip
def test_an_address_loses_its_password_and_nothing_else(address: str, kept: str) -> None:
    assert without_password(address) == kept


@pytest.mark.parametrize(
    ("sql", "postgres"),
    [
        ("SELECT 1 FROM cost WHERE chargetime LIKE '2100%'", "CAST(chargetime AS TEXT) ILIKE"),
        ("SELECT 1 FROM admissions AS a WHERE a.admittime LIKE '2099-11%'", "CAST(a.admittime AS"),
        ("SELECT label FROM d_items WHERE label LIKE '%rate%'", " label ILIKE "),
        ("SELECT date('now')", "DATE(CURRENT_TIMESTAMP)"),
        ("SELECT label FROM d_items WHERE label = 'now'", "label = 'now'"),
    ],
)
def test_habits_of_sqlite_with_times_are_written_out(sql: str, postgres: str) -> None:
    assert postgres in in_dialect(sql, "postgres")
