from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation.exhibit_record import Exhibit
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation.options import Options
from sentinel_sql.evaluation_store import tables
from sentinel_sql.evaluation_store.folder import read, save
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.sources import EVALUATE, Source, read_sources
from sentinel_sql.pipeline.evaluate import evaluate
from small_runs import fitted


@cache
def made(options: Options | None = None) -> Evaluation:
    monitor, runs, pools, labels = fitted()
    return evaluate(monitor, runs, pools, labels, stakes=(1.0, 2.5), options=options)


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(exact_bar=True),
        Options(question_only=True, reweight=0.3),
        Options(strict=True),
    ],
)
def test_every_exhibit_can_be_made_again_from_the_folder(tmp_path: Path, options: Options) -> None:
    evaluation = made(options)
    save(evaluation, tmp_path / "evaluation")
    again = read(tmp_path / "evaluation")
    assert again.evidence.options == options
    stored = json.loads(json.dumps(evaluation.to_json()))
    assert {key: again.document[key] for key in stored} == stored
    for name, exhibit in EXHIBITS.items():
        assert exhibit(again.evidence) == evaluation.exhibits[name], name


def test_folder_has_the_tables_of_the_evaluation(tmp_path: Path) -> None:
    evaluation = made()
    save(evaluation, tmp_path / "evaluation")
    found = tables.read(tmp_path / "evaluation")
    assert list(found) == list(evaluation.exhibits)


def test_no_template_text_is_in_the_folder(tmp_path: Path) -> None:
    evaluation = made()
    save(evaluation, tmp_path / "evaluation")
    with np.load(tmp_path / "evaluation" / "scores.npz") as columns:
        kept = set(columns["templates"].tolist())
        everything = " ".join(
            str(columns[name].tolist()) for name in columns if columns[name].dtype.kind == "U"
        )
    assert len(kept) == len(set(evaluation.scores.templates))
    assert not any(name in everything for name in evaluation.scores.templates)


def test_older_evaluation_is_replaced_and_any_other_folder_refused(tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    save(made(), folder)
    (folder / "tables" / "left.csv").write_text("x")
    save(made(), folder)
    assert not (folder / "tables" / "left.csv").exists()
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds no evaluation"):
        save(made(), other)
    assert [path.name for path in other.iterdir()] == ["chapter.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evaluation", "thesis"]


def test_failed_write_keeps_the_older_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "evaluation"
    save(made(), folder)
    before = (folder / "evaluation.json").read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tables, "write", full)
    with pytest.raises(InputError, match="No space left"):
        save(made(Options(exact_bar=True)), folder)
    assert (folder / "evaluation.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["evaluation"]


def test_evaluation_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    save(made(), tmp_path / "evaluation")
    for path in (tmp_path / "evaluation").rglob("*"):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected


@pytest.mark.parametrize("name", ["evaluation.json", "scores.npz"])
def test_damaged_file_is_refused_by_name_without_a_traceback(tmp_path: Path, name: str) -> None:
    save(made(), tmp_path / "evaluation")
    path = tmp_path / "evaluation" / name
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="damaged"):
        read(tmp_path / "evaluation")
    path.unlink()
    with pytest.raises(InputError, match="sentinel evaluate"):
        read(tmp_path / "evaluation")


def test_strict_scoring_needs_no_second_labels_file() -> None:
    monitor, runs, pools, labels = fitted()
    rng = np.random.default_rng(0)
    judged = {
        name: label.model_copy(update={"strict": bool(label.strict and rng.random() < 0.5)})
        if label.strict is not None
        else label
        for name, label in labels.items()
    }
    by_strict = {
        name: label.model_copy(update={"correct": label.strict})
        if label.strict is not None
        else label
        for name, label in judged.items()
    }
    one = evaluate(monitor, runs, pools, judged, options=Options(strict=True))
    other = evaluate(monitor, runs, pools, by_strict)
    assert one.evidence.scores.correct.sum() < one.evidence.recorded.correct.sum()
    assert one.exhibits["ladder"] == other.exhibits["ladder"]
    assert one.exhibits["heads"] == other.exhibits["heads"]


def test_strict_scoring_is_empty_if_an_answer_has_no_strict_verdict() -> None:
    monitor, runs, pools, labels = fitted()
    silent = {name: label.model_copy(update={"strict": None}) for name, label in labels.items()}
    found = evaluate(monitor, runs, pools, silent)
    assert found.evidence.facts.strict is None
    assert {row.labels for row in found.exhibits["strict"].rows} == {"judge"}
    with pytest.raises(InputError, match="no strict verdicts"):
        evaluate(monitor, runs, pools, silent, options=Options(strict=True))


def of(command: str, **hashes: str) -> Source:
    return Source(command=command, inputs={kind: frozenset({h}) for kind, h in hashes.items()})


def screened(number: int) -> dict[str, Exhibit[object]]:
    return {"screened": replace(made().exhibits["heads"], note=f"screen {number}")}


SAME = {"store": "s", "pools": "p", "labels": "l"}
EVALUATED = of(EVALUATE, **SAME)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "tables").iterdir()}


@pytest.mark.parametrize(
    ("inputs", "stays"),
    [
        (SAME, True),
        ({"labels": "l"}, True),
        *(({**SAME, kind: "another"}, False) for kind in SAME),
        ({}, False),
    ],
)
def test_new_evaluation_keeps_tables_of_its_own_sources_and_reports_the_others(
    tmp_path: Path, inputs: dict[str, str], stays: bool
) -> None:
    folder = tmp_path / "evaluation"
    source = of("sentinel heads screen", **inputs)
    assert save(made(), folder) == {}  # of a version that noted no source
    tables.write(folder, screened(1), source=source)
    before = files_of(folder)
    gone = save(made(Options(exact_bar=True)), folder, source=EVALUATED)
    assert gone == ({} if stays else {"screened": "sentinel heads screen"})
    after = files_of(folder)
    names = {"screened.csv", "screened.parquet"} & set(before)
    assert {name: after.get(name) for name in names} == {
        name: before[name] if stays else None for name in names
    }
    found = tables.read(folder)
    assert list(found) == [*made(Options(exact_bar=True)).exhibits, *(["screened"] * stays)]
    assert set(read_sources(folder / "tables")) == set(found)
    assert save(made(), folder, source=EVALUATED) == {}
    assert ("screened" in tables.read(folder)) == stays


def test_replaced_evaluation_removes_its_own_further_tables(tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    save(made(), folder, source=EVALUATED)
    tables.write(folder, {"rivals": made().exhibits["heads"]}, source=EVALUATED)
    assert save(made(), folder, source=EVALUATED) == {}
    assert "rivals" not in tables.read(folder)


def test_unknown_table_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    save(made(), folder, source=EVALUATED)
    tables.write(folder, screened(1))
    (folder / "tables" / "sources.json").write_text("[")
    (folder / "tables" / "contents.csv").write_text("damaged")
    assert save(made(), folder, source=EVALUATED) == {"screened": ""}
    assert "screened.csv" not in files_of(folder)


def test_tables_of_other_sources_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    save(made(), folder, source=EVALUATED)
    before = files_of(folder)
    for kind in SAME:
        source = of("sentinel heads screen", **{**SAME, kind: "another"})
        with pytest.raises(InputError, match=f"an evaluation of another {kind}"):
            tables.check_place(folder, source=source)
        with pytest.raises(InputError, match="name another folder"):
            tables.write(folder, screened(1), source=source)
    assert files_of(folder) == before


def test_table_of_other_sources_is_replaced_and_reported(tmp_path: Path) -> None:
    older = of("sentinel heads screen", labels="old")
    tables.write(tmp_path, screened(1), source=older)
    tables.write(tmp_path, {"mine": made().exhibits["heads"]}, source=of("x", labels="old"))
    gone = tables.write(tmp_path, {"mine": made().exhibits["heads"]}, source=of("x", labels="new"))
    assert gone == {"screened": "sentinel heads screen"}
    assert list(tables.read(tmp_path)) == list(read_sources(tmp_path / "tables")) == ["mine"]
    assert not list((tmp_path / "tables").glob("screened*"))
    both = Source(command="y", inputs={"labels": frozenset({"new", "other"})})
    assert tables.write(tmp_path, screened(2), source=both) == {}


def test_named_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "labels").write_text("x")
    found = Source.of("x", store=tmp_path / "pipe", labels=[tmp_path / "labels"])
    assert set(found.inputs) == {"labels"}
