"""The synthetic hospital: the same for the same seed, and clinically plausible."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital import generator, schema
from sentinel_sql.hospital.benchmark import build_hospital

CLOCK = f"'{schema.CLOCK}'"

NEVER = {
    "an ICU stay outside its admission": f"""
        SELECT 1 FROM icustays AS i JOIN admissions AS a ON a.hadm_id = i.hadm_id
        WHERE i.intime < a.admittime OR i.subject_id <> a.subject_id
        OR COALESCE(i.outtime, {CLOCK}) > COALESCE(a.dischtime, {CLOCK})
        OR i.intime >= COALESCE(i.outtime, {CLOCK})""",
    "an ICU stay still open in a closed admission": """
        SELECT 1 FROM icustays AS i JOIN admissions AS a ON a.hadm_id = i.hadm_id
        WHERE a.dischtime IS NOT NULL AND i.outtime IS NULL""",
    "two ICU stays of an admission at once": """
        SELECT 1 FROM icustays AS i JOIN icustays AS j ON j.hadm_id = i.hadm_id
        WHERE i.stay_id <> j.stay_id AND i.intime <= j.intime AND i.outtime > j.intime""",
    "two admissions of a patient at once": f"""
        SELECT 1 FROM admissions AS a JOIN admissions AS b ON b.subject_id = a.subject_id
        WHERE a.hadm_id <> b.hadm_id AND a.admittime <= b.admittime
        AND COALESCE(a.dischtime, {CLOCK}) >= b.admittime""",
    "an admission after death": """
        SELECT 1 FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id
        WHERE date(a.admittime) > date(p.dod)""",
    "a death in hospital without its date of death": """
        SELECT 1 FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id
        WHERE a.discharge_location = 'died'
        AND (p.dod IS NULL OR date(p.dod) <> date(a.dischtime))""",
    "an age that isn't the one at admission": """
        SELECT 1 FROM admissions AS a JOIN patients AS p ON p.subject_id = a.subject_id
        WHERE ABS((julianday(a.admittime) - julianday(p.dob)) / 365.25 - a.age - 0.5) > 0.51""",
    "a prescription outside its admission": f"""
        SELECT 1 FROM prescriptions AS e JOIN admissions AS a ON a.hadm_id = e.hadm_id
        WHERE e.starttime < a.admittime OR e.starttime > COALESCE(a.dischtime, {CLOCK})
        OR COALESCE(e.stoptime, {CLOCK}) > COALESCE(a.dischtime, {CLOCK})
        OR e.stoptime < e.starttime""",
    "a transfer outside its admission": f"""
        SELECT 1 FROM transfers AS e JOIN admissions AS a ON a.hadm_id = e.hadm_id
        WHERE e.intime < a.admittime OR (e.eventtype <> 'discharge'
        AND COALESCE(e.outtime, {CLOCK}) > COALESCE(a.dischtime, {CLOCK}))""",
    "a man's diagnosis in a woman": """
        SELECT 1 FROM diagnoses_icd AS e JOIN patients AS p ON p.subject_id = e.subject_id
        WHERE e.icd_code = 'icd10|n400' AND p.gender = 'f'""",
    "one lab item twice at one time": """
        SELECT 1 FROM labevents GROUP BY hadm_id, itemid, charttime HAVING COUNT(*) > 1""",
    **{
        f"{table} outside their admission": f"""
            SELECT 1 FROM {table} AS e JOIN admissions AS a ON a.hadm_id = e.hadm_id
            WHERE e.{time} < a.admittime OR e.{time} > COALESCE(a.dischtime, {CLOCK})
            OR e.subject_id <> a.subject_id"""
        for table, time in (
            ("diagnoses_icd", "charttime"),
            ("procedures_icd", "charttime"),
            ("labevents", "charttime"),
            ("microbiologyevents", "charttime"),
            ("cost", "chargetime"),
        )
    },
    **{
        f"{table} outside their ICU stay": f"""
            SELECT 1 FROM {table} AS e JOIN icustays AS i ON i.stay_id = e.stay_id
            WHERE e.{time} < i.intime OR e.{time} > COALESCE(i.outtime, {CLOCK})
            OR e.subject_id <> i.subject_id OR e.hadm_id <> i.hadm_id"""
        for table, time in (
            ("chartevents", "charttime"),
            ("inputevents", "starttime"),
            ("outputevents", "charttime"),
        )
    },
    **{
        f"a cost of {table} that isn't its event's": f"""
            SELECT 1 FROM cost AS c LEFT JOIN {table} AS e ON e.row_id = c.event_id
            WHERE c.event_type = '{table}'
            AND (e.hadm_id IS NULL OR e.hadm_id <> c.hadm_id OR e.{time} <> c.chargetime)"""
        for table, time in (
            ("diagnoses_icd", "charttime"),
            ("procedures_icd", "charttime"),
            ("labevents", "charttime"),
            ("prescriptions", "starttime"),
        )
    },
}


def value(connection: sqlite3.Connection, sql: str) -> float:
    return float(connection.execute(sql).fetchone()[0])


def content(connection: sqlite3.Connection) -> str:
    digest = hashlib.sha256()
    for table in sorted(schema.TABLES):
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY row_id"):
            digest.update(repr(row).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("what", NEVER)
def test_hospital_has_no_impossible_row(hospital: sqlite3.Connection, what: str) -> None:
    assert hospital.execute(NEVER[what]).fetchone() is None


@settings(max_examples=15, deadline=None)
@given(patients=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_no_seed_or_size_gives_an_impossible_row(
    tmp_path_factory: pytest.TempPathFactory, patients: int, seed: int
) -> None:
    path = build_hospital(tmp_path_factory.mktemp("any") / "h.sqlite", patients=patients, seed=seed)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert value(connection, "SELECT COUNT(*) FROM patients") == patients
        happened = [what for what, sql in NEVER.items() if connection.execute(sql).fetchone()]
    path.unlink()
    assert happened == []


def test_same_seed_gives_the_same_bytes(hospital_path: Path, tmp_path: Path) -> None:
    again = build_hospital(tmp_path / "again.sqlite")
    other = build_hospital(tmp_path / "other.sqlite", seed=43)
    assert again.read_bytes() == hospital_path.read_bytes()
    assert other.read_bytes() != hospital_path.read_bytes()


def test_content_is_that_of_the_recorded_runs(hospital: sqlite3.Connection) -> None:
    # independent of the SQLite and NumPy versions; a change here invalidates recorded runs
    assert content(hospital) == "3cab1112b2d8033fd2218181a260c514027c9026636df2409e26c23dfe2a8894"


def test_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    path.write_text("something else")
    build_hospital(path, patients=3)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert value(connection, "SELECT COUNT(*) FROM patients") == 3


def test_schema_is_that_of_ehrsql_2024(hospital_path: Path, mimic_iv: Path) -> None:
    ours, theirs = (_tables(path) for path in (hospital_path, mimic_iv))
    assert ours == theirs


def _tables(path: Path) -> dict[str, object]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {
            table: (
                [
                    row[1:4]
                    for row in connection.execute(f"PRAGMA table_info({table})")
                    if row[1] != "row_id"
                ],
                sorted(row[2:5] for row in connection.execute(f"PRAGMA foreign_key_list({table})")),
            )
            for (table,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            )
        }


def test_only_cost_may_point_into_one_of_several_tables(hospital: sqlite3.Connection) -> None:
    assert {row[0] for row in hospital.execute("PRAGMA foreign_key_check")} <= {"cost"}


def test_every_text_is_lower_case(hospital: sqlite3.Connection) -> None:
    for table in schema.TABLES:
        for column in schema.columns(table):
            raised = f"SELECT 1 FROM {table} WHERE {column} <> LOWER({column}) LIMIT 1"
            assert hospital.execute(raised).fetchone() is None, (table, column)


def test_traps_exist(hospital: sqlite3.Connection) -> None:
    def rows(sql: str) -> float:
        return value(hospital, sql)

    in_hospital = rows("SELECT COUNT(*) FROM admissions WHERE discharge_location = 'died'")
    assert rows("SELECT COUNT(*) FROM patients WHERE dod IS NOT NULL") > in_hospital > 10
    assert rows("SELECT COUNT(*) FROM admissions WHERE dischtime IS NULL") >= 10
    assert rows("SELECT COUNT(*) FROM icustays WHERE outtime IS NULL") >= 5
    several = "SELECT COUNT(*) FROM (SELECT 1 FROM icustays GROUP BY hadm_id HAVING COUNT(*) > 1)"
    assert rows(several) >= 10
    repeated = """SELECT COUNT(*) FROM (SELECT 1 FROM prescriptions
        GROUP BY subject_id, drug HAVING COUNT(*) > 1)"""
    assert rows(repeated) >= 100
    assert rows("SELECT COUNT(DISTINCT valueuom) FROM labevents") >= 10
    assert rows("SELECT COUNT(*) FROM labevents WHERE valuenum IS NULL") >= 50
    assert rows("SELECT COUNT(*) FROM admissions WHERE marital_status IS NULL") >= 3


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_hospital(tmp_path_factory.mktemp("many") / "h.sqlite", patients=600)


def test_drugs_follow_diagnoses(many: Path) -> None:
    share = """SELECT AVG(EXISTS (SELECT 1 FROM prescriptions AS r
        WHERE r.hadm_id = a.hadm_id AND r.drug = 'levothyroxine sodium')) FROM admissions AS a
        WHERE a.hadm_id {} (SELECT hadm_id FROM diagnoses_icd WHERE icd_code = 'icd10|e039')"""
    with contextlib.closing(sqlite3.connect(many)) as connection:
        assert value(connection, share.format("IN")) > 0.5
        assert value(connection, share.format("NOT IN")) < 0.05


def test_lab_values_show_the_disease_and_recover_in_survivors(many: Path) -> None:
    mean = """SELECT AVG(e.valuenum) FROM labevents AS e
        JOIN d_labitems AS d ON d.itemid = e.itemid
        JOIN admissions AS a ON a.hadm_id = e.hadm_id WHERE d.label = 'creatinine, serum'
        AND a.discharge_location {} 'died' AND e.hadm_id {} (SELECT hadm_id FROM diagnoses_icd
        WHERE icd_code = 'icd10|n186') AND julianday(e.charttime) - julianday(a.admittime) {}"""
    with contextlib.closing(sqlite3.connect(many)) as connection:
        early = value(connection, mean.format("<>", "IN", "< 1"))
        late = value(connection, mean.format("<>", "IN", "> 5"))
        others = value(connection, mean.format("<>", "NOT IN", "< 1"))
    assert early > 1.5 * others
    assert late < early


def test_each_patient_has_an_own_level(many: Path) -> None:
    spread = """SELECT AVG(m * m) - AVG(m) * AVG(m) FROM (SELECT AVG(e.valuenum) AS m
        FROM labevents AS e JOIN d_labitems AS d ON d.itemid = e.itemid
        WHERE d.label = 'mcv' GROUP BY {} HAVING COUNT(*) >= 4)"""
    with contextlib.closing(sqlite3.connect(many)) as connection:
        between_patients = value(connection, spread.format("e.subject_id"))
        between_days = value(connection, spread.format("e.row_id % 400"))
    assert between_patients > 3 * between_days


@pytest.mark.parametrize("patients", [0, -1, 1_000_001])
def test_size_out_of_range_is_refused(tmp_path: Path, patients: int) -> None:
    with pytest.raises(InputError, match="1 to 1,000,000 patients"):
        build_hospital(tmp_path / "h.sqlite", patients=patients)
    assert list(tmp_path.iterdir()) == []


def test_unwritable_path_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match=r"file/h\.sqlite"):
        build_hospital(tmp_path / "file" / "h.sqlite", patients=1)


def test_failed_build_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(generator, "_fill", broken)
    with pytest.raises(DatabaseError, match="disk"):
        build_hospital(tmp_path / "h.sqlite", patients=1)
    assert list(tmp_path.iterdir()) == []


def test_the_executor_knows_the_clock(hospital_path: Path) -> None:
    from sentinel_sql.database.sqlite.database import SqliteDatabase

    database = SqliteDatabase.open(hospital_path)
    try:
        assert (database.name, database.clock) == (schema.DATABASE, schema.CLOCK)
    finally:
        database.close()


@pytest.mark.slow
def test_ten_thousand_patients_in_two_minutes_and_a_gigabyte(tmp_path: Path) -> None:
    # processor time of one core: what others run on the machine is not the generator's
    begun = time.process_time()
    path = build_hospital(tmp_path / "h.sqlite", patients=10_000)
    assert time.process_time() - begun <= 120
    assert path.stat().st_size <= 1_000_000_000
