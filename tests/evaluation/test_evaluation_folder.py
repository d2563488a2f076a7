from __future__ import annotations

import json
import stat
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sentinel_sql.errors import InputError
from sentinel_sql.evaluation import tables
from sentinel_sql.evaluation.exhibits import EXHIBITS
from sentinel_sql.evaluation.options import Options
from sentinel_sql.pipeline.evaluate import Evaluation, evaluate
from sentinel_sql.pipeline.evaluation_folder import read, save
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


def test_the_tables_are_those_of_the_evaluation(tmp_path: Path) -> None:
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


def test_an_older_evaluation_is_replaced_and_anything_else_refused(tmp_path: Path) -> None:
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


def test_a_write_that_fails_leaves_the_older_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "evaluation"
    save(made(), folder)
    before = (folder / "evaluation.json").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tables, "write", full)
    with pytest.raises(InputError, match="No space left"):
        save(made(Options(exact_bar=True)), folder)
    assert (folder / "evaluation.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["evaluation"]


def test_all_of_it_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    save(made(), tmp_path / "evaluation")
    for path in (tmp_path / "evaluation").rglob("*"):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected


@pytest.mark.parametrize("name", ["evaluation.json", "scores.npz"])
def test_damage_is_named_and_no_trace(tmp_path: Path, name: str) -> None:
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


def test_an_answer_without_a_strict_verdict_leaves_strict_scoring_unsaid() -> None:
    monitor, runs, pools, labels = fitted()
    silent = {name: label.model_copy(update={"strict": None}) for name, label in labels.items()}
    found = evaluate(monitor, runs, pools, silent)
    assert found.evidence.facts.strict is None
    assert {row.labels for row in found.exhibits["strict"].rows} == {"judge"}
    with pytest.raises(InputError, match="no strict verdicts"):
        evaluate(monitor, runs, pools, silent, options=Options(strict=True))
