"""A coverage record: what a database holds of a question's words."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postgres_cluster import PostgresCluster
from sentinel_sql.coverage import Coverage
from sentinel_sql.database.coverage.cover import DatabaseGrounder, open_grounder
from sentinel_sql.database.coverage.readable import why_unreadable
from sentinel_sql.database.executor import ExecutionResult
from sentinel_sql.database.opening import open_database
from sentinel_sql.database.value_index.opening import open_value_index

CASES = tomllib.loads((Path(__file__).parent / "unreadable_questions.toml").read_text())
CLOCK = "2100-12-31 23:59:00"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("coverage") / "ward.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            """
            CREATE TABLE d_labitems (itemid INTEGER PRIMARY KEY, label TEXT);
            CREATE TABLE patients (subject_id INTEGER PRIMARY KEY, last_name TEXT, gender TEXT);
            CREATE TABLE labevents (row_id INTEGER PRIMARY KEY, subject_id INTEGER
              REFERENCES patients (subject_id), itemid INTEGER REFERENCES d_labitems (itemid),
              charttime TIMESTAMP);
            INSERT INTO d_labitems VALUES (50801, 'urea nitrogen'), (50802, 'creatinine'),
              (50803, 'alveolar-arterial gradient');
            INSERT INTO patients VALUES (10018423, 'Zwetschkenbaum', 'f'), (10018424, 'Birn', 'm');
            INSERT INTO labevents VALUES (1, 10018423, 50801, '2099-01-01 10:00:00'),
              (2, 10018424, 50802, '2100-01-01 10:00:00');
            """
        )
    return file


@pytest.fixture(scope="module")
def grounder(path: Path) -> Iterator[DatabaseGrounder]:
    with open_database(path, clock=CLOCK) as database, open_grounder(database) as opened:
        yield opened


def best(coverage: Coverage) -> dict[str, str | None]:
    """Return each phrase with the kind and the way of its surest match."""
    return {
        phrase.text: f"{phrase.matches[0].kind} {phrase.matches[0].how}" if phrase.matches else None
        for phrase in coverage.phrases
    }


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was the urea nitrogen of patient 10018423?",
         {"urea nitrogen": "value exact", "10018423": "id exact"}),
        ("What was the blood group of patient 10018423?",
         {"blood": None, "group": None, "10018423": "id exact"}),
        ("the newest nitrogen value of 99999999", {"nitrogen": "value partly", "99999999": None}),
        ("how many lab events in 2099", {"lab": None, "events": "table abbreviated",
                                        "2099": "date exact"}),
        ("genders of patients with creatinin", {"genders": "column exact",
                                               "creatinin": "value alike"}),
        ("religion of the patients admitted in 2101", {"religion": None, "admitted": None,
                                                       "2101": "after-clock exact"}),
        ("charted in 1850", {"charted": None, "1850": None}),
        ("values above 3.5", {"3.5": "number exact"}),
    ],
)  # fmt: skip
def test_each_phrase_is_looked_up(
    question: str, expected: dict[str, str | None], grounder: DatabaseGrounder
) -> None:
    assert best(grounder.ground(question)) == expected


@pytest.mark.parametrize(
    "question",
    [text for name in ("german", "french", "mistyped", "follow_ups") for text in CASES[name]],
)
def test_what_cannot_be_read_is_said(question: str, grounder: DatabaseGrounder) -> None:
    made = grounder.ground(question)
    assert (made.readable, bool(made.why_unread)) == (False, True)


@pytest.mark.parametrize("question", CASES["follow_ups"])
def test_a_follow_up_is_read_with_what_was_said_before(
    question: str, grounder: DatabaseGrounder
) -> None:
    before = "How many women had a lab test of urea nitrogen in 2099?"
    made = grounder.ground(question, [before])
    assert made.readable
    assert [p for p in made.phrases if not p.earlier] == list(grounder.ground(question).phrases)
    earlier = [p.text for p in made.phrases if p.earlier]
    assert earlier == [p.text for p in grounder.ground(before).phrases]


def test_earlier_turns_in_another_tongue_leave_a_follow_up_unread(
    grounder: DatabaseGrounder,
) -> None:
    before = "Wie viele Frauen hatten im Jahr 2099 einen Test von Harnstoff?"
    assert not grounder.ground("and women?", [before]).readable


@pytest.mark.parametrize("question", CASES["english"])
def test_english_is_read_however_short(question: str) -> None:
    held = {"heart", "rate", "icu", "stay", "lab", "item", "id", "hematocrit", "icd", "code"}
    held |= {"coagulation", "defect"}
    assert why_unreadable(question, held) is None


def test_a_phrase_stands_where_the_question_has_it(grounder: DatabaseGrounder) -> None:
    question = "  Was the  Urea   nitrogen high, and the blood-group?"
    for phrase in grounder.ground(question).phrases:
        assert question[phrase.start : phrase.start + len(phrase.text)] == phrase.text


@given(question=st.text(max_size=200))
@settings(max_examples=150)
def test_any_text_has_a_record_that_json_keeps(question: str) -> None:
    made = TEXTS.ground(question)
    assert Coverage.model_validate_json(made.model_dump_json()) == made
    assert TEXTS.ground(question) == made


class _Texts:
    """A grounder that is made at its first use, as hypothesis takes no fixture of a module."""

    def __init__(self) -> None:
        self._made: DatabaseGrounder | None = None

    def ground(self, question: str) -> Coverage:
        if self._made is None:
            import tempfile

            file = Path(tempfile.mkdtemp()) / "t.sqlite"
            with closing(sqlite3.connect(file)) as connection:
                connection.executescript("CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('a b')")
            self._made = open_grounder(open_database(file, clock=CLOCK))
        return self._made.ground(question)


TEXTS = _Texts()


def test_stored_texts_are_kept_only_if_asked_for_and_never_those_of_people(path: Path) -> None:
    question = "was the urea nitrogen of Zwetschkenbaum high?"
    with open_database(path, clock=CLOCK) as database:
        for keep in (False, True):
            with open_grounder(database, keep_values=keep) as grounder:
                made = grounder.ground(question)
            said = json.dumps([it.model_dump() for it in made.phrases[0].matches])
            assert ("urea nitrogen" in said) == keep
            name = next(it for it in made.phrases if it.text == "Zwetschkenbaum")
            assert not name.matches


class Slow:
    """A database whose queries each take a while."""

    def __init__(self, inner: object) -> None:
        self._inner = inner
        self.calls = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def execute(self, sql: str) -> ExecutionResult:
        self.calls += 1
        time.sleep(0.3)
        return self._inner.execute(sql)  # type: ignore[attr-defined,no-any-return]


def test_a_slow_database_costs_a_question_no_more_than_its_budget(
    path: Path, tmp_path: Path
) -> None:
    with (
        open_database(path, clock=CLOCK) as database,
        open_value_index(database, file=tmp_path / "i.values") as index,
    ):
        slow = Slow(database)
        grounder = DatabaseGrounder(slow, index)  # type: ignore[arg-type]
        began = time.monotonic()
        for number in range(10018423, 10018433):
            made = grounder.ground(f"how many labs has patient {number} in 2099")
        assert slow.calls <= 12
        assert time.monotonic() - began < 10
        assert made.phrases[-2].matches[0].kind == "number"  # not known, and so not unheld


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_other_databases_have_the_same_record(
    kind: str, path: Path, tmp_path: Path, postgres_cluster: PostgresCluster
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        lines = list(connection.iterdump())
    ordered = ["d_labitems", "patients", "labevents"]
    script = [dict(tables)[name] for name in ordered] + [
        line for name in ordered for line in lines if line.startswith(f'INSERT INTO "{name}"')
    ]
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with closing(duckdb.connect(str(tmp_path / "ward.duckdb"))) as made:
            for statement in script:
                made.execute(statement)
        address = f"duckdb:///{tmp_path / 'ward.duckdb'}"
    else:
        import psycopg

        address = postgres_cluster.create(f"coverage{os.getpid()}")
        with psycopg.connect(address) as made:
            for statement in script:
                made.execute(statement.encode())
    questions = (
        "What was the urea nitrogen of patient 10018423?",
        "religion of patient 99999999 admitted in 2101, with creatinin",
        "how many lab events in 2099 and in 1850",
    )
    with open_database(path, clock=CLOCK) as one, open_grounder(one) as first:
        expected = [first.ground(question) for question in questions]
    with open_database(address, clock=CLOCK) as other:
        index = tmp_path / f"{kind}.values"
        with open_grounder(other, index=index) as second:
            assert [second.ground(question) for question in questions] == expected
