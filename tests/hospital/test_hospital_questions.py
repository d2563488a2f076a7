"""The questions over the hospital: what they promise of golds, slots, wordings and leakage."""

from __future__ import annotations

import hashlib
import random
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import sqlglot
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline, make_union
from sqlglot import exp

from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital import schema
from sentinel_sql.hospital.benchmark import (
    ANSWERABLE,
    UNANSWERABLE,
    benchmark_questions,
    build_hospital,
    write_questions,
)
from sentinel_sql.hospital.catalog import SPOKEN
from sentinel_sql.hospital.fill import has_content, render
from sentinel_sql.hospital.slots import SLOTS
from sentinel_sql.hospital.templates.template import Kind
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question

KINDS = {template.name: template.kind for template in UNANSWERABLE}
TIERS = {template.name: template.tier for template in ANSWERABLE}


def close(ours: list[tuple[object, ...]], theirs: list[tuple[object, ...]]) -> bool:
    """Same rows in any order; numbers to nine digits, since a sum depends on its order."""

    def rounded(rows: list[tuple[object, ...]]) -> list[str]:
        return sorted(
            repr([float(f"{c:.9g}") if isinstance(c, float) else c for c in row]) for row in rows
        )

    return rounded(ours) == rounded(theirs)


def test_there_are_enough_templates_and_wordings() -> None:
    assert len(ANSWERABLE) >= 150
    assert len(UNANSWERABLE) >= 60
    names = [template.name for template in (*ANSWERABLE, *UNANSWERABLE)]
    assert len(set(names)) == len(names)
    for template in (*ANSWERABLE, *UNANSWERABLE):
        assert len(set(template.wordings)) >= 5, template.name


def test_wordings_use_the_slots_that_the_sql_uses(hospital: sqlite3.Connection) -> None:
    for template in (*ANSWERABLE, *UNANSWERABLE):
        filled = set()
        for slot in template.slots:
            name = slot.rstrip("2")
            columns = [c[0] for c in hospital.execute(SLOTS[name]).description]
            filled |= {column + slot[len(name) :] for column in columns}
        sql = template.sql if hasattr(template, "sql") else ""
        used = set(re.findall(r"(?<![\w'%:]):([a-z_]\w*)", sql))
        for wording in template.wordings:
            said = set(re.findall(r"{(\w+)}", wording))
            assert said <= filled, template.name
            assert used <= said, (template.name, wording)


def test_every_table_has_questions() -> None:
    asked = {
        table.name
        for template in ANSWERABLE
        for table in sqlglot.parse_one(
            re.sub(r":[a-z_]\w*", "0", template.sql), dialect="sqlite"
        ).find_all(exp.Table)
    }
    assert asked == set(schema.TABLES)


def test_default_benchmark_has_its_size_and_shares(benchmark: list[Question]) -> None:
    assert len(benchmark) == 1000
    assert sum(not question.answerable for question in benchmark) == 200
    tiers = Counter(TIERS[q.template] for q in benchmark if q.answerable and q.template)
    assert tiers == {"single": 320, "join": 360, "harder": 120}
    assert {q.template for q in benchmark} == set(TIERS) | set(KINDS)
    assert set(KINDS.values()) == set(get_args(Kind))
    assert len({q.id for q in benchmark}) == len({q.text for q in benchmark}) == 1000
    assert all(re.fullmatch(r"h-[0-9a-f]{10}", q.id) for q in benchmark)
    assert {q.database for q in benchmark} == {schema.DATABASE}


def test_ids_and_golds_are_those_of_the_recorded_runs(benchmark: list[Question]) -> None:
    # a change here invalidates recorded runs: their questions would be others
    text = "\n".join(f"{q.id} {q.text} {q.gold_sql}" for q in benchmark)
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "a623b0f25522a6ae701acb107bb20f834552b00de0744119860e5206ee1732e5"
    )


def test_smaller_benchmark_is_part_of_the_larger(
    hospital_path: Path, benchmark: list[Question]
) -> None:
    small = benchmark_questions(hospital_path, size=300)
    assert len(small) == 300
    assert set(small) <= set(benchmark)


def test_other_seeds_give_other_questions(hospital_path: Path, benchmark: list[Question]) -> None:
    other = benchmark_questions(hospital_path, seed=7, size=200)
    shared = {q.id for q in other} & {q.id for q in benchmark}
    assert len(shared) < 60


def test_every_gold_runs_and_is_reproducible(
    hospital_path: Path, benchmark: list[Question], tmp_path: Path
) -> None:
    before = hospital_path.read_bytes()
    databases = [
        SqliteDatabase.open(hospital_path),
        SqliteDatabase.open(build_hospital(tmp_path / "hospital.sqlite")),
    ]
    try:
        for question in benchmark:
            if question.gold_sql is None:
                continue
            first, second, third = (
                database.execute(question.gold_sql) for database in (databases[0], *databases)
            )
            assert first.kind == "rows", (question.id, first.error)
            assert not first.truncated
            assert first.rows == second.rows == third.rows, question.id
    finally:
        for database in databases:
            database.close()
    assert hospital_path.read_bytes() == before


def test_no_gold_depends_on_the_order_of_rows(
    hospital: sqlite3.Connection, benchmark: list[Question]
) -> None:
    for question in benchmark:
        if question.gold_sql is None:
            continue
        straight = hospital.execute(question.gold_sql).fetchall()
        hospital.execute("PRAGMA reverse_unordered_selects = ON")
        reverse = hospital.execute(question.gold_sql).fetchall()
        hospital.execute("PRAGMA reverse_unordered_selects = OFF")
        assert close(straight, reverse), question.gold_sql


def test_few_answers_are_empty(hospital: sqlite3.Connection, benchmark: list[Question]) -> None:
    golds = [q.gold_sql for q in benchmark if q.gold_sql]
    answers = [(gold, hospital.execute(gold).fetchall()) for gold in golds]
    assert all(any(cell is not None for row in rows for cell in row) for _, rows in answers)
    yes_no = [rows[0][0] for gold, rows in answers if "COUNT(*) > 0" in gold]
    assert 0 < sum(yes_no) < len(yes_no)
    zero = sum(not has_content(rows) for gold, rows in answers if "COUNT(*) > 0" not in gold)
    assert zero <= 0.03 * len(golds)


def test_spoken_values_mean_one_stored_value() -> None:
    for slot, table in SPOKEN.items():
        assert len(set(table.values())) == len(table), slot


def test_many_stored_values_must_be_looked_up(benchmark: list[Question]) -> None:
    hidden = [
        stored
        for slot, table in SPOKEN.items()
        if slot not in ("gender", "ward")
        for stored, said in table.items()
        if stored not in said
    ]
    asked = [q for q in benchmark if q.gold_sql and any(f"'{v}'" in q.gold_sql for v in hidden)]
    assert len(asked) >= 250


@pytest.fixture(scope="module")
def stored_text(hospital: sqlite3.Connection) -> str:
    found = set(schema.TABLES)
    for table in schema.TABLES:
        for column in schema.columns(table):
            found.add(column)
            values = f"""SELECT DISTINCT {column} FROM {table} WHERE typeof({column}) = 'text'
                AND {column} NOT LIKE '____-__-__ __:__:__'"""
            found |= {value for (value,) in hospital.execute(values)}
    return "\n".join(found)


@pytest.mark.parametrize("template", UNANSWERABLE, ids=lambda template: template.name)
def test_needs_of_unanswerable_questions_are_missing(
    template: object, stored_text: str, hospital: sqlite3.Connection
) -> None:
    assert template in UNANSWERABLE
    assert len(template.why.split()) >= 4
    assert template.needs
    for need in template.needs:
        if need.startswith("SELECT"):
            for values in _fillings(template.slots, hospital):
                assert hospital.execute(render(need, values)).fetchone() is None, need
        elif not need.startswith("referent: "):
            words = re.compile(rf"(?<![a-z]){re.escape(need)}s?(?![a-z])")
            assert not words.search(stored_text), need


def _fillings(slots: tuple[str, ...], hospital: sqlite3.Connection) -> list[dict[str, object]]:
    draw = random.Random(0)
    fillings: list[dict[str, object]] = [{} for _ in range(40)]
    for slot in slots:
        cursor = hospital.execute(SLOTS[slot])
        names = [c[0] for c in cursor.description]
        rows = cursor.fetchall()
        for filling in fillings:
            filling |= dict(zip(names, rows[int(draw.random() * len(rows))], strict=True))
    return fillings


def test_ambiguous_question_names_no_referent_of_its_kind() -> None:
    naming = {"the patient": "{patient}", "the ICU stay": "{stay}", "the lab test": "{lab}",
              "the drug": "{drug}"}  # fmt: skip
    for template in UNANSWERABLE:
        if template.kind != "ambiguous-referent":
            continue
        missing = [need.removeprefix("referent: ") for need in template.needs]
        for wording in template.wordings:
            assert all(naming[what] not in wording for what in missing)


def test_absent_identifiers_are_absent_from_any_hospital(tmp_path: Path) -> None:
    for patients in (1, 3, 700):
        path = build_hospital(tmp_path / "h.sqlite", patients=patients, seed=patients)
        connection = sqlite3.connect(path)
        for slot, column, table in (
            ("absent_patient", "subject_id", "patients"),
            ("absent_hadm", "hadm_id", "admissions"),
            ("absent_stay", "stay_id", "icustays"),
        ):
            absent = {row[0] for row in connection.execute(SLOTS[slot])}
            assert absent
            assert not absent & {r[0] for r in connection.execute(f"SELECT {column} FROM {table}")}
        connection.close()


def test_wording_hardly_predicts_answerability(benchmark: list[Question]) -> None:
    texts = np.array([q.text for q in benchmark])
    unanswerable = np.array([not q.answerable for q in benchmark])
    templates = np.array([q.template for q in benchmark])
    scores = np.zeros(len(texts))
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(texts, unanswerable, templates):
        model = make_pipeline(
            make_union(
                TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
                TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True),
            ),
            LogisticRegression(C=4.0, max_iter=2000, class_weight="balanced"),
        )
        model.fit(texts[train], unanswerable[train])
        scores[test] = model.predict_proba(texts[test])[:, 1]
    assert roc_auc_score(unanswerable, scores) <= 0.85
    for length in ([len(t) for t in texts], [len(t.split()) for t in texts]):
        assert 0.4 <= roc_auc_score(unanswerable, length) <= 0.6


def test_written_questions_are_read_back_the_same(
    benchmark: list[Question], tmp_path: Path
) -> None:
    path = write_questions(benchmark, tmp_path / "questions.jsonl")
    assert list(read_questions([path])) == benchmark
    assert path.read_text().count('"kind"') == 200


def test_bad_input_is_refused(hospital_path: Path, tmp_path: Path) -> None:
    for size in (3, 10_001):
        with pytest.raises(InputError, match="10 to 10,000 questions"):
            benchmark_questions(hospital_path, size=size)
    with pytest.raises(DatabaseError, match="no hospital"):
        benchmark_questions(tmp_path / "none.sqlite")
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(DatabaseError, match="isn't a hospital"):
        benchmark_questions(tmp_path / "empty.sqlite")


def test_too_few_questions_are_an_error(
    hospital_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(t for t in UNANSWERABLE if t.name == "patients-of-blood-group")
    monkeypatch.setattr("sentinel_sql.hospital.benchmark.UNANSWERABLE", few)
    with pytest.raises(InputError, match=r"only \d+ of 400 such questions: .*more --patients"):
        benchmark_questions(hospital_path, size=2000)
