"""The value index: what enters it, how it is found, and who may read it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.database.executor import Database, Limits
from sentinel_sql.database.opening import open_database
from sentinel_sql.database.value_index.hints import find_hints, hints
from sentinel_sql.database.value_index.opening import columns_in, default_file, open_value_index
from sentinel_sql.database.value_index.words import words_of
from sentinel_sql.errors import DatabaseError, InputError
from sentinel_sql.testing import ScriptedModel
from sentinel_sql.trajectory.record import AskedQuestion

PLANTED = ("Quillfeather", "Zanzibarstreet", "quill@", "+44 20 7946", "wept", "Nightingale")
SQL = """
CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, address TEXT, email TEXT,
  contact_tel TEXT, gender TEXT, alias TEXT);
CREATE TABLE d_tests (code TEXT PRIMARY KEY, label TEXT);
CREATE TABLE d_carers (id INTEGER PRIMARY KEY, label TEXT);
CREATE TABLE results (id INTEGER PRIMARY KEY, code TEXT REFERENCES d_tests (code),
  carer INTEGER REFERENCES d_carers (id), ward TEXT, seen_by TEXT, story TEXT);
"""


def write(path: Path, *, wards: tuple[str, ...] = ("north wing", "South's end")) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SQL)
        for at in range(40):
            connection.execute(
                "INSERT INTO patients VALUES (?,?,?,?,?,?,?)",
                (
                    *(at, f"Quillfeather {at}", f"{at} Zanzibarstreet", f"quill@{at}.org"),
                    *(f"+44 20 7946 {at:04}", "fm"[at % 2], f"Quillfeather alias {at}"),
                ),
            )
            connection.execute(
                "INSERT INTO results VALUES (?,?,?,?,?,?)",
                (
                    *(at, f"t{at % 3}", at % 3, wards[at % len(wards)]),
                    *(f"Mary Nightingale {at % 2}", f"{'she wept and ' * 12}{at % 4}"),
                ),
            )
        labels = ("urea nitrogen, serum", "heparin sodium (porcine)", "Größe")
        connection.executemany(
            "INSERT INTO d_tests VALUES (?,?)", zip(("t0", "t1", "t2"), labels, strict=False)
        )
        carers = ("Mary Nightingale", "John Nightingale", "Anna Nightingale")
        connection.executemany("INSERT INTO d_carers VALUES (?,?)", enumerate(carers))
        connection.commit()
    return path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(write(tmp_path / "clinic.sqlite")) as opened:
        yield opened


def test_only_names_of_things_are_indexed(database: Database) -> None:
    with open_value_index(database) as index:
        columns = {f"{it.table}.{it.column}": it.texts for it in index.columns}
    assert columns == {"patients.gender": 2, "d_tests.label": 3, "results.ward": 2}


def test_no_written_file_holds_a_persons_data(database: Database, tmp_path: Path) -> None:
    model = ScriptedModel(["FINAL_SQL: SELECT COUNT(*) FROM results"])
    with open_value_index(database) as index:
        prompt = Prompt.build(database.schema, database.clock, name="grounded")
        agent = ReactAgent(model=model, database=database, prompt=prompt, index=index)
        run = agent.run(AskedQuestion(id="a", text="urea nitrogen of Quillfeather 7, north wing?"))
    (tmp_path / "run.json").write_text(run.model_copy(update={"question": None}).model_dump_json())
    written = [path for path in tmp_path.iterdir() if path.name != "clinic.sqlite"]
    assert len(written) >= 2
    for path in written:
        content = path.read_bytes().lower()
        assert [word for word in PLANTED if word.lower().encode() in content] == []


def test_columns_of_people_are_indexed_where_they_are_named(database: Database) -> None:
    with open_value_index(database, columns=["Patients.NAME"]) as index:
        assert any(it.table == "patients" and it.column == "name" for it in index.columns)
    with pytest.raises(InputError, match="has no column"):
        open_value_index(database, columns=["patients.nme"])


def test_hint_shows_the_stored_spelling_and_its_code(database: Database) -> None:
    found = hints("how many urea nitrogen tests in the north wing, on heparin?", database)
    assert set(found.lines) == {
        "d_tests.label = 'urea nitrogen, serum' (code 't0')",
        "results.ward = 'north wing'",
        "d_tests.label = 'heparin sodium (porcine)' (code 't1')",
    }
    misspelt = hints("serum urea nitrogn of 2100?", database)
    assert misspelt.lines[0].startswith("d_tests.label = 'urea")
    assert hints("who is the nurse of patient 12?", database).text == ""


def test_every_stored_text_is_found_by_itself(database: Database) -> None:
    with open_value_index(database) as index:
        for text in ("urea nitrogen, serum", "South's end", "Größe", "heparin sodium (porcine)"):
            assert any(text == it.text for it in find_hints(text, index).matches)
            assert any(text == it.text for it in index.same_words(words_of(text)))
            assert any(text == it.text for it in index.with_words(words_of(text)))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("shared")
    with open_database(write(folder / "clinic.sqlite")) as opened:
        yield opened


def test_no_question_makes_hints_fail(shared: Database) -> None:
    with open_value_index(shared) as index:

        @given(st.text(max_size=200))
        def check(question: str) -> None:
            assert len(find_hints(question, index).matches) <= 5

        check()


def test_index_is_for_its_owner_alone(database: Database) -> None:
    with open_value_index(database):
        assert stat.S_IMODE(default_file(database).stat().st_mode) == 0o600


def test_index_is_made_anew_when_the_database_changes(database: Database, tmp_path: Path) -> None:
    with open_value_index(database):
        before = default_file(database).stat()
    with open_value_index(database):
        assert default_file(database).stat().st_ino == before.st_ino
    with closing(sqlite3.connect(tmp_path / "clinic.sqlite")) as connection:
        connection.execute("UPDATE results SET ward = 'lakeside pavilion' WHERE id % 2 = 0")
        connection.commit()
    assert hints("beds of the lakeside pavilion", database).matches[0].text == "lakeside pavilion"


def test_foreign_file_is_refused_and_a_damaged_index_made_anew(
    database: Database, tmp_path: Path
) -> None:
    for content in (b"my notes\n" * 200, (tmp_path / "clinic.sqlite").read_bytes(), b""):
        other = tmp_path / "other.values"
        other.write_bytes(content)
        with pytest.raises(DatabaseError, match="is no value index"):
            open_value_index(database, file=other)
        assert other.read_bytes() == content
    with open_value_index(database):
        file = default_file(database)
    os.truncate(file, 4096)
    with open_value_index(database) as index:
        assert index.size == 7


def test_column_of_any_size_is_read_page_by_page(tmp_path: Path) -> None:
    wards = tuple(f"ward {'abcdefghij'[at % 10]}'{at}" for at in range(20))
    path = write(tmp_path / "many.sqlite", wards=wards)
    with (
        open_database(path, limits=Limits(rows=3)) as opened,
        open_value_index(opened) as index,
    ):
        assert {it.column: it.texts for it in index.columns}["ward"] == 20


def test_index_is_part_of_the_agents_identity_and_hints_of_its_first_step(
    database: Database,
) -> None:
    prompt = Prompt.build(database.schema, database.clock, name="grounded")
    prints = set()
    for columns in ([], ["patients.alias"]):
        model = ScriptedModel(["SQL: SELECT 1", "FINAL_SQL: SELECT 2"])
        with open_value_index(database, columns=columns) as index:
            agent = ReactAgent(model=model, database=database, prompt=prompt, index=index)
            run = agent.run(AskedQuestion(id="a", text="tests in the north wing?"))
        prints.add(run.agent.fingerprint)
        assert [step.hints for step in run.steps] == [("results.ward = 'north wing'",), ()]
    assert len(prints) == 2
    with pytest.raises(InputError, match="needs a value index"):
        ReactAgent(model=ScriptedModel(["x"]), database=database, prompt=prompt)


def test_doctor_can_list_what_is_indexed(database: Database) -> None:
    assert columns_in(database) is None
    with open_value_index(database):
        listed = columns_in(database)
    assert listed is not None
    assert sum(it.texts for it in listed) == 7
