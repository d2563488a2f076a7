"""The generator of diagnoses, procedures, prescriptions, cultures and their costs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sentinel_sql.hospital import catalog, conditions
from sentinel_sql.hospital.draws import (
    HOUR,
    MINUTE,
    Bools,
    Draws,
    Floats,
    Ints,
    cube,
    insert,
    inside,
    stamps,
    words_of,
)
from sentinel_sql.hospital.patients import Admissions


@dataclass(frozen=True, kw_only=True, slots=True)
class Costs:
    """The costs of some events: their table, and the admission, time and amount of each event."""

    table: str
    admission: Ints
    time: Ints
    amount: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnoses:
    """The diagnoses of each admission, shape (admissions, diagnoses), and their costs."""

    present: Bools
    cost: Costs


def diagnose(connection: sqlite3.Connection, draws: Draws, admissions: Admissions) -> Diagnoses:
    """Write the diagnoses of each admission: those of its condition, and common ones."""
    codes = [c.code.partition("|")[2] for c in catalog.DIAGNOSES]
    place = {code: i for i, code in enumerate(codes)}
    shares = np.zeros((len(conditions.CONDITIONS), len(codes)))
    for name, share in conditions.BACKGROUND.items():
        shares[:, place[name]] = share
    for row, condition in enumerate(conditions.CONDITIONS):
        for name in condition.others:
            shares[row, place[name]] = max(0.42, shares[row, place[name]])
        shares[row, place[condition.principal]] = 1.0
    size = len(admissions.hadm)
    # A patient's diagnosis is mostly coded again in later admissions. So there is one draw for a
    # patient, and another for each admission.
    patients = int(admissions.patient.max()) + 1
    standing = draws.uniform(patients, len(codes))[admissions.patient]
    fresh = draws.uniform(size, len(codes))
    present = (
        np.where(draws.uniform(size, len(codes)) < 0.75, standing, fresh)
        < shares[admissions.condition]
    )
    for name in conditions.MALE_ONLY:
        present[:, place[name]] &= admissions.male
    for name, age in conditions.OLDEST_ONLY.items():
        present[:, place[name]] &= admissions.age >= age
    index, code = np.nonzero(present)
    at = admissions.recorded_until[index] - draws.below(120, len(index)) * MINUTE
    at = np.maximum(at, admissions.start[index])
    # All diagnoses of an admission are coded at one time, near its recorded end.
    at = at[np.searchsorted(index, index)]
    insert(
        connection, "diagnoses_icd", admissions.subject[index], admissions.hadm[index],
        words_of(code, [c.code for c in catalog.DIAGNOSES]), stamps(at),
    )  # fmt: skip
    amount = 4.0 + 9.0 * draws.uniform(len(index))
    cost = Costs(table="diagnoses_icd", admission=index, time=at, amount=amount)
    return Diagnoses(present=present, cost=cost)


def operate(connection: sqlite3.Connection, draws: Draws, admissions: Admissions) -> Costs:
    """Write procedures, most of them those of the condition."""
    codes = [c.code.partition("|")[2] for c in catalog.PROCEDURES]
    place = {code: i for i, code in enumerate(codes)}
    shares = np.full((len(conditions.CONDITIONS), len(codes)), 0.006)
    shares[:, [place["3893"], place["3891"], place["9904"]]] = (0.22, 0.12, 0.10)
    for row, condition in enumerate(conditions.CONDITIONS):
        for name in condition.procedures:
            shares[row, place[name]] = max(0.45, shares[row, place[name]])
    done = draws.uniform(len(admissions.hadm), len(codes)) < shares[admissions.condition]
    index, code = np.nonzero(done)
    repeats = 1 + (2.2 * cube(draws.uniform(len(index)))).astype(np.int64)
    index, code = np.repeat(index, repeats), np.repeat(code, repeats)
    at = inside(draws, admissions.start[index], admissions.recorded_until[index])
    insert(
        connection, "procedures_icd", admissions.subject[index], admissions.hadm[index],
        words_of(code, [c.code for c in catalog.PROCEDURES]), stamps(at),
    )  # fmt: skip
    amount = (40.0 + 20.0 * (code % 11)) * (0.8 + 0.9 * draws.uniform(len(index)))
    return Costs(table="procedures_icd", admission=index, time=at, amount=amount)


def prescribe(
    connection: sqlite3.Connection,
    draws: Draws,
    admissions: Admissions,
    present: Bools,
) -> Costs:
    """Write prescriptions: those of the condition, those of the diagnoses, and common ones."""
    drugs = catalog.DRUGS
    place = {drug.label: i for i, drug in enumerate(drugs)}
    share = np.array([drug.share for drug in drugs]) * 0.8
    shares = np.tile(share, (len(conditions.CONDITIONS), 1))
    for row, condition in enumerate(conditions.CONDITIONS):
        for label in condition.drugs:
            shares[row, place[label]] = max(0.6, shares[row, place[label]])
    codes = [c.code.partition("|")[2] for c in catalog.DIAGNOSES]
    follows = np.zeros((len(codes), len(drugs)), dtype=np.int64)
    for code, labels in conditions.TREATMENTS.items():
        for label in labels.split("; "):
            follows[codes.index(code), place[label]] = 1
    treated = (present.astype(np.int64) @ follows) > 0
    chance = np.where(treated, 0.7, shares[admissions.condition])
    index, drug = np.nonzero(draws.uniform(len(admissions.hadm), len(drugs)) < chance)
    repeats = 1 + (3.2 * cube(draws.uniform(len(index)))).astype(np.int64)
    index, drug = np.repeat(index, repeats), np.repeat(drug, repeats)
    size = len(index)
    start = inside(draws, admissions.start[index], admissions.recorded_until[index]) // HOUR * HOUR
    start = np.maximum(start, admissions.start[index])
    length = (6 + draws.below(90, size)) * HOUR
    stop = np.minimum(start + length, admissions.end[index])
    factor = np.array((0.5, 1.0, 1.0, 1.0, 1.0, 2.0))[draws.below(6, size)]
    dose = np.array([d.dose for d in drugs])[drug] * factor
    insert(
        connection, "prescriptions", admissions.subject[index], admissions.hadm[index],
        stamps(start), stamps(stop), words_of(drug, [d.label for d in drugs]),
        [f"{amount:g}" for amount in dose.tolist()], words_of(drug, [d.unit for d in drugs]),
        words_of(drug, [d.route for d in drugs]),
    )  # fmt: skip
    price = np.array([d.price for d in drugs])[drug]
    amount = price * factor * (0.9 + 0.2 * draws.uniform(size))
    return Costs(table="prescriptions", admission=index, time=start, amount=amount)


def culture(connection: sqlite3.Connection, draws: Draws, admissions: Admissions) -> None:
    """Write microbiology, with more growth in infected patients."""
    tests = catalog.MICRO_TESTS
    infected = np.array(
        [
            set(c.drugs) & {"vancomycin", "ceftriaxone", "cefepime"} != set()
            for c in conditions.CONDITIONS
        ]
    )[admissions.condition]
    share = np.array([s for _, _, s in tests]) * np.where(infected, 1.4, 0.6)[:, None]
    size = len(admissions.hadm)
    index, test = np.nonzero(draws.uniform(size, len(tests)) < share)
    repeats = 1 + (3.4 * cube(draws.uniform(len(index)))).astype(np.int64)
    index, test = np.repeat(index, repeats), np.repeat(test, repeats)
    at = inside(draws, admissions.start[index], admissions.recorded_until[index])
    grew = draws.uniform(len(index)) < np.where(infected[index], 0.42, 0.16)
    which = draws.uniform(len(index)).tolist()
    organisms = [
        names[int(u * len(names))] if g else None
        for names, u, g in zip(
            words_of(test, [catalog.ORGANISMS[spec] for spec, _, _ in tests]),
            which,
            grew.tolist(),
            strict=True,
        )
    ]
    insert(
        connection, "microbiologyevents", admissions.subject[index], admissions.hadm[index],
        stamps(at), words_of(test, [spec for spec, _, _ in tests]),
        words_of(test, [name for _, name, _ in tests]), organisms,
    )  # fmt: skip


def charge(connection: sqlite3.Connection, admissions: Admissions, costs: Iterable[Costs]) -> None:
    """Write one charge for each event; `event_id` is the event's row_id in its own table."""
    parts = list(costs)
    index = np.concatenate([part.admission for part in parts])
    amount = np.concatenate([part.amount for part in parts])
    insert(
        connection, "cost", admissions.subject[index], admissions.hadm[index],
        [part.table for part in parts for _ in range(len(part.admission))],
        np.concatenate([np.arange(len(part.admission)) for part in parts]),
        stamps(np.concatenate([part.time for part in parts])),
        np.floor(amount * 100.0 + 0.5) / 100.0,
    )  # fmt: skip
