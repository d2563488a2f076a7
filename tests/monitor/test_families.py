"""Families of dense features: by hand, at every prefix, finite, and neutral where unobserved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from run_cases import SCHEMA, runs
from sentinel_sql.monitor.families.alarms import ALARMING
from sentinel_sql.monitor.families.table import ALARMS, ALL_FAMILIES, DenseState, names_of, select
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.surroundings import NOWHERE, Surroundings
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Prefix, Telemetry, Trajectory, commitment

AROUND = Surroundings(keys=keys_of(SCHEMA), clock=CLOCK)


def features(prefix: Prefix, surroundings: Surroundings = AROUND) -> dict[str, float]:
    state = DenseState(prefix.question, surroundings)
    for step in prefix.steps:
        state.observe(step, commitment(step, commit_on_error=prefix.commit_on_error))
    return dict(zip(names_of(ALL_FAMILIES), state.vector().tolist(), strict=True))


def answer(
    question: str, sql: str, cells: str | None = "[['7']]", rows: int = 1
) -> dict[str, float]:
    """Return the features of a run that answers at once; no cells: nothing came back."""
    observation = (
        Observation(kind="empty", rows=0, text="empty (0 rows)")
        if cells is None
        else Observation(
            kind="rows", rows=rows, columns=1, text=f"{rows} rows x 1 cols; sample {cells}"
        )
    )
    step = make_step(1, action="final_sql", sql=sql, observation=observation)
    return features(make_trajectory(text=question, steps=[step]).prefix(1))


@given(runs())
@settings(max_examples=60)
def test_a_growing_state_equals_a_fresh_start_at_every_prefix(run: Trajectory) -> None:
    state = DenseState(run.question, AROUND)
    for prefix in run.prefixes():
        if prefix.steps:
            last = prefix.steps[-1]
            state.observe(last, commitment(last, commit_on_error=False))
        grown = dict(zip(names_of(ALL_FAMILIES), state.vector().tolist(), strict=True))
        assert grown == pytest.approx(features(prefix), nan_ok=True, abs=0, rel=0)


@given(runs())
@settings(max_examples=60)
def test_features_are_finite_and_alignment_needs_an_answer(run: Trajectory) -> None:
    for surroundings in (AROUND, NOWHERE):
        for prefix in run.prefixes():
            values = features(prefix, surroundings)
            assert not any(math.isinf(value) for value in values.values())
            if prefix.commitment != "answer":
                waiting = {
                    n for n in values if n.startswith(("slots", "shape", "structure", ALARMS))
                }
                assert all(math.isnan(values[name]) for name in waiting)


@given(runs(longest=3))
@settings(max_examples=30)
def test_selecting_families_equals_reading_them_only(run: Trajectory) -> None:
    whole, cut = DenseState(run.question, AROUND), DenseState(run.question, AROUND, CUT)
    for step in run.steps:
        for state in (whole, cut):
            state.observe(step, commitment(step, commit_on_error=False))
    assert np.array_equal(select(whole.vector()[None], CUT)[0], cut.vector(), equal_nan=True)


CUT = ("shape", "slots", ALARMS)


def test_every_alarm_is_a_feature_of_its_family() -> None:
    names = set(names_of(ALL_FAMILIES))
    assert {f"{family}.{name}" for family, its in ALARMING.items() for name in its} <= names


COUNT = "how many patients were admitted in 2100?"
FINE = "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE strftime('%Y', admittime) = '2100'"


def test_fitting_answer_raises_no_alarm() -> None:
    values = answer(COUNT, FINE)
    raised = {
        name
        for name, value in values.items()
        if name.partition(".")[2] in ALARMING.get(name.partition(".")[0], ()) and value > 0
    }
    assert raised <= {"slots.counted_elsewhere"}


@pytest.mark.parametrize(
    ("feature", "question", "sql", "cells"),
    [
        ("shape.zero_count", COUNT, FINE, "[['0']]"),
        ("shape.null_alone", COUNT, FINE, "[['None']]"),
        ("shape.void", COUNT, FINE, None),
        (
            "intent.time_not_returned",
            "when was the first glucose of admission 24111111?",
            "SELECT valuenum FROM labevents WHERE hadm_id = 24111111 ORDER BY row_id LIMIT 1",
            "[['7.5']]",
        ),
        (
            "intent.time_unasked",
            "what was the dose of the last drug of admission 24111111?",
            "SELECT MAX(admittime) FROM admissions WHERE hadm_id = 24111111",
            "[['2100-01-01 10:00:00']]",
        ),
        (
            "intent.truth_not_returned",
            "has admission 24111111 had any glucose?",
            "SELECT drug FROM prescriptions WHERE hadm_id = 24111111",
            "[['x']]",
        ),
        (
            "intent.average_missing",
            "what was the average glucose of admission 24111111?",
            "SELECT valuenum FROM labevents WHERE hadm_id = 24111111",
            "[['7.5']]",
        ),
        (
            "intent.order_missing",
            "which drug did admission 24111111 get last?",
            "SELECT drug FROM prescriptions WHERE hadm_id = 24111111",
            "[['x']]",
        ),
        (
            "intent.wrong_end",
            "what was the last route of admission 24111111?",
            "SELECT route FROM prescriptions WHERE hadm_id = 24111111 ORDER BY row_id LIMIT 1",
            "[['x']]",
        ),
        (
            "intent.top_differs",
            "what are the three most common drugs?",
            "SELECT drug FROM prescriptions GROUP BY drug ORDER BY COUNT(*) DESC LIMIT 5",
            "[['x']]",
        ),
        (
            "slots.id_missing",
            "gender of patient 10011111",
            "SELECT gender FROM patients WHERE subject_id = 10012222",
            "[['f']]",
        ),
        (
            "slots.id_on_other_key",
            "drugs of patient 10011111",
            "SELECT drug FROM prescriptions WHERE hadm_id = 10011111",
            "[['x']]",
        ),
        (
            "slots.year_invented",
            "how many admissions were there since 1 year ago?",
            "SELECT COUNT(*) FROM admissions WHERE strftime('%Y', admittime) = '2021'",
            "[['0']]",
        ),
        (
            "slots.since_as_equality",
            "how many admissions were there since 2100?",
            "SELECT COUNT(*) FROM admissions WHERE strftime('%Y', admittime) = '2100'",
            "[['9']]",
        ),
        (
            "slots.span_missing",
            "how many admissions were there in 2100?",
            "SELECT COUNT(*) FROM admissions",
            "[['9']]",
        ),
        (
            "slots.months_missing",
            "how many admissions were there in 08/2100?",
            "SELECT COUNT(*) FROM admissions WHERE strftime('%Y-%m', admittime) = '2100-09'",
            "[['9']]",
        ),
        (
            "structure.mixed_or",
            "how many got heparin or aspirin as po?",
            "SELECT COUNT(*) FROM prescriptions WHERE route = 'po' AND drug = 'heparin' "
            "OR drug = 'aspirin'",
            "[['9']]",
        ),
        (
            "structure.idle_tables",
            "how many women?",
            "SELECT COUNT(*) FROM patients p JOIN admissions a ON a.subject_id = p.subject_id "
            "WHERE p.gender = 'f'",
            "[['9']]",
        ),
        (
            "structure.bare_beside_aggregate",
            "change of glucose",
            "SELECT valuenum - MIN(valuenum) FROM labevents",
            "[['9']]",
        ),
        (
            "structure.label_as_code",
            "heart rate?",
            "SELECT valuenum FROM labevents WHERE itemid = 'heart rate'",
            "[['9']]",
        ),
        (
            "provenance.any_text_only_asked",
            "how many got heparin?",
            "SELECT COUNT(*) FROM prescriptions WHERE drug = 'heparin'",
            "[['9']]",
        ),
        (
            "provenance.any_number_nowhere",
            "how many glucose values?",
            "SELECT COUNT(*) FROM labevents WHERE itemid = 50931",
            "[['9']]",
        ),
    ],
)
def test_each_disagreement_sets_its_feature_and_a_fitting_answer_does_not(
    feature: str, question: str, sql: str, cells: str | None
) -> None:
    assert answer(question, sql, cells)[feature] > 0
    assert answer(COUNT, FINE)[feature] == 0


def test_text_from_an_earlier_result_is_grounded() -> None:
    sql = "SELECT COUNT(*) FROM prescriptions WHERE drug = 'heparin sodium'"
    shown = Observation(kind="rows", rows=1, text="1 rows x 1 cols; sample [['heparin sodium']]")
    looked = make_step(1, sql="SELECT DISTINCT drug FROM prescriptions", observation=shown)
    final = make_step(2, action="final_sql", sql=sql)
    seen = features(make_trajectory(text="how many got heparin?", steps=[looked, final]).prefix(2))
    assert seen["provenance.texts_seen"] == 1.0
    blind = answer("how many got heparin?", sql)
    assert blind["provenance.any_text_nowhere"] == 1.0


def test_failures_count_error_classes_repeats_and_earlier_results() -> None:
    error = Observation(kind="error", error="no such column: x", text="ERROR: no such column: x")
    steps = [
        make_step(1, sql="SELECT x FROM patients", observation=error),
        make_step(2, sql="select  X from patients", observation=error),
    ]
    values = features(make_trajectory(steps=steps).prefix(2))
    assert values["failures.error_share"] == 1.0
    assert values["failures.error_column"] == math.log1p(2)
    assert values["failures.newest_repeats"] == 1.0
    assert values["failures.after_error"] == 1.0
    assert values["failures.newest_misses"] == 1.0


def test_telemetry_trend_is_the_least_squares_slope() -> None:
    means = [-0.5, -0.1, -0.9, -0.2]
    steps = [
        make_step(i, telemetry=Telemetry(logprobs=(mean,), entropies=()))
        for i, mean in enumerate(means, start=1)
    ]
    values = features(make_trajectory(steps=steps).prefix(4))
    assert values["dynamics.trend_lp_mean"] == pytest.approx(np.polyfit(range(4), means, 1)[0])
    assert values["dynamics.change_lp_mean"] == pytest.approx(-0.2 - np.mean(means[:3]))
    assert values["dynamics.lowest_lp_mean"] == -0.9
    assert math.isnan(values["dynamics.newest_ent_mean"])
