"""The generator of laboratory values, charted signs, and fluids given and lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from sentinel_sql.hospital import catalog, conditions
from sentinel_sql.hospital.draws import (
    DAY,
    FIRST_ITEM,
    HOUR,
    MINUTE,
    NOW,
    Draws,
    Floats,
    Ints,
    insert,
    nullable,
    stamps,
    words_of,
)
from sentinel_sql.hospital.events import Costs
from sentinel_sql.hospital.patients import Admissions, Stays

_PANELS = {
    "chem": 0.9, "count": 0.85, "diff": 0.3, "liver": 0.4, "ammonia": 0.04, "coag": 0.4,
    "gas": 0.28, "cardiac": 0.16, "inflam": 0.14, "level": 0.05, "admit": 0.0, "urine": 0.05,
}  # fmt: skip
"""Share of blood draws that include a panel; the admission panel is included at most once."""

_SIGNS = {"vital": 0.95, "line": 0.3, "temp": 0.7, "spot": 0.12, "neuro": 0.5, "vent": 0.25,
          "daily": 0.16}  # fmt: skip
"""Share of the four-hourly observations that include a kind of sign."""


def _shift_matrix(measures: Sequence[catalog.Measure]) -> Floats:
    shifts = np.zeros((len(conditions.CONDITIONS), len(measures)))
    for row, condition in enumerate(conditions.CONDITIONS):
        for column, measure in enumerate(measures):
            shifts[row, column] = condition.shifts.get(measure.label, 0.0)
    return shifts


def draw_values(
    draws: Draws,
    measures: Sequence[catalog.Measure],
    *,
    admissions: Admissions,
    index: Ints,
    item: Ints,
    time: Ints,
) -> Floats:
    """Draw values that start at the patient's own level plus the condition's shift, and recover.

    The values of those who die get worse instead. Values are rounded to the measure's decimals
    and cut at its limits.
    """
    size = len(index)
    patients = int(admissions.patient.max()) + 1
    own = draws.bell(patients, len(measures))[admissions.patient[index], item]
    severity = (0.45 + 1.1 * draws.uniform(len(admissions.hadm)))[index]
    length = np.maximum(admissions.end - admissions.start, 1)[index]
    passed = (time - admissions.start[index]) / length
    left = np.where(admissions.dies[index], 0.7 + 0.6 * passed, 1.0 - 0.75 * passed)
    shift = _shift_matrix(measures)[admissions.condition[index], item] * severity * left
    center = np.array([m.center for m in measures])[item]
    spread = np.array([m.spread for m in measures])[item]
    value = center + spread * (0.8 * own + shift + 0.45 * draws.bell(size))
    low = np.array([m.low for m in measures])[item]
    high = np.array([m.high for m in measures])[item]
    scale = np.array([10.0**m.decimals for m in measures])[item]
    found: Floats = np.floor(np.minimum(np.maximum(value, low), high) * scale + 0.5) / scale
    return found


def examine(connection: sqlite3.Connection, draws: Draws, admissions: Admissions) -> Costs:
    """Write laboratory results, about one blood draw a day."""
    labs = catalog.LABS
    size = len(admissions.hadm)
    days = np.minimum((admissions.recorded_until - admissions.start) // DAY, 11) + 1
    index = np.repeat(np.arange(size), days)
    turn = np.arange(len(index)) - np.repeat(np.cumsum(days) - days, days)
    # Longer stays are sampled over their whole length.
    span = (admissions.recorded_until - admissions.start)[index]
    at = admissions.start[index] + (span * (turn + 0.1 + 0.8 * draws.uniform(len(index)))
                                    / days[index]).astype(np.int64) // MINUTE * MINUTE  # fmt: skip
    at = np.maximum(at, admissions.start[index])
    names = list(_PANELS)
    panel = np.array([names.index(lab.panel) for lab in labs], dtype=np.int64)
    included = draws.uniform(len(index), len(names)) < np.array(list(_PANELS.values()))
    first = turn == 0
    included[:, names.index("admit")] = first & (draws.uniform(len(index)) < 0.4)
    each = np.where(included[:, panel], draws.uniform(len(index), len(labs)), 1.0) < 0.93
    row, item = np.nonzero(each)
    index, at = index[row], at[row]
    value = draw_values(draws, labs, admissions=admissions, index=index, item=item, time=at)
    missing = draws.uniform(len(index)) < 0.012
    insert(
        connection, "labevents", admissions.subject[index], admissions.hadm[index],
        item + FIRST_ITEM["lab"], stamps(at), nullable(value, missing),
        words_of(item, [lab.unit for lab in labs]),
    )  # fmt: skip
    amount = 3.0 + (item % 9) * 1.7 + 2.0 * draws.uniform(len(index))
    return Costs(table="labevents", admission=index, time=at, amount=amount)


def _rounds(draws: Draws, stays: Stays, *, every: int, most: int) -> tuple[Ints, Ints]:
    """Draw the times of regular rounds; return for each its stay's index and its time."""
    seen = np.minimum(stays.end, NOW)
    count = np.minimum((seen - stays.start) // every + 1, most)
    index = np.repeat(np.arange(len(count)), count)
    turn = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    span = (seen - stays.start)[index]
    within = 0.1 + 0.8 * draws.uniform(len(index))
    time = (span * ((turn + within) / count[index])).astype(np.int64) // MINUTE * MINUTE
    return index, stays.start[index] + time


def chart(
    connection: sqlite3.Connection, draws: Draws, admissions: Admissions, stays: Stays
) -> None:
    """Write charted signs, about every four hours of an ICU stay."""
    signs = catalog.VITALS
    index, at = _rounds(draws, stays, every=4 * HOUR, most=30)
    share = np.array([_SIGNS[sign.panel] for sign in signs])
    # A line or a ventilator is present for a whole stay or not at all.
    present = draws.uniform(len(stays.stay), len(signs)) < np.where(share == 0.25, 0.35, 0.9)
    each = (draws.uniform(len(index), len(signs)) < share) & present[index]
    row, item = np.nonzero(each)
    index, at = index[row], at[row]
    value = draw_values(
        draws, signs, admissions=admissions, index=stays.admission[index], item=item, time=at
    )
    missing = draws.uniform(len(index)) < 0.006
    insert(
        connection, "chartevents", admissions.subject[stays.admission[index]],
        admissions.hadm[stays.admission[index]], stays.stay[index], item + FIRST_ITEM["chart"],
        stamps(at), nullable(value, missing), words_of(item, [sign.unit for sign in signs]),
    )  # fmt: skip


def flow(
    connection: sqlite3.Connection,
    draws: Draws,
    admissions: Admissions,
    stays: Stays,
    table: str,
    flows: Sequence[catalog.Flow],
) -> None:
    """Write fluids given or lost, about every eight hours of an ICU stay."""
    given = draws.uniform(len(stays.stay), len(flows)) < np.array([f.share for f in flows])
    index, at = _rounds(draws, stays, every=8 * HOUR, most=16)
    row, item = np.nonzero(given[index] & (draws.uniform(len(index), len(flows)) < 0.55))
    index, at = index[row], at[row]
    amount = np.array([f.amount for f in flows])[item] * (0.4 + 1.2 * draws.uniform(len(index)))
    amount = np.where(amount > 20.0, np.floor(amount / 5.0) * 5.0, np.floor(amount * 10.0) / 10.0)
    admission = stays.admission[index]
    items = item + FIRST_ITEM[table.removesuffix("events")]
    units = words_of(item, [f.unit for f in flows])
    insert(
        connection, table, admissions.subject[admission], admissions.hadm[admission],
        stays.stay[index], stamps(at), items, amount, units,
    )  # fmt: skip
