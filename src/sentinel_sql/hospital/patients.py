"""The generator of patients, admissions, ICU stays and transfers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.hospital import catalog, conditions
from sentinel_sql.hospital.draws import (
    DAY,
    FIRST,
    HOUR,
    MINUTE,
    NEVER,
    NOW,
    Bools,
    Draws,
    Ints,
    dates,
    insert,
    square,
    stamps,
    words_of,
)

_MOST_ADMISSIONS = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Admissions:
    """One row for each admission; `end` is the true end, even if it is after the clock."""

    subject: Ints
    patient: Ints
    hadm: Ints
    start: Ints
    end: Ints
    condition: Ints
    dies: Bools
    male: Bools
    age: Ints

    @property
    def recorded_until(self) -> Ints:
        """The end of the recorded time: the discharge or the clock, whichever is earlier."""
        return np.minimum(self.end, NOW)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stays:
    """One row for each ICU stay, with the index of its admission."""

    admission: Ints
    stay: Ints
    first: Ints
    last: Ints
    start: Ints
    end: Ints


def admit(connection: sqlite3.Connection, draws: Draws, patients: int) -> Admissions:
    """Write the patients and their admissions; each admission has its own condition."""
    reasons = conditions.CONDITIONS
    subject = draws.identifiers(10_000_000, patients)
    female = draws.uniform(patients) < 0.47
    years = 20 + (70 * np.sqrt(draws.uniform(patients))).astype(np.int64)
    birth = FIRST - (years * 365.25).astype(np.int64) * DAY + draws.below(365, patients) * DAY
    weights = [c.weight for c in reasons]
    usual = draws.pick(weights, patients)
    wanted = 1 + (_MOST_ADMISSIONS * square(draws.uniform(patients))).astype(np.int64)
    recent = draws.uniform(patients) < 0.14
    span = (NOW - FIRST) // MINUTE
    start = FIRST + draws.below(span, patients) * MINUTE
    late = NOW - draws.below(9 * 1440, patients) * MINUTE
    start = np.where(recent, late, start)
    death = np.full(patients, NEVER, dtype=np.int64)
    mortality = np.array([c.mortality for c in reasons])
    lengths = np.array([c.stay for c in reasons])

    parts: list[dict[str, NDArray[Any]]] = []
    open_ended = np.ones(patients, dtype=np.bool_)
    for turn in range(_MOST_ADMISSIONS):
        same = draws.uniform(patients) < 0.6
        condition = np.where(same, usual, draws.pick(weights, patients))
        skew = draws.uniform(patients)
        days = (0.9 + 17.0 * skew * skew * skew + 4.0 * skew) * lengths[condition]
        days = np.where(recent & (turn == 0), days + 7.0, days)
        end = start + (days * 1440).astype(np.int64) * MINUTE
        dies = draws.uniform(patients) < mortality[condition] * (0.5 + years / 110.0)
        after = draws.uniform(patients)
        gap = draws.below(150, patients)
        live = open_ended & (turn < wanted) & (start < NOW)
        who = np.flatnonzero(live)
        parts.append(
            {"patient": who, "start": start[who], "end": end[who], "condition": condition[who],
             "dies": dies[who]}
        )  # fmt: skip
        death = np.where(live & dies & (end <= NOW), end, death)
        late_death = live & ~dies & (after < 0.10) & (end <= NOW)
        later = end + (1 + gap // 3) * DAY
        death = np.where(late_death & (later <= NOW), later, death)
        open_ended = live & ~dies & ~late_death & (end <= NOW)
        start = end + (4 + gap) * DAY + draws.below(1440, patients) * MINUTE
    insert(
        connection, "patients", subject, words_of(female.astype(np.int64), ("m", "f")),
        dates(birth), dates(death),
    )  # fmt: skip

    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.argsort(draws.uniform(len(joined["patient"])), kind="stable")
    patient = joined["patient"][order]
    start = joined["start"][order]
    found = Admissions(
        subject=subject[patient],
        patient=patient,
        hadm=draws.identifiers(20_000_000, len(order)),
        start=start,
        end=joined["end"][order],
        condition=joined["condition"][order],
        dies=joined["dies"][order],
        male=~female[patient],
        age=((start - birth[patient]) / (365.25 * DAY)).astype(np.int64),
    )
    size = len(order)

    def draw_words(table: Sequence[tuple[Any, float]], index: Ints | None = None) -> list[Any]:
        chosen = draws.pick([share for _, share in table], patients if index is not None else size)
        return words_of(chosen if index is None else chosen[index], [word for word, _ in table])

    kind = draw_words(catalog.ADMISSION_TYPES)
    place = draw_words(catalog.ADMISSION_LOCATIONS)
    left = draw_words(catalog.DISCHARGE_LOCATIONS)
    over = found.end <= NOW
    to = [
        (catalog.DIED if dead else word) if done else None
        for word, dead, done in zip(left, found.dies.tolist(), over.tolist(), strict=True)
    ]
    insert(
        connection, "admissions", found.subject, found.hadm, stamps(found.start),
        stamps(found.end), kind, place, to, draw_words(catalog.INSURANCES),
        draw_words(catalog.LANGUAGES, patient), draw_words(catalog.MARITAL, patient), found.age,
    )  # fmt: skip
    return found


def stay_in_icu(connection: sqlite3.Connection, draws: Draws, admissions: Admissions) -> Stays:
    """Write up to two ICU stays for each admission, all within it."""
    size = len(admissions.hadm)
    length = admissions.end - admissions.start
    usual = np.array([c.units for c in conditions.CONDITIONS], dtype=np.int64)[admissions.condition]
    lead = draws.uniform(size)
    begin = admissions.start + (length * (0.02 + 0.18 * lead * lead)).astype(np.int64)
    close = begin + (length * (0.2 + 0.3 * draws.uniform(size))).astype(np.int64)
    again = close + (length * (0.05 + 0.08 * draws.uniform(size))).astype(np.int64)
    final = again + (length * (0.04 + 0.1 * draws.uniform(size))).astype(np.int64)
    stays = []
    for share, low, high in ((0.88, begin, close), (0.2, again, final)):
        home = np.where(draws.uniform(size) < 0.7, usual[:, 0], usual[:, 1])
        moved = np.where(
            draws.uniform(size) < 0.15, draws.below(len(catalog.ICU_UNITS), size), home
        )
        stays.append((draws.uniform(size) < share, home, moved, low, high))
    has = stays[0][0]
    keep = [has & (low < NOW - HOUR) & chosen for chosen, _, _, low, _ in stays]
    index = np.concatenate([np.flatnonzero(k) for k in keep])
    order = np.argsort(draws.uniform(len(index)), kind="stable")

    def join_stays(column: int) -> Ints:
        both = [np.asarray(stays[i][column])[keep[i]] for i in range(2)]
        return np.concatenate(both)[order].astype(np.int64)

    found = Stays(
        admission=index[order],
        stay=draws.identifiers(30_000_000, len(index)),
        first=join_stays(1),
        last=join_stays(2),
        start=join_stays(3),
        end=join_stays(4),
    )
    insert(
        connection, "icustays", admissions.subject[found.admission],
        admissions.hadm[found.admission], found.stay, words_of(found.first, catalog.ICU_UNITS),
        words_of(found.last, catalog.ICU_UNITS), stamps(found.start), stamps(found.end),
    )  # fmt: skip
    return found


def transfer(
    connection: sqlite3.Connection, admissions: Admissions, stays: Stays, draws: Draws
) -> None:
    """Write the transfers of each patient: emergency department, wards, ICU units, discharge."""
    wards = {"medical icu (micu)": 0, "surgical icu (sicu)": 1, "coronary care unit (ccu)": 2,
             "cardiac surgery icu (csicu)": 3, "neuro icu": 4, "trauma icu (ticu)": 5}  # fmt: skip
    of_unit = [wards[unit] for unit in catalog.ICU_UNITS]
    by_admission: dict[int, list[int]] = {}
    for row in np.argsort(stays.start, kind="stable").tolist():
        by_admission.setdefault(int(stays.admission[row]), []).append(row)
    size = len(admissions.hadm)
    through = (draws.uniform(size) < 0.6).tolist()
    minutes = draws.below(300, size).tolist()
    other = draws.uniform(size).tolist()
    rows: list[tuple[int, str, str | None, int, int]] = []
    for a in range(size):
        start, end = int(admissions.start[a]), int(admissions.end[a])
        home = of_unit[conditions.CONDITIONS[int(admissions.condition[a])].units[0]]
        ward = catalog.WARDS[home if other[a] < 0.7 else (0, 6, 7)[int(other[a] * 100) % 3]]
        here = start
        if through[a]:
            here = min(start + (60 + minutes[a]) * MINUTE, start + (end - start) // 60)
            rows.append((a, "ed", catalog.EMERGENCY_ROOM, start, here))
        kind = "admit"
        for row in by_admission.get(a, ()):
            low, high = int(stays.start[row]), int(stays.end[row])
            rows.append((a, kind, ward, here, low))
            kind = "transfer"
            first, last = int(stays.first[row]), int(stays.last[row])
            middle = high if first == last else (low + high) // 2
            rows.append((a, kind, catalog.ICU_UNITS[first], low, middle))
            if first != last:
                rows.append((a, kind, catalog.ICU_UNITS[last], middle, high))
            here = high
        rows.append((a, kind, ward, here, end))
        rows.append((a, "discharge", None, end, NEVER))
    rows = [row for row in rows if row[3] <= NOW and row[3] < row[4]]
    index = np.array([row[0] for row in rows], dtype=np.int64)
    insert(
        connection, "transfers", admissions.subject[index], admissions.hadm[index],
        draws.identifiers(40_000_000, len(rows)), [row[1] for row in rows],
        [row[2] for row in rows], stamps(np.array([row[3] for row in rows], dtype=np.int64)),
        stamps(np.array([row[4] for row in rows], dtype=np.int64)),
    )  # fmt: skip
