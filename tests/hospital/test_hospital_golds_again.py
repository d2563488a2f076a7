"""Golds against a second way to the answer: plain Python over the rows, written apart from them."""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import pytest

from sentinel_sql.hospital import schema
from sentinel_sql.hospital.benchmark import ANSWERABLE
from sentinel_sql.hospital.fill import Filler

Row = Any
Tables = dict[str, list[Row]]
FILLINGS = 4


@pytest.fixture(scope="module")
def tables(hospital: sqlite3.Connection) -> Tables:
    """Every table as named tuples; coded and itemized events carry their title or label too."""
    found: Tables = {}
    for table in schema.TABLES:
        kind = NamedTuple(table, [(c, Any) for c in schema.columns(table)])  # type: ignore[misc]
        found[table] = [kind(*row) for row in hospital.execute(f"SELECT * FROM {table}")]
    return found


def day(text: str) -> float:
    return (datetime.fromisoformat(text) - datetime(2000, 1, 1)).total_seconds() / 86_400


def year(text: str | None) -> str | None:
    return text and text[:4]


def month(text: str) -> str:
    return text[:7]


def of(rows: list[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]


def by(rows: list[Row], key: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, key)].append(row)
    return groups


def mean(numbers: list[float | None]) -> float | None:
    known = [n for n in numbers if n is not None]
    return sum(known) / len(known) if known else None


def patients(rows: list[Row]) -> int:
    return len({row.subject_id for row in rows})


def coded(t: Tables, what: str, title: str) -> list[Row]:
    codes = {d.icd_code for d in t[f"d_icd_{what}"] if d.long_title == title}
    return [e for e in t[f"{what}_icd"] if e.icd_code in codes]


def lab(t: Tables, label: str, **wanted: object) -> list[Row]:
    items = {d.itemid for d in t["d_labitems"] if d.label == label}
    return sorted(
        (e for e in of(t["labevents"], **wanted) if e.itemid in items), key=lambda e: e.charttime
    )


def item(t: Tables, table: str, label: str, **wanted: object) -> list[Row]:
    items = {d.itemid for d in t["d_items"] if d.label == label}
    return [e for e in of(t[table], **wanted) if e.itemid in items]


def known(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.valuenum is not None]


def top(counts: dict[Any, float], k: int) -> list[Any]:
    return sorted(counts, key=lambda key: -counts[key])[:k]


def people(t: Tables, **wanted: object) -> set[int]:
    return {p.subject_id for p in of(t["patients"], **wanted)}


def died(t: Tables) -> set[int]:
    return {p.subject_id for p in t["patients"] if p.dod is not None}


def stays(t: Tables, unit: str) -> list[Row]:
    return of(t["icustays"], first_careunit=unit)


def length(stay: Row) -> float | None:
    return None if stay.outtime is None else day(stay.outtime) - day(stay.intime)


def hadms(t: Tables, **wanted: object) -> set[int]:
    return {a.hadm_id for a in of(t["admissions"], **wanted)}


def charged(t: Tables, table: str, rows: list[Row]) -> list[Row]:
    events = {row.row_id for row in rows}
    return [c for c in of(t["cost"], event_type=table) if c.event_id in events]


def readmitted(t: Tables, window: int) -> int:
    return len(
        {
            a.subject_id
            for group in by(t["admissions"], "subject_id").values()
            for a, b in itertools.permutations(group, 2)
            if a.dischtime and 0 < day(b.admittime) - day(a.dischtime) <= window + 1e-9
        }
    )


AGAIN: dict[str, Callable[..., Any]] = {
    "deaths-in-year": lambda t, year_: sum(year(p.dod) == year_ for p in t["patients"]),
    "alive-of-gender": lambda t, gender: len(people(t, gender=gender) - died(t)),
    "oldest-of-gender": lambda t, gender: (
        min(of(t["patients"], gender=gender), key=lambda p: (p.dob, p.subject_id)).subject_id
    ),
    "patients-admitted-in-month": lambda t, month_: patients(
        [a for a in t["admissions"] if month(a.admittime) == month_]
    ),
    "died-in-hospital": lambda t, year_: sum(
        a.discharge_location == "died" and year(a.dischtime) == year_ for a in t["admissions"]
    ),
    "destination-of-last-discharge": lambda t, patient: (
        max(
            (a for a in of(t["admissions"], subject_id=patient) if a.dischtime),
            key=lambda a: a.dischtime,
        ).discharge_location
    ),
    "length-of-admission": lambda t, hadm: next(
        day(a.dischtime) - day(a.admittime) for a in of(t["admissions"], hadm_id=hadm)
    ),
    "admitted-more-than": lambda t, times: sum(
        n > times for n in Counter(a.subject_id for a in t["admissions"]).values()
    ),
    "patient-is-here": lambda t, patient: int(
        any(a.dischtime is None for a in of(t["admissions"], subject_id=patient))
    ),
    "dead-of-insurance": lambda t, insurance: len(
        {a.subject_id for a in of(t["admissions"], insurance=insurance)} & died(t)
    ),
    "died-after-discharge-to": lambda t, destination: sum(
        any(
            p.dod and p.dod > a.dischtime
            for a in of(t["admissions"], subject_id=p.subject_id, discharge_location=destination)
        )
        for p in t["patients"]
    ),
    "in-hospital-mortality": lambda t, type_: mean(
        [
            100.0 * (a.discharge_location == "died")
            for a in of(t["admissions"], admission_type=type_)
            if a.dischtime
        ]
    ),
    "readmitted-within": readmitted,
    "days-between-first-two": lambda t, patient: (lambda times: day(times[1]) - day(times[0]))(
        sorted(a.admittime for a in of(t["admissions"], subject_id=patient))
    ),
    "admitted-in-both-years": lambda t, gender: sum(
        {"2099", "2100"}
        <= {year(a.admittime) for a in of(t["admissions"], subject_id=p.subject_id)}
        for p in of(t["patients"], gender=gender)
    ),
    "hours-of-stay": lambda t, stay: 24 * length(of(t["icustays"], stay_id=stay)[0]),  # type: ignore[operator]
    "mean-days-in-unit": lambda t, icu: mean([length(s) for s in stays(t, icu)]),
    "longest-in-unit": lambda t, icu: (
        max(
            (s for s in stays(t, icu) if s.outtime),
            key=length,  # type: ignore[arg-type,return-value]
        ).stay_id
    ),
    "last-unit-of-patient": lambda t, patient: (
        max(of(t["icustays"], subject_id=patient), key=lambda s: s.intime).last_careunit
    ),
    "last-ward-of-patient": lambda t, patient: (
        max(
            (x for x in of(t["transfers"], subject_id=patient) if x.careunit),
            key=lambda x: x.intime,
        ).careunit
    ),
    "admissions-without-icu": lambda t, type_: len(
        hadms(t, admission_type=type_) - {s.hadm_id for s in t["icustays"]}
    ),
    "dead-of-unit": lambda t, icu: len({s.subject_id for s in stays(t, icu)} & died(t)),
    "age-in-unit": lambda t, icu: mean(
        [of(t["admissions"], hadm_id=s.hadm_id)[0].age for s in stays(t, icu)]
    ),
    "several-stays-one-admission": lambda t, type_: sum(
        n > 1
        for hadm, n in Counter(s.hadm_id for s in t["icustays"]).items()
        if hadm in hadms(t, admission_type=type_)
    ),
    "top-units": lambda t, k, year_: top(
        Counter(s.first_careunit for s in t["icustays"] if year(s.intime) == year_), k
    ),
    "hours-to-icu": lambda t, hadm: (
        24
        * (
            day(min(s.intime for s in of(t["icustays"], hadm_id=hadm)))
            - day(of(t["admissions"], hadm_id=hadm)[0].admittime)
        )
    ),
    "patients-with-diagnosis": lambda t, diagnosis: patients(coded(t, "diagnoses", diagnosis)),
    "first-time-diagnosed": lambda t, patient, diagnosis: min(
        e.charttime for e in of(coded(t, "diagnoses", diagnosis), subject_id=patient)
    ),
    "times-procedure-in-year": lambda t, procedure, year_: sum(
        year(e.charttime) == year_ for e in coded(t, "procedures", procedure)
    ),
    "two-diagnoses": lambda t, diagnosis, diagnosis2: len(
        {e.subject_id for e in coded(t, "diagnoses", diagnosis)}
        & {e.subject_id for e in coded(t, "diagnoses", diagnosis2)}
    ),
    "age-with-diagnosis": lambda t, diagnosis: mean(
        [
            a.age
            for a in t["admissions"]
            if a.hadm_id in {e.hadm_id for e in coded(t, "diagnoses", diagnosis)}
        ]
    ),
    "top-procedures": lambda t, k, year_: top(
        Counter(
            d.long_title
            for e in t["procedures_icd"]
            for d in of(t["d_icd_procedures"], icd_code=e.icd_code)
            if year(e.charttime) == year_
        ),
        k,
    ),
    "last-lab-value": lambda t, patient, lab_: known(lab(t, lab_, subject_id=patient))[-1].valuenum,
    "first-lab-value": lambda t, patient, lab_: known(lab(t, lab_, subject_id=patient))[0].valuenum,
    "time-of-highest-lab": lambda t, patient, lab_: (
        max(known(lab(t, lab_, subject_id=patient)), key=lambda e: e.valuenum).charttime
    ),
    "patients-above": lambda t, lab_, threshold: patients(
        [e for e in known(lab(t, lab_)) if e.valuenum > threshold]
    ),
    "results-above": lambda t, lab_, threshold: sum(
        e.valuenum > threshold for e in known(lab(t, lab_))
    ),
    "lab-change-in-admission": lambda t, hadm, lab_: (lambda v: v[-1].valuenum - v[0].valuenum)(
        known(lab(t, lab_, hadm_id=hadm))
    ),
    "mean-lab-with-diagnosis": lambda t, lab_, diagnosis: mean(
        [
            e.valuenum
            for e in lab(t, lab_)
            if e.hadm_id in {x.hadm_id for x in coded(t, "diagnoses", diagnosis)}
        ]
    ),
    "top-lab-patients": lambda t, k, lab_: top(
        {
            patient: max(e.valuenum for e in rows)
            for patient, rows in by(known(lab(t, lab_)), "subject_id").items()
        },
        k,
    ),
    "positive-share": lambda t, specimen: mean(
        [
            100.0 * (m.org_name is not None)
            for m in of(t["microbiologyevents"], spec_type_desc=specimen)
        ]
    ),
    "last-organism-of-patient": lambda t, patient, specimen: (
        max(
            (
                m
                for m in of(t["microbiologyevents"], subject_id=patient, spec_type_desc=specimen)
                if m.org_name
            ),
            key=lambda m: m.charttime,
        ).org_name
    ),
    "prescriptions-of-drug": lambda t, drug: len(of(t["prescriptions"], drug=drug)),
    "patients-on-drug": lambda t, drug: patients(of(t["prescriptions"], drug=drug)),
    "last-dose-of-drug": lambda t, patient, drug: (
        max(
            of(t["prescriptions"], subject_id=patient, drug=drug), key=lambda r: r.starttime
        ).dose_val_rx
    ),
    "top-drugs": lambda t, k, year_: top(
        Counter(r.drug for r in t["prescriptions"] if year(r.starttime) == year_), k
    ),
    "largest-dose": lambda t, drug: max(
        float(r.dose_val_rx) for r in of(t["prescriptions"], drug=drug)
    ),
    "over-age-on-drug": lambda t, age, drug: len(
        {
            a.subject_id
            for a in t["admissions"]
            if a.age > age and of(t["prescriptions"], hadm_id=a.hadm_id, drug=drug)
        }
    ),
    "inpatients-on-drug": lambda t, drug: patients(
        [
            a
            for a in of(t["admissions"], dischtime=None)
            if of(t["prescriptions"], hadm_id=a.hadm_id, drug=drug)
        ]
    ),
    "two-drugs": lambda t, drug, drug2: patients(
        [
            r
            for r in of(t["prescriptions"], drug=drug)
            if of(t["prescriptions"], hadm_id=r.hadm_id, drug=drug2)
        ]
    ),
    "mean-cost-of-drug": lambda t, drug: mean(
        [c.cost for c in charged(t, "prescriptions", of(t["prescriptions"], drug=drug))]
    ),
    "cost-of-procedure": lambda t, procedure: mean(
        [c.cost for c in charged(t, "procedures_icd", coded(t, "procedures", procedure))]
    ),
    "costliest-patients": lambda t, k, year_: top(
        {
            patient: sum(c.cost for c in rows if year(c.chargetime) == year_)
            for patient, rows in by(t["cost"], "subject_id").items()
        },
        k,
    ),
    "mean-admission-cost": lambda t, type_: mean(
        [
            sum(c.cost for c in rows)
            for hadm, rows in by(t["cost"], "hadm_id").items()
            if hadm in hadms(t, admission_type=type_)
        ]
    ),
    "last-vital-value": lambda t, patient, vital: (
        max(
            known(item(t, "chartevents", vital, subject_id=patient)), key=lambda e: e.charttime
        ).valuenum
    ),
    "mean-vital-of-stay": lambda t, stay, vital: mean(
        [e.valuenum for e in item(t, "chartevents", vital, stay_id=stay)]
    ),
    "intake-total-of-stay": lambda t, stay, intake: sum(
        e.totalamount for e in item(t, "inputevents", intake, stay_id=stay)
    ),
    "fluid-balance": lambda t, stay: (
        sum(e.totalamount for e in of(t["inputevents"], stay_id=stay, totalamountuom="ml"))
        - sum(e.value for e in of(t["outputevents"], stay_id=stay))
    ),
    "vital-above-in-unit": lambda t, icu, vital, threshold: len(
        {s.stay_id for s in stays(t, icu)}
        & {e.stay_id for e in known(item(t, "chartevents", vital)) if e.valuenum > threshold}
    ),
    "mean-vital-of-gender": lambda t, gender, vital: mean(
        [
            e.valuenum
            for e in item(t, "chartevents", vital)
            if e.subject_id in people(t, gender=gender)
        ]
    ),
}
"""By template: the answer from the tables and the slots' values; `year`, `month`, `lab` and `type`
end in an underscore here."""

TEMPLATES = {template.name: template for template in ANSWERABLE}


def test_enough_golds_have_a_second_computation() -> None:
    assert len(AGAIN) >= 30
    assert set(AGAIN) <= set(TEMPLATES)
    assert {TEMPLATES[name].tier for name in AGAIN} == {"single", "join", "harder"}


@pytest.mark.parametrize("name", AGAIN)
def test_gold_equals_a_second_computation(
    name: str, hospital: sqlite3.Connection, tables: Tables
) -> None:
    fillings = list(
        itertools.islice(Filler(connection=hospital, seed=5).fill(TEMPLATES[name]), FILLINGS)
    )
    assert fillings
    for filled in fillings:
        assert filled.gold_sql is not None
        rows = hospital.execute(filled.gold_sql).fetchall()
        slots = {
            slot + "_" if slot in ("year", "month", "lab", "type") else slot: value
            for slot, value in filled.values.items()
        }
        answer = AGAIN[name](tables, **slots)
        expected = [(cell,) for cell in answer] if isinstance(answer, list) else [(answer,)]
        if isinstance(answer, float):
            assert rows[0][0] == pytest.approx(answer, abs=1e-6), filled.gold_sql
        else:
            assert rows == expected, filled.gold_sql
