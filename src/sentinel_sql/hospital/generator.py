"""Draws the patients of a synthetic hospital and writes them to SQLite: same seed, same bytes.

Only uniform draws, sums and products are used, never a logarithm or a library's own normal
draw: so the same rows come out of every NumPy version and processor.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.hospital import catalog, schema

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Column: TypeAlias = "Ints | Floats | list[Any]"

MINUTE, HOUR, DAY = 60, 3600, 86_400
_EPOCH = datetime(2000, 1, 1)
_CLOCK = int((datetime.fromisoformat(schema.CLOCK) - _EPOCH).total_seconds())
_FIRST = int((datetime(2099, 1, 1) - _EPOCH).total_seconds())
_NEVER = 2**40
_SLICE = 20_000
_MOST_ADMISSIONS = 6
_FIRST_ITEM = {"lab": 50_801, "chart": 220_001, "input": 225_001, "output": 226_501}


class _Draws:
    """Uniform draws and what can be made of them with sums and products alone."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, *shape: int) -> Floats:
        return self._generator.random(shape)

    def bell(self, *shape: int) -> Floats:
        """Mean 0, standard deviation 1, within ±3.5: four uniforms summed."""
        total = self.uniform(*shape) + self.uniform(*shape)
        total = total + self.uniform(*shape) + self.uniform(*shape)
        return (total - 2.0) * 1.7320508075688772

    def below(self, bound: int, *shape: int) -> Ints:
        """Whole numbers 0 … bound − 1."""
        return (self.uniform(*shape) * bound).astype(np.int64)

    def pick(self, shares: Sequence[float], size: int) -> Ints:
        """Draw indices by their shares."""
        edges = np.cumsum(np.array(shares, dtype=np.float64))
        index = np.searchsorted(edges, self.uniform(size) * edges[-1], side="right")
        chosen: Ints = np.minimum(index, len(shares) - 1).astype(np.int64)
        return chosen

    def identifiers(self, base: int, size: int) -> Ints:
        """Distinct numbers of eight digits from `base` on, in no order."""
        order = np.argsort(self.uniform(size), kind="stable")
        step = 9_000_000 // max(size, 1)
        found: Ints = base + order * step + self.below(max(step // 2, 1), size)
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Admissions:
    """One row an admission; `end` is the true end, also where it lies after the clock."""

    subject: Ints
    patient: Ints
    hadm: Ints
    start: Ints
    end: Ints
    condition: Ints
    dies: NDArray[np.bool_]
    male: NDArray[np.bool_]
    age: Ints

    @property
    def seen(self) -> Ints:
        """End of what the database can know: the discharge or the clock."""
        return np.minimum(self.end, _CLOCK)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stays:
    """One row an ICU stay, with the index of its admission."""

    admission: Ints
    stay: Ints
    first: Ints
    last: Ints
    start: Ints
    end: Ints


def build_hospital(path: Path | str, *, patients: int = 100, seed: int = 42) -> Path:
    """Write the hospital to a new SQLite file, replacing what is there.

    Args:
        path: The file to write.
        patients: How many patients, at least 1.
        seed: Seed of all draws; the same seed and size give the same bytes under one SQLite.

    Returns:
        The path written.

    Raises:
        InputError: `patients` is below 1.
        DatabaseError: The file can't be written.
    """
    if patients < 1:
        raise InputError(f"a hospital needs at least 1 patient, not {patients}: raise --patients")
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        connection = sqlite3.connect(part, isolation_level=None)
        try:
            for pragma in ("page_size = 4096", "journal_mode = OFF", "synchronous = OFF"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN")
            for statement in schema.ddl():
                connection.execute(statement)
            _fill(connection, _Draws(seed), patients)
            connection.execute("COMMIT")
            connection.execute("VACUUM")
        finally:
            connection.close()
        part.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseError(
            f"can't write the hospital to {path}: {error}; check the folder"
        ) from None
    return path


def _fill(connection: sqlite3.Connection, draws: _Draws, patients: int) -> None:
    _dictionaries(connection)
    admissions = _admit(connection, draws, patients)
    stays = _icu(connection, draws, admissions)
    _transfers(connection, admissions, stays, draws)
    diagnosed = _diagnose(connection, draws, admissions)
    costs = [
        diagnosed.cost,
        _procedures(connection, draws, admissions),
        _labs(connection, draws, admissions),
        _prescribe(connection, draws, admissions, diagnosed.carried),
    ]
    _charge(connection, admissions, costs)
    _chart(connection, draws, admissions, stays)
    for table, flows in (("inputevents", catalog.INPUTS), ("outputevents", catalog.OUTPUTS)):
        _flow(connection, draws, admissions, stays, table, flows)
    _microbiology(connection, draws, admissions)


def _insert(connection: sqlite3.Connection, table: str, *data: Column) -> None:
    names = schema.columns(table)
    marks = ", ".join("?" * len(names))
    size = len(data[0])
    statement = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 (our own names)
    for low in range(0, size, _SLICE):
        high = min(low + _SLICE, size)
        columns = [c[low:high] if isinstance(c, list) else c[low:high].tolist() for c in data]
        connection.executemany(statement, zip(range(low, high), *columns, strict=True))


_DATES = [(_EPOCH + timedelta(days=d)).strftime("%Y-%m-%d ") for d in range(102 * 366)]
_TIMES = [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in range(DAY)]


def _square(draw: Floats) -> Floats:
    return draw * draw


def _cube(draw: Floats) -> Floats:
    return draw * draw * draw


def _stamps(seconds: Ints) -> list[str | None]:
    """Timestamps as the database stores them; what lies after the clock is NULL."""
    days, rest = np.divmod(seconds, DAY)
    return [
        _DATES[d] + _TIMES[r] if known else None
        for d, r, known in zip(
            days.tolist(), rest.tolist(), (seconds <= _CLOCK).tolist(), strict=True
        )
    ]


def _dates(seconds: Ints) -> list[str | None]:
    return [None if s == _NEVER else _stamp_day(s) for s in seconds.tolist()]


def _stamp_day(second: int) -> str:
    return (_EPOCH + timedelta(days=second // DAY)).strftime("%Y-%m-%d 00:00:00")


def _words(index: Ints, words: Sequence[Any]) -> list[Any]:
    return [words[i] for i in index.tolist()]


def _dictionaries(connection: sqlite3.Connection) -> None:
    for table, codes in (
        ("d_icd_diagnoses", catalog.DIAGNOSES),
        ("d_icd_procedures", catalog.PROCEDURES),
    ):
        _insert(connection, table, [c.code for c in codes], [c.title for c in codes])
    labs = [lab.label for lab in catalog.LABS] + list(catalog.UNUSED_LABS)
    _insert(connection, "d_labitems", [_FIRST_ITEM["lab"] + i for i in range(len(labs))], labs)
    items = [
        (_FIRST_ITEM[kind] + i, label, f"{kind}events")
        for kind, labels in (
            ("chart", [v.label for v in catalog.VITALS]),
            ("input", [f.label for f in catalog.INPUTS]),
            ("output", [f.label for f in catalog.OUTPUTS]),
        )
        for i, label in enumerate(labels)
    ]
    _insert(
        connection,
        "d_items",
        [item for item, _, _ in items],
        [label for _, label, _ in items],
        [_abbreviation(label) for _, label, _ in items],
        [table for _, _, table in items],
    )


def _abbreviation(label: str) -> str:
    words = label.replace("(", "").replace(")", "").replace(",", "").split()
    return words[0] if len(words) == 1 else " ".join(word[:4] for word in words)


def _admit(connection: sqlite3.Connection, draws: _Draws, patients: int) -> _Admissions:
    """Patients and their admissions: one after the other, each with a condition of its own."""
    conditions = catalog.CONDITIONS
    subject = draws.identifiers(10_000_000, patients)
    female = draws.uniform(patients) < 0.47
    years = 20 + (70 * np.sqrt(draws.uniform(patients))).astype(np.int64)
    birth = _FIRST - (years * 365.25).astype(np.int64) * DAY + draws.below(365, patients) * DAY
    weights = [c.weight for c in conditions]
    usual = draws.pick(weights, patients)
    wanted = 1 + (_MOST_ADMISSIONS * _square(draws.uniform(patients))).astype(np.int64)
    recent = draws.uniform(patients) < 0.14
    span = (_CLOCK - _FIRST) // MINUTE
    start = _FIRST + draws.below(span, patients) * MINUTE
    late = _CLOCK - draws.below(9 * 1440, patients) * MINUTE
    start = np.where(recent, late, start)
    death = np.full(patients, _NEVER, dtype=np.int64)
    mortality = np.array([c.mortality for c in conditions])
    lengths = np.array([c.stay for c in conditions])

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
        live = open_ended & (turn < wanted) & (start < _CLOCK)
        who = np.flatnonzero(live)
        parts.append(
            {"patient": who, "start": start[who], "end": end[who], "condition": condition[who],
             "dies": dies[who]}
        )  # fmt: skip
        death = np.where(live & dies & (end <= _CLOCK), end, death)
        late_death = live & ~dies & (after < 0.10) & (end <= _CLOCK)
        later = end + (1 + gap // 3) * DAY
        death = np.where(late_death & (later <= _CLOCK), later, death)
        open_ended = live & ~dies & ~late_death & (end <= _CLOCK)
        start = end + (4 + gap) * DAY + draws.below(1440, patients) * MINUTE
    _insert(
        connection, "patients", subject, _words(female.astype(np.int64), ("m", "f")),
        _dates(birth), _dates(death),
    )  # fmt: skip

    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.argsort(draws.uniform(len(joined["patient"])), kind="stable")
    patient = joined["patient"][order]
    start = joined["start"][order]
    found = _Admissions(
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

    def drawn(table: Sequence[tuple[Any, float]], index: Ints | None = None) -> list[Any]:
        chosen = draws.pick([share for _, share in table], patients if index is not None else size)
        return _words(chosen if index is None else chosen[index], [word for word, _ in table])

    kind = drawn(catalog.ADMISSION_TYPES)
    place = drawn(catalog.ADMISSION_LOCATIONS)
    left = drawn(catalog.DISCHARGE_LOCATIONS)
    over = found.end <= _CLOCK
    to = [
        (catalog.DIED if dead else word) if done else None
        for word, dead, done in zip(left, found.dies.tolist(), over.tolist(), strict=True)
    ]
    _insert(
        connection, "admissions", found.subject, found.hadm, _stamps(found.start),
        _stamps(found.end), kind, place, to, drawn(catalog.INSURANCES),
        drawn(catalog.LANGUAGES, patient), drawn(catalog.MARITAL, patient), found.age,
    )  # fmt: skip
    return found


def _icu(connection: sqlite3.Connection, draws: _Draws, admissions: _Admissions) -> _Stays:
    """None, one or two stays an admission, all inside it."""
    size = len(admissions.hadm)
    length = admissions.end - admissions.start
    usual = np.array([c.units for c in catalog.CONDITIONS], dtype=np.int64)[admissions.condition]
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
    keep = [has & (low < _CLOCK - HOUR) & chosen for chosen, _, _, low, _ in stays]
    index = np.concatenate([np.flatnonzero(k) for k in keep])
    order = np.argsort(draws.uniform(len(index)), kind="stable")

    def taken(column: int) -> Ints:
        both = [np.asarray(stays[i][column])[keep[i]] for i in range(2)]
        return np.concatenate(both)[order].astype(np.int64)

    found = _Stays(
        admission=index[order],
        stay=draws.identifiers(30_000_000, len(index)),
        first=taken(1),
        last=taken(2),
        start=taken(3),
        end=taken(4),
    )
    _insert(
        connection, "icustays", admissions.subject[found.admission],
        admissions.hadm[found.admission], found.stay, _words(found.first, catalog.ICU_UNITS),
        _words(found.last, catalog.ICU_UNITS), _stamps(found.start), _stamps(found.end),
    )  # fmt: skip
    return found


def _transfers(
    connection: sqlite3.Connection, admissions: _Admissions, stays: _Stays, draws: _Draws
) -> None:
    """Lead each patient through the house: emergency department, wards, ICU units, discharge."""
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
        home = of_unit[catalog.CONDITIONS[int(admissions.condition[a])].units[0]]
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
        rows.append((a, "discharge", None, end, _NEVER))
    rows = [row for row in rows if row[3] <= _CLOCK and row[3] < row[4]]
    index = np.array([row[0] for row in rows], dtype=np.int64)
    _insert(
        connection, "transfers", admissions.subject[index], admissions.hadm[index],
        draws.identifiers(40_000_000, len(rows)), [row[1] for row in rows],
        [row[2] for row in rows], _stamps(np.array([row[3] for row in rows], dtype=np.int64)),
        _stamps(np.array([row[4] for row in rows], dtype=np.int64)),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class _Charged:
    """Events that cost something: their kind, admission, time and amount."""

    table: str
    admission: Ints
    time: Ints
    amount: Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class _Diagnosed:
    carried: NDArray[np.bool_]
    cost: _Charged


def _diagnose(connection: sqlite3.Connection, draws: _Draws, admissions: _Admissions) -> _Diagnosed:
    codes = [c.code.partition("|")[2] for c in catalog.DIAGNOSES]
    place = {code: i for i, code in enumerate(codes)}
    shares = np.zeros((len(catalog.CONDITIONS), len(codes)))
    for name, share in catalog.BACKGROUND.items():
        shares[:, place[name]] = share
    for row, condition in enumerate(catalog.CONDITIONS):
        for name in condition.others:
            shares[row, place[name]] = max(0.42, shares[row, place[name]])
        shares[row, place[condition.principal]] = 1.0
    size = len(admissions.hadm)
    # what a patient has once is mostly coded again: one draw a patient, a second an admission
    patients = int(admissions.patient.max()) + 1
    standing = draws.uniform(patients, len(codes))[admissions.patient]
    fresh = draws.uniform(size, len(codes))
    carried = (
        np.where(draws.uniform(size, len(codes)) < 0.75, standing, fresh)
        < shares[admissions.condition]
    )
    for name in catalog.MALE_ONLY:
        carried[:, place[name]] &= admissions.male
    for name, age in catalog.OLDEST_ONLY.items():
        carried[:, place[name]] &= admissions.age >= age
    index, code = np.nonzero(carried)
    at = admissions.seen[index] - draws.below(120, len(index)) * MINUTE
    at = np.maximum(at, admissions.start[index])
    # coded once, at the end of the admission as far as it goes
    at = at[np.searchsorted(index, index)]
    _insert(
        connection, "diagnoses_icd", admissions.subject[index], admissions.hadm[index],
        _words(code, [c.code for c in catalog.DIAGNOSES]), _stamps(at),
    )  # fmt: skip
    amount = 4.0 + 9.0 * draws.uniform(len(index))
    cost = _Charged(table="diagnoses_icd", admission=index, time=at, amount=amount)
    return _Diagnosed(carried=carried, cost=cost)


def _procedures(connection: sqlite3.Connection, draws: _Draws, admissions: _Admissions) -> _Charged:
    codes = [c.code.partition("|")[2] for c in catalog.PROCEDURES]
    place = {code: i for i, code in enumerate(codes)}
    shares = np.full((len(catalog.CONDITIONS), len(codes)), 0.006)
    shares[:, [place["3893"], place["3891"], place["9904"]]] = (0.22, 0.12, 0.10)
    for row, condition in enumerate(catalog.CONDITIONS):
        for name in condition.procedures:
            shares[row, place[name]] = max(0.45, shares[row, place[name]])
    done = draws.uniform(len(admissions.hadm), len(codes)) < shares[admissions.condition]
    index, code = np.nonzero(done)
    repeats = 1 + (2.2 * _cube(draws.uniform(len(index)))).astype(np.int64)
    index, code = np.repeat(index, repeats), np.repeat(code, repeats)
    at = _inside(draws, admissions.start[index], admissions.seen[index])
    _insert(
        connection, "procedures_icd", admissions.subject[index], admissions.hadm[index],
        _words(code, [c.code for c in catalog.PROCEDURES]), _stamps(at),
    )  # fmt: skip
    amount = (40.0 + 20.0 * (code % 11)) * (0.8 + 0.9 * draws.uniform(len(index)))
    return _Charged(table="procedures_icd", admission=index, time=at, amount=amount)


def _inside(draws: _Draws, low: Ints, high: Ints) -> Ints:
    """Whole minutes from `low` to before `high`."""
    return low + (draws.uniform(len(low)) * ((high - low) // MINUTE)).astype(np.int64) * MINUTE


def _shift_matrix(measures: Sequence[catalog.Measure]) -> Floats:
    shifts = np.zeros((len(catalog.CONDITIONS), len(measures)))
    for row, condition in enumerate(catalog.CONDITIONS):
        for column, measure in enumerate(measures):
            shifts[row, column] = condition.shifts.get(measure.label, 0.0)
    return shifts


def _values(
    draws: _Draws,
    measures: Sequence[catalog.Measure],
    *,
    admissions: _Admissions,
    index: Ints,
    item: Ints,
    time: Ints,
) -> Floats:
    """Values that start at the patient's own level plus the condition's shift, and drift back.

    Those who die drift away instead. Rounded to the measure's decimals and cut at its limits.
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


_PANELS = {
    "chem": 0.9, "count": 0.85, "diff": 0.3, "liver": 0.4, "ammonia": 0.04, "coag": 0.4,
    "gas": 0.28, "cardiac": 0.16, "inflam": 0.14, "level": 0.05, "admit": 0.0, "urine": 0.05,
}  # fmt: skip
"""Share of draws that include a panel; the admission panel is drawn at most once."""


def _labs(connection: sqlite3.Connection, draws: _Draws, admissions: _Admissions) -> _Charged:
    labs = catalog.LABS
    size = len(admissions.hadm)
    days = np.minimum((admissions.seen - admissions.start) // DAY, 11) + 1
    index = np.repeat(np.arange(size), days)
    turn = np.arange(len(index)) - np.repeat(np.cumsum(days) - days, days)
    # longer stays are sampled over their whole length
    span = (admissions.seen - admissions.start)[index]
    at = admissions.start[index] + (span * (turn + 0.1 + 0.8 * draws.uniform(len(index)))
                                    / days[index]).astype(np.int64) // MINUTE * MINUTE  # fmt: skip
    at = np.maximum(at, admissions.start[index])
    names = list(_PANELS)
    panel = np.array([names.index(lab.panel) for lab in labs], dtype=np.int64)
    drawn = draws.uniform(len(index), len(names)) < np.array(list(_PANELS.values()))
    first = turn == 0
    drawn[:, names.index("admit")] = first & (draws.uniform(len(index)) < 0.4)
    each = np.where(drawn[:, panel], draws.uniform(len(index), len(labs)), 1.0) < 0.93
    row, item = np.nonzero(each)
    index, at = index[row], at[row]
    value = _values(draws, labs, admissions=admissions, index=index, item=item, time=at)
    missing = draws.uniform(len(index)) < 0.012
    _insert(
        connection, "labevents", admissions.subject[index], admissions.hadm[index],
        item + _FIRST_ITEM["lab"], _stamps(at), _nullable(value, missing),
        _words(item, [lab.unit for lab in labs]),
    )  # fmt: skip
    amount = 3.0 + (item % 9) * 1.7 + 2.0 * draws.uniform(len(index))
    return _Charged(table="labevents", admission=index, time=at, amount=amount)


def _nullable(values: Floats, missing: NDArray[np.bool_]) -> list[float | None]:
    return [None if m else v for v, m in zip(values.tolist(), missing.tolist(), strict=True)]


def _prescribe(
    connection: sqlite3.Connection,
    draws: _Draws,
    admissions: _Admissions,
    carried: NDArray[np.bool_],
) -> _Charged:
    drugs = catalog.DRUGS
    place = {drug.label: i for i, drug in enumerate(drugs)}
    shares = np.tile(np.array([drug.share for drug in drugs]) * 0.8, (len(catalog.CONDITIONS), 1))
    for row, condition in enumerate(catalog.CONDITIONS):
        for label in condition.drugs:
            shares[row, place[label]] = max(0.6, shares[row, place[label]])
    codes = [c.code.partition("|")[2] for c in catalog.DIAGNOSES]
    follows = np.zeros((len(codes), len(drugs)), dtype=np.int64)
    for code, labels in catalog.TREATMENTS.items():
        for label in labels.split("; "):
            follows[codes.index(code), place[label]] = 1
    treated = (carried.astype(np.int64) @ follows) > 0
    chance = np.where(treated, 0.7, shares[admissions.condition])
    index, drug = np.nonzero(draws.uniform(len(admissions.hadm), len(drugs)) < chance)
    repeats = 1 + (3.2 * _cube(draws.uniform(len(index)))).astype(np.int64)
    index, drug = np.repeat(index, repeats), np.repeat(drug, repeats)
    size = len(index)
    start = _inside(draws, admissions.start[index], admissions.seen[index]) // HOUR * HOUR
    start = np.maximum(start, admissions.start[index])
    length = (6 + draws.below(90, size)) * HOUR
    stop = np.minimum(start + length, admissions.end[index])
    factor = np.array((0.5, 1.0, 1.0, 1.0, 1.0, 2.0))[draws.below(6, size)]
    dose = np.array([d.dose for d in drugs])[drug] * factor
    _insert(
        connection, "prescriptions", admissions.subject[index], admissions.hadm[index],
        _stamps(start), _stamps(stop), _words(drug, [d.label for d in drugs]),
        [f"{amount:g}" for amount in dose.tolist()], _words(drug, [d.unit for d in drugs]),
        _words(drug, [d.route for d in drugs]),
    )  # fmt: skip
    price = np.array([d.price for d in drugs])[drug]
    amount = price * factor * (0.9 + 0.2 * draws.uniform(size))
    return _Charged(table="prescriptions", admission=index, time=start, amount=amount)


def _charge(
    connection: sqlite3.Connection, admissions: _Admissions, costs: Iterable[_Charged]
) -> None:
    """One charge an event; `event_id` is the event's row_id in the table of its kind."""
    parts = list(costs)
    index = np.concatenate([part.admission for part in parts])
    amount = np.concatenate([part.amount for part in parts])
    _insert(
        connection, "cost", admissions.subject[index], admissions.hadm[index],
        [part.table for part in parts for _ in range(len(part.admission))],
        np.concatenate([np.arange(len(part.admission)) for part in parts]),
        _stamps(np.concatenate([part.time for part in parts])),
        np.floor(amount * 100.0 + 0.5) / 100.0,
    )  # fmt: skip


_SIGNS = {"vital": 0.95, "line": 0.3, "temp": 0.7, "spot": 0.12, "neuro": 0.5, "vent": 0.25,
          "daily": 0.16}  # fmt: skip
"""Share of the four-hourly observations that include a kind of sign."""


def _rounds(draws: _Draws, stays: _Stays, *, every: int, most: int) -> tuple[Ints, Ints]:
    """Draw the times of regular rounds: the index of the stay, and a time inside it."""
    seen = np.minimum(stays.end, _CLOCK)
    count = np.minimum((seen - stays.start) // every + 1, most)
    index = np.repeat(np.arange(len(count)), count)
    turn = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
    span = (seen - stays.start)[index]
    within = 0.1 + 0.8 * draws.uniform(len(index))
    time = (span * ((turn + within) / count[index])).astype(np.int64) // MINUTE * MINUTE
    return index, stays.start[index] + time


def _chart(
    connection: sqlite3.Connection, draws: _Draws, admissions: _Admissions, stays: _Stays
) -> None:
    signs = catalog.VITALS
    index, at = _rounds(draws, stays, every=4 * HOUR, most=30)
    share = np.array([_SIGNS[sign.panel] for sign in signs])
    # a line or a ventilator is there for a whole stay or not at all
    present = draws.uniform(len(stays.stay), len(signs)) < np.where(share == 0.25, 0.35, 0.9)
    each = (draws.uniform(len(index), len(signs)) < share) & present[index]
    row, item = np.nonzero(each)
    index, at = index[row], at[row]
    value = _values(
        draws, signs, admissions=admissions, index=stays.admission[index], item=item, time=at
    )
    missing = draws.uniform(len(index)) < 0.006
    _insert(
        connection, "chartevents", admissions.subject[stays.admission[index]],
        admissions.hadm[stays.admission[index]], stays.stay[index], item + _FIRST_ITEM["chart"],
        _stamps(at), _nullable(value, missing), _words(item, [sign.unit for sign in signs]),
    )  # fmt: skip


def _flow(
    connection: sqlite3.Connection,
    draws: _Draws,
    admissions: _Admissions,
    stays: _Stays,
    table: str,
    flows: Sequence[catalog.Flow],
) -> None:
    given = draws.uniform(len(stays.stay), len(flows)) < np.array([f.share for f in flows])
    index, at = _rounds(draws, stays, every=8 * HOUR, most=16)
    row, item = np.nonzero(given[index] & (draws.uniform(len(index), len(flows)) < 0.55))
    index, at = index[row], at[row]
    amount = np.array([f.amount for f in flows])[item] * (0.4 + 1.2 * draws.uniform(len(index)))
    amount = np.where(amount > 20.0, np.floor(amount / 5.0) * 5.0, np.floor(amount * 10.0) / 10.0)
    admission = stays.admission[index]
    items = item + _FIRST_ITEM[table.removesuffix("events")]
    units = _words(item, [f.unit for f in flows])
    shared: tuple[Column, ...] = (
        admissions.subject[admission], admissions.hadm[admission], stays.stay[index],
    )  # fmt: skip
    when: Mapping[str, tuple[Column, ...]] = {
        "inputevents": (_stamps(at), items),
        "outputevents": (_stamps(at), items),
    }
    _insert(connection, table, *shared, *when[table], amount, units)


def _microbiology(connection: sqlite3.Connection, draws: _Draws, admissions: _Admissions) -> None:
    tests = catalog.MICRO_TESTS
    infected = np.array(
        [
            set(c.drugs) & {"vancomycin", "ceftriaxone", "cefepime"} != set()
            for c in catalog.CONDITIONS
        ]
    )[admissions.condition]
    share = np.array([s for _, _, s in tests]) * np.where(infected, 1.4, 0.6)[:, None]
    size = len(admissions.hadm)
    index, test = np.nonzero(draws.uniform(size, len(tests)) < share)
    repeats = 1 + (3.4 * _cube(draws.uniform(len(index)))).astype(np.int64)
    index, test = np.repeat(index, repeats), np.repeat(test, repeats)
    at = _inside(draws, admissions.start[index], admissions.seen[index])
    grew = draws.uniform(len(index)) < np.where(infected[index], 0.42, 0.16)
    which = draws.uniform(len(index)).tolist()
    organisms = [
        names[int(u * len(names))] if g else None
        for names, u, g in zip(
            _words(test, [catalog.ORGANISMS[spec] for spec, _, _ in tests]),
            which,
            grew.tolist(),
            strict=True,
        )
    ]
    _insert(
        connection, "microbiologyevents", admissions.subject[index], admissions.hadm[index],
        _stamps(at), _words(test, [spec for spec, _, _ in tests]),
        _words(test, [name for _, name, _ in tests]), organisms,
    )  # fmt: skip
