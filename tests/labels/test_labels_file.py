from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.errors import LabelsError
from sentinel_sql.labels.file import check_place, read_labels, write_labels
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.schema import ForeignKey, Schema

HEADER = LabelsHeader(
    judge="rules",
    mode="ehrsql-2024",
    database="ward",
    clock="2100-12-31 23:59:00",
    schema=Schema(
        tables={"a": {"x": "integer"}, "b": {"y": "text"}},
        foreign_keys=(ForeignKey(table="b", column="y", to_table="a", to_column="x"),),
    ),
)
LABEL = Label(question_id="q", answerable=True, outcome="answered", strict=True, correct=True,
              reason="strict-match")  # fmt: skip

labels = st.lists(
    st.builds(
        Label,
        question_id=st.text(min_size=1),
        answerable=st.booleans(),
        outcome=st.sampled_from(["answered", "abstained", "cap"]),
        strict=st.none() | st.booleans(),
        correct=st.none() | st.booleans(),
        reason=st.text(),
    ),
    max_size=6,
    unique_by=lambda label: label.question_id,
)


@given(labels)
def test_labels_are_read_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[Label]
) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    write_labels(path, HEADER, written)
    header, found = read_labels(path)
    assert header == HEADER
    assert header.schema.sha256 == HEADER.schema.sha256
    assert list(found.values()) == written
    assert list(found) == [label.question_id for label in written]


def test_dialect_and_time_zone_of_the_database_are_kept_where_they_are_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "labels.jsonl"
    known = replace(HEADER, dialect="postgres", time_zone="UTC")
    write_labels(path, known, [LABEL])
    assert read_labels(path).header == known
    write_labels(path, HEADER, [LABEL])
    assert b"dialect" not in path.read_bytes()


def test_only_the_owner_may_read_the_file_and_no_draft_stays(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, HEADER, [LABEL])
    write_labels(path, HEADER, [LABEL])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_two_labels_for_one_run_are_refused_and_leave_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, HEADER, [LABEL])
    before = path.read_bytes()
    with pytest.raises(LabelsError, match="two runs have the question id 'q'"):
        write_labels(path, HEADER, [LABEL, LABEL])
    assert path.read_bytes() == before


def _older_lines(path: Path) -> list[str]:
    """Return header and label as an older version wrote them: without checksums and count."""
    write_labels(path, HEADER, [LABEL])
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        del record["line"], record["crc32"]
    del records[0]["labels"]
    return [json.dumps(record) for record in records]


def test_labels_of_an_older_version_load_without_checksums(tmp_path: Path) -> None:
    header, label = _older_lines(tmp_path / "labels.jsonl")
    (tmp_path / "labels.jsonl").write_text(f"{header}\n{label}\n")
    assert read_labels(tmp_path / "labels.jsonl") == (HEADER, {"q": LABEL})


def test_labels_cut_at_the_end_of_a_line_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, HEADER, [LABEL.model_copy(update={"question_id": f"q{n}"}) for n in "abc"])
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:kept]))
        with pytest.raises(
            LabelsError, match=rf"it had 3 labels and has {kept - 1}: make it again"
        ):
            read_labels(path)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))
    with pytest.raises(LabelsError, match="line 2: 1 line is missing before it; make it again"):
        read_labels(path)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda h, x: "", "isn't a labels file"),
        (lambda h, x: x + "\n", "isn't a labels file"),
        (lambda h, x: "[]\n", "isn't a labels file"),
        (lambda h, x: h.replace("labels/1", "labels/2") + "\n", "'sentinel-labels/2'"),
        (lambda h, x: h.replace("rules", "oracle") + "\n", "damaged header"),
        (lambda h, x: h.replace('"foreign_keys"', '"keys"') + "\n", "damaged header"),
        (lambda h, x: h.replace('"mode"', '"mood"') + "\n", "damaged header"),
        (lambda h, x: h.replace('"ward"', "7") + "\n", "damaged header"),
        (lambda h, x: h, "cut short in line 1"),
        (lambda h, x: h + "\n" + x[:-5], "cut short in line 2"),
        (lambda h, x: h + "\n" + x, "cut short in line 2"),
        (lambda h, x: f"{h}\n{x}\n{x}\n", "line 3 labels question 'q' again"),
        (lambda h, x: f"{h}\n{x.replace('answered', 'lost')}\n", "line 2 is no label"),
        (lambda h, x: "[" * 100_000, "isn't a labels file"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, edit: object, says: str) -> None:
    path = tmp_path / "labels.jsonl"
    header, label = _older_lines(path)
    path.write_text(edit(header, label))  # type: ignore[operator]
    with pytest.raises(LabelsError) as caught:
        read_labels(path)
    assert says in str(caught.value)
    assert "labels.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("length", "shown"), [(80, "i" * 80), (81, "i" * 79 + "…")])
def test_a_long_id_is_cut_in_the_message(tmp_path: Path, length: int, shown: str) -> None:
    path = tmp_path / "labels.jsonl"
    header, label = _older_lines(path)
    twice = json.dumps(json.loads(label) | {"question_id": "i" * length})
    path.write_text(f"{header}\n{twice}\n{twice}\n")
    with pytest.raises(LabelsError, match=f"question '{shown}' again"):
        read_labels(path)


def test_files_that_are_not_there_or_not_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match=r"none\.jsonl can't be read"):
        read_labels(tmp_path / "none.jsonl")
    (tmp_path / "bytes").write_bytes(b"\x1f\x8b\xff")
    with pytest.raises(LabelsError, match="isn't a labels file"):
        read_labels(tmp_path / "bytes")
    with pytest.raises(LabelsError, match="can't be written"):
        write_labels(tmp_path / "none" / "labels.jsonl", HEADER, [])


def test_the_header_line_is_plain_json(tmp_path: Path) -> None:
    assert json.loads(_older_lines(tmp_path / "x")[0])["format"] == "sentinel-labels/1"


@pytest.mark.parametrize(
    "named", ["questions.jsonl", "runs.jsonl.gz", "verdicts", "folder", "no/x"]
)
def test_labels_replace_labels_and_nothing_else(tmp_path: Path, named: str) -> None:
    there = {
        "questions.jsonl": b'{"id": "q"}\n',
        "runs.jsonl.gz": b"\x1f\x8b\x08\x00",
        "verdicts": b'{"format":"sentinel-verdicts/1"}\n',
    }
    path = tmp_path / named
    if named == "folder":
        path.mkdir()
    elif named in there:
        path.write_bytes(there[named])
    with pytest.raises(LabelsError, match="name another place"):
        check_place(path)
    if named in there:
        assert path.read_bytes() == there[named]


def test_a_new_an_empty_and_an_older_labels_file_may_be_written(tmp_path: Path) -> None:
    check_place(tmp_path / "new")
    (tmp_path / "empty").touch()
    check_place(tmp_path / "empty")
    write_labels(tmp_path / "old", HEADER, [LABEL])
    check_place(tmp_path / "old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "old"]
