from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.errors import QuestionsError
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question

OWN = [
    {"id": "a", "question": "How many?", "gold_sql": "SELECT COUNT(*) FROM t", "template": "n"},
    {"id": "b", "question": "Who calls, and why?\nSay!", "gold_sql": None},
    {"id": "c", "question": "Which?", "gold_sql": "SELECT x FROM t", "gold_answer": "[['y']]"},
]
V1 = [
    {
        "id": "k1", "db_id": "eicu", "question": "what is it?", "template": "what is it",
        "query": "select 1", "q_tag": "what is {x}?", "tag": "what is {x} [t]?",
        "is_impossible": False, "split": "train",
    },
    {
        "id": "k2", "db_id": "eicu", "question": "who calls?", "template": "phone",
        "query": "nan", "is_impossible": True, "split": "train",
    },
]  # fmt: skip
DATA = {
    "version": "valid_v9",
    "data": [{"id": "x", "question": "A?"}, {"id": "y", "question": "B"}],
}
LABEL = {"x": "SELECT 1", "y": "null"}
ANSWER = {"x": "[['1']]", "y": "null"}


def put(path: Path, content: object) -> Path:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        path.write_text(json.dumps(content))
    return path


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def table(records: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(key for record in records for key in record))
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns)
    writer.writeheader()
    writer.writerows(records)
    return sink.getvalue()


def test_own_json_lines_and_csv_are_read_alike_under_any_name(tmp_path: Path) -> None:
    one = read_questions([put(tmp_path / "q.csv", lines(OWN))])
    other = read_questions([put(tmp_path / "q.jsonl", table(OWN))])
    packed = read_questions([put(tmp_path / "q.txt", gzip.compress(table(OWN).encode()))])
    marked = read_questions([put(tmp_path / "bom", b"\xef\xbb\xbf" + table(OWN).encode())])
    assert one == other == packed == marked
    assert one[0] == Question(
        id="a", text="How many?", answerable=True, gold_sql="SELECT COUNT(*) FROM t", template="n"
    )
    assert (one[1].answerable, one[1].gold_sql) == (False, None)
    assert one[2].gold_answer == "[['y']]"


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.text(min_size=1).filter(str.strip),
                "question": st.text(min_size=1).filter(str.strip),
                "gold_sql": st.none() | st.text(min_size=8).filter(lambda s: len(s.strip()) > 4),
            }
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda record: record["id"],
    )
)
def test_any_text_survives_json_lines(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = put(tmp_path_factory.mktemp("own") / "q.jsonl", lines(records))
    found = [
        {"id": q.id, "question": q.text, "gold_sql": q.gold_sql} for q in read_questions([path])
    ]
    assert found == records


def test_ehrsql_v1_takes_the_question_tag_or_the_topic_as_template(tmp_path: Path) -> None:
    one, other = read_questions([put(tmp_path / "valid.json", V1)])
    assert one == Question(
        id="k1", text="what is it?", answerable=True, gold_sql="select 1",
        template="what is {x}?", split="train", database="eicu",
    )  # fmt: skip
    assert (other.answerable, other.gold_sql, other.template) == (False, None, "phone")


def test_ehrsql_v1_without_ids_gets_stable_distinct_ones(tmp_path: Path) -> None:
    bare = [{k: v for k, v in record.items() if k != "id"} for record in V1]
    bare[1]["query"] = float("nan")
    ids = [q.id for q in read_questions([put(tmp_path / "a.json", bare)])]
    assert len(set(ids)) == 2
    assert [q.id for q in read_questions([put(tmp_path / "b.json", bare[::-1])])] == ids[::-1]


@pytest.mark.parametrize("how", ["folder", "data", "all", "elsewhere"])
def test_ehrsql_2024_finds_its_labels_and_answers(tmp_path: Path, how: str) -> None:
    folder, other = tmp_path / "valid", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    data = put(folder / "data.json", DATA)
    label = put((other if how == "elsewhere" else folder) / "label.json", LABEL)
    answer = put((other if how == "elsewhere" else folder) / "answer.json", ANSWER)
    paths = {"folder": [folder], "data": [data]}.get(how, [answer, data, label])
    one, two = read_questions(paths)
    assert one == Question(
        id="x", text="A?", answerable=True, gold_sql="SELECT 1", gold_answer="[['1']]",
        split="valid", database="mimic_iv",
    )  # fmt: skip
    assert (two.answerable, two.gold_sql, two.gold_answer) == (False, None, None)


def test_ehrsql_2024_needs_no_answers(tmp_path: Path) -> None:
    put(tmp_path / "label.json", LABEL)
    assert read_questions([put(tmp_path / "data.json", DATA)])[0].gold_answer is None


BAD: list[tuple[str, object, str]] = [
    ("empty", "", "is empty"),
    ("blank", " \n\n", "is empty"),
    ("empty gzip", gzip.compress(b"", mtime=0), "is empty"),
    ("cut gzip", gzip.compress(lines(OWN).encode(), mtime=0)[:-9], "damaged or cut short"),
    ("not gzip", b"\x1f\x8bhello", "damaged or cut short"),
    ("latin", table(OWN).replace("Which", "Où").encode("latin-1"), "isn't UTF-8"),
    ("utf-16 cut", table(OWN).encode("utf-16")[:-1], "isn't UTF-16"),
    ("workbook", b"PK\x03\x04\x14\x00\x06\x00", "is an Excel workbook (.xlsx)"),
    ("old workbook", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an old Excel workbook (.xls)"),
    ("pdf", b"%PDF-1.7\n\xff", "is a PDF"),
    ("database", b"SQLite format 3\x00\x10\x00", "is a SQLite database"),
    ("bad line", lines(OWN) + '{"id": "d", "question"', "line 4 is no valid JSON"),
    ("bad first line", '{"id": \n' + lines(OWN), "line 1 is no valid JSON"),
    ("list in lines", lines(OWN) + "[1]\n", "line 4 is no JSON object"),
    ("bad list", '[{"id": 1},\n {"id": }]', "line 2 is no valid JSON"),
    ("empty list", [], "holds no questions"),
    ("numbers", [1, 2], "question 1 is no JSON object"),
    ("no v1", [{"id": "a", "question": "b"}], "is_impossible"),
    ("deep", "[" * 100_000, "nested too deeply"),
    ("deep line", lines(OWN) + '{"a":' * 100_000, "line 4 is no valid JSON"),
    ("other json", {"hello": 1}, "no question file"),
    ("empty json", {}, "no question file"),
    ("empty data", {"version": "v", "data": []}, "holds no questions"),
    ("data without labels", DATA, "no label.json"),
    ("labels alone", LABEL, "name its data.json"),
    ("answers alone", ANSWER, "name its data.json"),
    ("no id", [{"question": "a"}], "no column 'id'"),
    ("no question", [{"id": "a"}], "no column 'question'"),
    ("empty question", [{"id": "a", "question": " "}], "'question' must be text"),
    ("odd question", [{"id": "a", "question": 5}], "'question' must be text"),
    ("odd id", [{"id": 1.5, "question": "a"}], "'id' must be text"),
    ("no gold", [{"id": "a", "question": "b", "answerable": True}], "'a' is answerable but has no"),
    ("blank gold", [{"id": "a", "question": "b", "answerable": 1, "gold_sql": " "}], "no gold:"),
    (
        "needless gold",
        [{"id": "a", "question": "b", "answerable": "no", "gold_sql": "SELECT 1"}],
        "unanswerable but has gold",
    ),
    ("odd truth", [{"id": "a", "question": "b", "answerable": "maybe"}], "must be true or false"),
    ("odd gold", [{"id": "a", "question": "b", "gold_sql": ["SELECT 1"]}], "must be text"),
    ("odd template", [{"id": "a", "question": "b", "template": 3}], "'template' must be text"),
    ("odd answer", [{"id": "a", "question": "b", "gold_answer": {"n": 3}}], "into a list"),
    ("odd split", [{"id": "a", "question": "b", "gold_sql": "s", "split": 3}], "in quotes"),
    ("csv without question", "id,name\n1,2\n", "no column 'question'"),
    ("csv header only", "id,question\n", "no questions"),
    ("csv too many cells", "id,question\n1,a,b\n", "line 2 has more cells"),
    ("csv too few cells", "id,question\n1,a\n2\n", "line 3 has fewer cells"),
    ("csv open quote", 'id,question\n1,"a\n', "line 2 is no valid CSV"),
    ("csv column twice", "id,question,gold_sql,gold_sql\n1,a,,SELECT 1\n", "'gold_sql' twice"),
    ("key twice", lines(OWN) + '{"id": "d", "id": "e", "question": "f"}', "line 4 has 'id' twice"),
    ("label twice", '{"x": "SELECT 1", "x": "SELECT 2"}', "has 'x' twice"),
    ("gold elsewhere", [{"id": "a", "question": "b", "query": "select 1"}], "SQL in 'query'"),
    ("gold in csv elsewhere", "id,question,sql\n1,a,WITH x AS (SELECT 1)\n", "SQL in 'sql'"),
    ("half a character in id", '{"id": "a\\ud800", "question": "b"}', "half a surrogate"),
    ("half a character", '{"id": "a", "question": "b\\ud800"}', "half a surrogate"),
    ("prose", "Dear all,\nhere are the questions.\n", "no column 'question'"),
    ("twice", lines([OWN[0], OWN[0]]), "'a' is there twice"),
    ("twice with other content", table([OWN[0], {**OWN[1], "id": "a"}]), "'a' is there twice"),
    ("v1 without gold", [{**V1[0], "query": "null"}], "'k1' is answerable but has no gold SQL"),
    ("line feed in id", lines([{**OWN[0], "id": "a\nb"}] * 2), "is there twice"),
]


@pytest.mark.parametrize(("content", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input_is_refused_in_one_line_that_names_the_file(
    tmp_path: Path, content: object, says: str
) -> None:
    if isinstance(content, list) and content and isinstance(content[0], dict):
        content = (
            content if "is_impossible" in content[0] or says == "is_impossible" else lines(content)
        )
    path = put(tmp_path / "questions.txt", content)
    with pytest.raises(QuestionsError) as caught:
        read_questions([path])
    message = str(caught.value)
    assert says in message
    assert "questions.txt" in message
    assert "\n" not in message
    assert len(message) < 400 + len(str(tmp_path))


def test_a_missing_file_an_empty_folder_and_no_file_at_all_are_named(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match=r"none\.json can't be read"):
        read_questions([tmp_path / "none.json"])
    with pytest.raises(QuestionsError, match=r"without a data\.json"):
        read_questions([tmp_path])
    with pytest.raises(QuestionsError, match="no question file given"):
        read_questions([])


def test_one_id_in_two_files_is_refused_naming_both(tmp_path: Path) -> None:
    one, other = put(tmp_path / "one", lines(OWN)), put(tmp_path / "other", table(OWN[:1]))
    with pytest.raises(QuestionsError, match=r"'a' is there twice, in .*one and .*other"):
        read_questions([one, other])


def test_labels_of_another_split_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "label.json", {"z": "SELECT 1"})
    data = put(tmp_path / "data.json", DATA)
    with pytest.raises(QuestionsError, match=r"'x' has no entry in label\.json"):
        read_questions([data])
    put(tmp_path / "label.json", LABEL)
    more = put(tmp_path / "more.json", {"x": "SELECT 2", "y": "null"})
    again = put(tmp_path / "again.json", LABEL)
    with pytest.raises(QuestionsError, match="contradicts"):
        read_questions([data, more, again])


def test_the_real_files_hold_what_their_readme_says(shared_data: Path) -> None:
    folder = shared_data / "ehrsql2024"
    train = read_questions([folder / "tasks_train.jsonl.gz"])
    valid = read_questions([folder / "tasks_valid.jsonl.gz"])
    upstream = read_questions([folder / "upstream" / "valid"])
    v1 = read_questions([shared_data / "ehrsql_v1" / "mimic_iii" / "valid.json.gz"])
    counts = [(len(qs), sum(not q.answerable for q in qs)) for qs in (train, valid, upstream, v1)]
    assert counts == [(5124, 450), (1163, 232), (1163, 232), (1122, 362)]
    by_id = {q.id: q for q in valid}
    for q in upstream:
        twin = by_id[q.id]
        assert (q.text, q.answerable, q.gold_sql, q.split) == (
            twin.text, twin.answerable, twin.gold_sql, twin.split,
        )  # fmt: skip
    assert not any(q.template for q in train)
    assert all(q.template for q in v1)
    assert {q.answerable for q in valid if q.template} == {True}


def test_notes_that_begin_like_sql_are_no_gold(tmp_path: Path) -> None:
    records = [
        {"id": "a", "question": "b", "note": "with care"},
        {"id": "c", "question": "d", "predicted": "SELECT 1", "answerable": False},
    ]
    questions = read_questions([put(tmp_path / "q.jsonl", lines(records))])
    assert not any(question.answerable for question in questions)


def test_a_name_that_no_file_can_have_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match="can't be read"):
        read_questions([tmp_path / ("x" * 300)])


SHEET = [
    ["id", "question", "gold_sql"],
    ["a", "How many, in all?", "SELECT count(*) FROM t WHERE x IN (1, 2)"],
    ["b", 'Who said "ah; oh"?', ""],
]


def sheet(delimiter: str = ",", end: str = "\r\n", **quoting: Any) -> str:
    sink = io.StringIO()
    csv.writer(sink, delimiter=delimiter, lineterminator=end, **quoting).writerows(SHEET)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("commas", sheet().encode()),
        ("semicolons", sheet(";").encode()),
        ("tabs", sheet("\t").encode()),
        ("bars", sheet("|").encode()),
        ("declared", ("sep=;\r\n" + sheet(";")).encode()),
        ("declared in quotes", ('"sep=;"\r\n' + sheet(";")).encode()),
        ("all quoted", sheet(";", quoting=csv.QUOTE_ALL).encode()),
        ("byte order mark", ("\ufeff" + sheet(";")).encode()),
        ("utf-16", sheet("\t").encode("utf-16")),
        ("utf-16 big end first", b"\xfe\xff" + sheet("\t").encode("utf-16-be")),
        ("blanks after commas", sheet(quoting=csv.QUOTE_ALL).replace('","', '", "').encode()),
        ("capitals", sheet().replace("id,question,gold_sql", "ID,Question,Gold SQL").encode()),
        ("empty last rows", (sheet(";") + ";;\r\n;;\r\n").encode()),
        ("empty last columns", sheet(";").replace("\r\n", ";;\r\n").encode()),
        ("line feeds", sheet(end="\n").encode()),
        ("carriage returns", sheet(end="\r").encode()),
        ("carriage returns and a mark", ("\ufeffsep=;\r" + sheet(";", end="\r")).encode()),
        ("packed", gzip.compress(sheet(";").encode())),
    ],
)
def test_a_table_is_read_as_spreadsheets_write_it(
    name: str, content: bytes, tmp_path: Path
) -> None:
    found = read_questions(put(tmp_path / "own questions.csv", content))
    assert [(q.id, q.text, q.gold_sql) for q in found] == [
        ("a", "How many, in all?", "SELECT count(*) FROM t WHERE x IN (1, 2)"),
        ("b", 'Who said "ah; oh"?', None),
    ]


@pytest.mark.parametrize("name", ["own.json", "own.jsonl", "own"])
@pytest.mark.parametrize("spelled", [str, str.upper, str.title, " {} ".format])
def test_own_questions_are_read_as_json_too_in_any_spelling(
    name: str, spelled: Callable[[str], str], tmp_path: Path
) -> None:
    records = [
        {spelled(key): value for key, value in zip(SHEET[0], row, strict=True)} for row in SHEET[1:]
    ]
    array, lines = json.dumps(records), "\n".join(map(json.dumps, records))
    for content in (array, lines):
        found = read_questions(put(tmp_path / name, content))
        assert [(q.id, q.text, q.answerable) for q in found] == [
            ("a", "How many, in all?", True),
            ("b", 'Who said "ah; oh"?', False),
        ]


@pytest.mark.parametrize("gold", ["N/A", "n/a", "NA", "-", "None", "NULL"])
def test_spellings_of_no_gold_make_no_question_answerable(gold: str, tmp_path: Path) -> None:
    (found,) = read_questions(put(tmp_path / "q.csv", f"id,question,gold_sql\na,Who?,{gold}\n"))
    assert (found.gold_sql, found.answerable) == (None, False)


def test_a_first_line_that_no_table_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match=r"no column 'question'|no valid CSV"):
        read_questions(put(tmp_path / "q.csv", "x" * 200_000 + "\ny\n"))


def test_questions_without_ids_are_numbered_by_file_and_row(tmp_path: Path) -> None:
    for name in ("wards", "labs"):
        put(tmp_path / f"{name}.csv", "Question;Gold_SQL\nHow many?;SELECT 1\n;;\nWho?;\n")
    found = read_questions([tmp_path / "wards.csv", tmp_path / "labs.csv"])
    assert [q.id for q in found] == ["wards-1", "wards-2", "labs-1", "labs-2"]
    assert [q.answerable for q in found] == [True, False, True, False]


def test_no_cell_of_a_table_without_header_stands_in_the_message(tmp_path: Path) -> None:
    path = put(tmp_path / "q.csv", "1;Why was Ann Miller admitted?;SELECT 1\n")
    with pytest.raises(QuestionsError) as caught:
        read_questions(path)
    assert "Miller" not in str(caught.value)
