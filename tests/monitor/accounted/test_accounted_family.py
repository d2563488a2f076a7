"""What the family `accounted` sees of a question and a committed query, and what it leaves open."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.coverage import Coverage, CoveredPhrase, PhraseMatch
from sentinel_sql.monitor.families import probes, structure
from sentinel_sql.monitor.families.accounted import FEATURES, AccountState
from sentinel_sql.monitor.families.step_reading import view_question, view_step
from sentinel_sql.monitor.features.keys import Keys
from sentinel_sql.monitor.surroundings import NOWHERE, Surroundings
from sentinel_sql.schema import ForeignKey, Schema
from sentinel_sql.trajectory.record import AskedQuestion, Observation, Probes, Step

SCHEMA = Schema(
    tables={
        "patients": {"subject_id": "INTEGER", "gender": "TEXT"},
        "admissions": {"hadm_id": "INTEGER", "subject_id": "INTEGER", "fee": "REAL"},
        "labs": {"hadm_id": "INTEGER", "itemid": "INTEGER", "value": "REAL"},
        "d_labs": {"itemid": "INTEGER", "label": "TEXT"},
        "wards": {"ward": "TEXT"},
    },
    foreign_keys=tuple(
        ForeignKey(table=table, column=column, to_table=to, to_column=column)
        for table, column, to in (
            ("admissions", "subject_id", "patients"),
            ("labs", "hadm_id", "admissions"),
            ("labs", "itemid", "d_labs"),
        )
    ),
)
AROUND = Surroundings(keys=Keys(schema=SCHEMA))


def step(sql: str, text: str = "1 rows x 1 cols; sample [['3']]", **more: object) -> Step:
    action = more.pop("action", "final_sql")
    seen = Observation(kind="rows", rows=1, columns=1, text=text, **more)
    return Step(index=1, action=action, sql=sql, observation=seen)


def state_after(question: str | AskedQuestion, *steps: Step) -> AccountState:
    asked = (
        question if isinstance(question, AskedQuestion) else AskedQuestion(id="q", text=question)
    )
    state = AccountState(view_question(asked, AROUND))
    for at, each in enumerate(steps, 1):
        state.observe(view_step(each, "answer" if at == len(steps) else None, AROUND))
    return state


def features(state: AccountState) -> dict[str, float]:
    return dict(zip(FEATURES, state.values(), strict=True))


CODE = "SELECT AVG(value) FROM labs WHERE itemid = 220210"
URINE = "What is the average value of urea nitrogen in the labs?"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        (
            "SELECT itemid, label FROM d_labs",
            "1 rows x 2 cols; sample [['220210', 'Urea Nitrogen']]",
        ),
        (
            "SELECT itemid FROM d_labs WHERE label LIKE '%urea nitrogen%'",
            "1 rows x 1 cols; sample [['220210']]",
        ),
        (
            "SELECT label, itemid FROM d_labs",
            "1 rows x 2 cols; sample [['urea nitrogen', '220210']]",
        ),
    ],
)
def test_a_code_accounts_for_the_label_that_an_earlier_result_shows(sql: str, text: str) -> None:
    assert state_after(URINE, step(sql, text, action="sql"), step(CODE)).unaccounted == ()


@pytest.mark.parametrize("code", ["220210", "50833", "7"])
def test_a_code_that_no_result_shows_beside_the_label_accounts_for_nothing(code: str) -> None:
    other = step(
        "SELECT itemid, label FROM d_labs", "1 rows x 2 cols; sample [['1', 'x']]", action="sql"
    )
    found = state_after(URINE, other, step(CODE.replace("220210", code)))
    assert found.unaccounted == ("urea nitrogen",)


def test_a_result_of_the_final_query_itself_explains_no_code() -> None:
    final = step(
        "SELECT value, itemid FROM labs WHERE itemid = 220210",
        "1 rows x 2 cols; sample [['urea nitrogen', '220210']]",
    )
    assert state_after(URINE, final).unaccounted == ("average", "urea nitrogen")


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the blood group of patient 7?", "SELECT gender FROM patients WHERE subject_id=7"),
        ("Is there a blood group of patient 7?", "SELECT 1 FROM patients WHERE subject_id = 7"),
        ("Which patients have blood group A?", "SELECT subject_id FROM patients"),
        ("Blood group of each patient", "SELECT subject_id, gender FROM patients"),
        ("Blood group of each patient", "SELECT gender AS blood_group FROM patients"),
        (
            "Blood group of each patient",
            "SELECT gender blood_group FROM patients ORDER BY blood_group",
        ),
        (
            "Blood group of each patient",
            "WITH blood_group AS (SELECT gender FROM patients) SELECT * FROM blood_group",
        ),
    ],
)
def test_neighbouring_words_become_one_phrase_as_written(question: str, sql: str) -> None:
    (phrase,) = state_after(question, step(sql)).unaccounted
    assert phrase.lower() == "blood group"
    assert phrase in question


@pytest.mark.parametrize(
    "frame",
    ["For the quality board, ", "The charge nurse asks: ", "Quick one for the handover: ", ""],
)
def test_what_only_introduces_a_question_needs_no_account(frame: str) -> None:
    question = f"{frame}how many labs are there?"
    asked = AskedQuestion(id="q", text=question)
    state = AccountState(view_question(asked, AROUND))
    state.observe(view_step(step("SELECT COUNT(*) FROM labs"), "answer", AROUND))
    assert state.unaccounted == ()


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Fees of admission 7", "SELECT fee FROM admissions WHERE hadm_id = 7"),
        ("Which items has patient 3?", "SELECT hadm_id FROM admissions WHERE subject_id = 3"),
        ("Values of lab items of admission 7", "SELECT value FROM labs WHERE hadm_id = 7"),
    ],
)
def test_the_key_of_a_table_accounts_for_its_name(question: str, sql: str) -> None:
    words = [word for word in ("admission", "patient", "lab") if word in question]
    phrases = tuple(
        CoveredPhrase(
            text=word,
            start=question.index(word),
            words=(word,),
            matches=(PhraseMatch(kind="table", table=f"{word}s"),),
        )
        for word in words
    )
    asked = AskedQuestion(id="q", text=question, coverage=Coverage(phrases=phrases))
    assert state_after(asked, step(sql)).unaccounted == ()


@pytest.mark.parametrize("condition", ["itemid = 50833", "fee > 310", "ward = 'north wing'"])
def test_a_condition_that_nobody_asked_for_is_counted(condition: str) -> None:
    plain = features(state_after("How many labs are there?", step("SELECT COUNT(*) FROM labs")))
    sql = f"SELECT COUNT(*) FROM labs WHERE {condition}"
    more = features(state_after("How many labs are there?", step(sql)))
    assert (plain["conditions_unasked"], more["conditions_unasked"]) == (0.0, 1.0)


def test_women_are_accounted_for_by_a_gender() -> None:
    sql = "SELECT COUNT(*) FROM patients WHERE gender = 'F'"
    found = state_after("How many women are patients?", step(sql))
    assert found.unaccounted == ()
    assert features(found)["conditions_unasked"] == 0.0


def test_everything_is_unseen_before_an_answer_and_for_an_unreadable_question() -> None:
    unread = AskedQuestion(
        id="q",
        text="Wie viele Blutgruppen?",
        coverage=Coverage(readable=False, why_unread="not English"),
    )
    after = state_after(unread, step("SELECT COUNT(*) FROM patients"))
    fresh = AccountState(view_question(AskedQuestion(id="q", text="any"), NOWHERE))
    for state in (after, fresh):
        assert all(map(math.isnan, state.values()))
        assert state.unaccounted == ()


def test_what_the_database_holds_is_told_from_what_it_does_not() -> None:
    held = PhraseMatch(kind="value", table="d_labs", column="label")
    text = "hepatitis markers glucose"
    phrases = (
        CoveredPhrase(text="hepatitis", start=0, words=("hepatitis",)),
        CoveredPhrase(text="glucose", start=18, words=("glucose",), matches=(held,)),
    )
    asked = AskedQuestion(id="q", text=text, coverage=Coverage(phrases=phrases))
    seen = features(state_after(asked, step("SELECT COUNT(*) FROM patients")))
    assert (seen["lacking"], seen["unheld"], seen["texts_lacking"]) == (2.0, 1.0, 1.0)


@given(st.text(max_size=300), st.text(max_size=200))
def test_no_text_of_a_question_or_result_stops_the_family(question: str, cell: str) -> None:
    sample = f"1 rows x 1 cols; sample [[{cell!r}, '12']]"
    first = step("SELECT label, itemid FROM d_labs", sample, action="sql")
    found = state_after(question, first, step(CODE))
    assert all(phrase in question for phrase in found.unaccounted)


def test_the_time_grows_at_most_in_proportion_to_the_steps() -> None:
    def seconds(steps: int) -> float:
        sample = "1 rows x 2 cols; sample [['{}', 'some label of this code']]"
        each = [
            step("SELECT itemid, label FROM d_labs", sample.format(at), action="sql")
            for at in range(steps)
        ]
        started = time.perf_counter()
        state_after(URINE, *each, step(CODE))
        return time.perf_counter() - started

    seconds(50)
    assert min(seconds(800) for _ in range(3)) < 16 * min(seconds(200) for _ in range(3))


@pytest.mark.parametrize(
    ("sql", "detours"),
    [
        ("SELECT COUNT(*) FROM patients p JOIN admissions a ON a.subject_id = p.subject_id "
         "JOIN labs l ON l.hadm_id = a.hadm_id WHERE p.gender = 'F' AND l.value > 2", 0.0),
        ("SELECT AVG(a.fee) FROM admissions a JOIN labs l ON l.hadm_id = a.hadm_id "
         "JOIN patients p ON a.subject_id = p.subject_id WHERE p.gender = 'F'", 1.0),
        ("SELECT AVG(l.value) FROM labs l JOIN d_labs d ON l.itemid = d.itemid "
         "JOIN admissions a ON l.hadm_id = a.hadm_id WHERE d.label = 'x'", 1.0),
        ("SELECT gender FROM patients", 0.0),
    ],
)  # fmt: skip
def test_a_join_off_the_shortest_way_is_a_detour(sql: str, detours: float) -> None:
    state = structure.StructureState(view_question(AskedQuestion(id="q", text="x"), AROUND))
    state.observe(view_step(step(sql), "answer", AROUND))
    assert dict(zip(structure.FEATURES, state.values(), strict=True))["detours"] == detours


def test_tables_that_no_key_connects_have_no_shortest_way() -> None:
    assert Keys(schema=SCHEMA).tables_between(frozenset({"wards", "labs"})) is None


JOINED = "FROM admissions a JOIN labs l ON l.hadm_id = a.hadm_id"


@pytest.mark.parametrize(
    ("sql", "chain", "expected"),
    [
        (f"SELECT SUM(a.fee) {JOINED}", (10, 40), 1.0),
        (f"SELECT AVG(a.fee) {JOINED}", (10, 40), 1.0),
        (f"SELECT COUNT(a.hadm_id) {JOINED}", (10, 40), 1.0),
        (f"SELECT COUNT(DISTINCT a.hadm_id) {JOINED}", (10, 40), 0.0),
        (f"SELECT AVG(l.value) {JOINED}", (10, 40), 0.0),
        (f"SELECT SUM(a.fee) {JOINED}", (10, 8), 0.0),
        (f"SELECT SUM(a.fee) {JOINED}", (10, None), math.nan),
    ],
)
def test_an_aggregate_over_multiplied_rows_is_told(
    sql: str, chain: tuple[int | None, ...], expected: float
) -> None:
    state = probes.ProbeState(view_question(AskedQuestion(id="q", text="x"), AROUND))
    state.observe(view_step(step(sql, probes=Probes(chain=chain)), "answer", AROUND))
    found = dict(zip(probes.FEATURES, state.values(), strict=True))["multiplied_aggregate"]
    assert found == pytest.approx(expected, nan_ok=True)
