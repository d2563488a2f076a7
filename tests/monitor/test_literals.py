"""A literal is grounded by the question or an earlier result, and by nothing else."""

from __future__ import annotations

import pytest

from run_cases import SCHEMA
from sentinel_sql.monitor.features.grounding import analyse_sql
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.features.literals import Evidence, ungrounded_fraction
from sentinel_sql.monitor.features.ten_features import features
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation

KEYS = keys_of(SCHEMA)
AROUND = Surroundings(keys=KEYS, clock=CLOCK)


def share(question: str, where: str, *results: str) -> float:
    evidence = Evidence()
    for text in (question, *results):
        evidence.add(text)
    analysis = analyse_sql(f"SELECT drug FROM prescriptions WHERE {where}", AROUND)
    return ungrounded_fraction(analysis.literals, evidence)


@pytest.mark.parametrize(
    ("question", "where", "expected"),
    [
        ("did patient 10011398 get aspirin?", "drug = 'aspirin' AND hadm_id = 10011398", 0.0),
        ("did patient 10011398 get Aspirin?", "drug = 'aspirin' AND hadm_id = 10011399", 0.5),
        ("any aspirin?", "drug = 'heparin'", 1.0),
        # Numbers are numbers: not parts of others, however written.
        ("patient 10011398", "hadm_id = 100", 1.0),
        ("a dose of 5.0 mg", "dose = 5", 0.0),
        ("a dose of 5 mg", "dose = 5.00", 0.0),
        ("a dose of 5 mg", "dose = '5'", 0.0),
        ("at least two times", "hadm_id >= 2", 0.0),
        ("the patients in their 40s", "hadm_id BETWEEN 40 AND 49", 0.0),
        # Patterns are looked for part by part.
        ("any aspirin?", "drug LIKE '%aspirin%'", 0.0),
        ("vitamin d drugs", "drug LIKE '%vitamin%drug%'", 0.0),
        ("any aspirin?", "drug LIKE '%heparin%'", 1.0),
        # Dates, part by part; bounds of a year, month or day follow from the wording.
        ("since 05/2100", "starttime >= '2100-05-01'", 0.0),
        ("in may 2100", "strftime('%Y-%m', starttime) = '2100-05'", 0.0),
        ("in 2100", "starttime BETWEEN '2100-01-01 00:00:00' AND '2100-12-31 23:59:59'", 0.0),
        ("on 10/30 this year", "strftime('%m-%d', starttime) = '10-30'", 0.0),
        ("since 05/2100", "starttime >= '2023-05-01'", 1.0),
        ("since 05/2100", "starttime >= '2100-07-15'", 1.0),
        # What builds a query isn't what it asks for.
        ("recently", f"starttime < '{CLOCK}'", 0.0),
        ("recently", "strftime('%Y', starttime) = '2100'", 0.0),
        ("recently", "starttime > datetime('now', 'start of year', '-1 year')", 0.0),
        ("how many days", "24 * (julianday(starttime) - 1) > 0", 0.0),
        ("the first one", "route <> '' ORDER BY 2 LIMIT 5 OFFSET 3", 0.0),
        ("what it costs", "route = 'prescriptions'", 0.0),
        ("anything", "route IS NULL", 0.0),
    ],
)
def test_ungrounded_shares_equal_values_decided_by_hand(
    question: str, where: str, expected: float
) -> None:
    assert share(question, where) == expected


def test_an_earlier_result_grounds_a_literal_but_its_counts_do_not() -> None:
    result = "17 rows x 1 cols; sample [['acetylsalicylic acid']]"
    assert share("any aspirin?", "drug = 'acetylsalicylic acid'", result) == 0.0
    assert share("any aspirin?", "hadm_id = 17", result) == 1.0


def test_own_result_and_errors_do_not_ground_a_query() -> None:
    invented = "SELECT drug FROM prescriptions WHERE drug = 'heparin'"
    answer = make_step(
        2,
        action="final_sql",
        sql=invented,
        observation=Observation(kind="rows", rows=1, text="1 rows x 1 cols; sample [['heparin']]"),
    )
    error = make_step(1, observation=Observation(kind="error", text='ERROR: near "heparin"'))
    run = make_trajectory(text="any aspirin?", steps=[error, answer])
    assert features(run.prefix(2), AROUND)["ungrounded_frac"] == 1.0


def test_only_the_committed_query_counts() -> None:
    invented = "SELECT drug FROM prescriptions WHERE drug = 'heparin'"
    run = make_trajectory(text="any aspirin?", steps=[make_step(1, sql=invented)])
    assert features(run.prefix(1), AROUND)["ungrounded_frac"] == 0.0
