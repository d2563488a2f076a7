"""`sentinel evaluate` with its options and its folder, and `sentinel audit leakage`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_project import Project, Sentinel
from sentinel_sql.errors import CannotFitError, InputError
from sentinel_sql.evaluation_store import tables
from sentinel_sql.questions.pools import Pools
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.store import read_trajectories


def evaluate(project: Project, *options: object) -> tuple[object, ...]:
    return (
        *("evaluate", project.store, "--pools", project.pools, "--labels", project.labels),
        *("--monitor", project.monitor, "--json", *options),
    )


def test_an_evaluation_is_kept_where_it_is_asked_for(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    folder = tmp_path / "evaluation"
    call = sentinel(*evaluate(fitted, "--out", folder, "--prices", 0.15, 0.6))
    assert call.code == 0, call.err
    kept = json.loads((folder / "evaluation.json").read_text())
    assert kept["exhibits"] == call.document["exhibits"]
    assert kept["options"]["prices"] == {"prompt": 0.15, "completion": 0.6}
    assert list(tables.read(folder)) == list(call.document["exhibits"])
    again = sentinel(*evaluate(fitted, "--out", folder, "--no-runs"))
    assert again.code == 0
    assert again.document["options"]["prices"] is None


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (("--strict",), "strict"),
        (("--exact-bar",), "exact_bar"),
        (("--question-only",), "question_only"),
    ],
)
def test_an_option_stands_in_the_document(
    fitted: Project, sentinel: Sentinel, options: tuple[str, ...], key: str
) -> None:
    call = sentinel(*evaluate(fitted, *options, "--pool", "calibration"))
    assert call.code == 0, call.err
    assert [name for name, value in call.document["options"].items() if value] == [key]
    assert call.document["spent"] is None


def test_reweighting_shows_in_what_refusing_everything_earns(
    fitted: Project, sentinel: Sentinel
) -> None:
    call = sentinel(*evaluate(fitted, "--reweight", 0.33, "--pool", "calibration"))
    nothing = [
        row["rs"]["estimate"]
        for row in call.document["exhibits"]["ladder"]["rows"]
        if row["system"] == "always-abstain"
    ]
    assert nothing == pytest.approx([0.33] * 3)


def test_nothing_is_spent_where_it_cannot_be_kept(fitted: Project, sentinel: Sentinel) -> None:
    spent = Path(f"{fitted.monitor}.spent.jsonl")
    before = spent.read_bytes() if spent.exists() else b""
    call = sentinel(*evaluate(fitted, "--out", Path(__file__).parent))
    assert call.code == 2
    assert "holds no evaluation" in call.err
    assert (spent.read_bytes() if spent.exists() else b"") == before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--reweight", 2), "between 0 and 1"),
        (("--prices", -1, 1), "price"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_code_2(
    fitted: Project, sentinel: Sentinel, options: tuple[object, ...], told: str
) -> None:
    call = sentinel(*evaluate(fitted, "--pool", "calibration", *options))
    assert (call.code, call.out) == (2, "")
    assert told in call.err
    assert len(call.err.splitlines()) == 1


def test_leakage_tables_stand_beside_an_evaluation(
    fitted: Project, sentinel: Sentinel, evaluated: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(evaluated, tmp_path / "evaluation"))
    call = sentinel(
        *("audit", "leakage", fitted.store, "--pools", fitted.pools),
        *("--labels", fitted.labels, "--out", folder, "--json"),
    )
    assert call.code == 0, call.err
    assert call.document["faults"] == []
    assert {"ladder", "leakage", "leakage_controls", "leakage_copies"} <= set(tables.read(folder))


def test_a_copied_run_fails_loudly_after_its_tables_are_kept(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    pools = Pools.read(Path(fitted.pools))
    runs = list(read_trajectories(Path(fitted.store)))
    by_pool = {pools.pool_of(run.question.id): run for run in runs}
    victim, source = by_pool["heldout"], by_pool["train"]
    question = source.question.model_copy(update={"id": victim.question.id})
    runs[runs.index(victim)] = source.model_copy(update={"question": question})
    store = tmp_path / "copied.jsonl"
    store.write_bytes(b"".join(encode(run) for run in runs))
    call = sentinel(
        *("audit", "leakage", store, "--pools", fitted.pools),
        *("--labels", fitted.labels, "--out", tmp_path / "kept", "--json"),
    )
    assert call.code == 6
    assert "1 transcripts are in more than one of the pools" in call.err
    assert len(call.err.splitlines()) == 1
    assert call.document["faults"]
    (across,) = [
        row["across"]
        for row in tables.read(tmp_path / "kept")["leakage_copies"].rows
        if (row["what"], row["split"]) == ("transcripts", "pools")
    ]
    assert across == 1


@pytest.mark.parametrize(("option", "part"), [(("--seeds", 2), "seeds"), (("--rivals",), "rivals")])
@pytest.mark.parametrize(
    ("error", "code"),
    [(CannotFitError("nothing to fit on"), 5), (InputError("no"), 2), (KeyboardInterrupt(), 130)],
)
def test_what_fails_beside_an_evaluation_takes_no_figure_of_it_away(
    fitted: Project,
    sentinel: Sentinel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: tuple[object, ...],
    part: str,
    error: BaseException,
    code: int,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    place = {
        "seeds": "pipeline.vary_seed.seed_exhibits",
        "rivals": "rivals.score_rivals.score_rivals",
    }[part]
    monkeypatch.setattr(f"sentinel_sql.{place}", fail)
    out = tmp_path / "kept"
    call = sentinel(*evaluate(fitted, "--pool", "calibration", *option, "--out", out))
    assert call.code == code
    assert str(error) in call.err
    kept = json.loads((out / "evaluation.json").read_text())
    assert kept["exhibits"] == call.document["exhibits"]
    assert "ladder" in tables.read(out)
    assert part not in kept["exhibits"]


@pytest.mark.parametrize("under", ["", "a/b"])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    fitted: Project,
    sentinel: Sentinel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    under: str,
) -> None:
    taken = tmp_path / "file"
    taken.write_text("x")
    runs = (fitted.store, "--pools", fitted.pools, "--labels", fitted.labels)
    spent = Path(f"{fitted.monitor}.spent.jsonl")
    before = spent.read_bytes() if spent.exists() else b""

    def work(*_: object, **__: object) -> None:
        raise AssertionError("it began")

    monkeypatch.setattr("sentinel_sql.trajectory.store.read_trajectories", work)
    for verb in (
        ("evaluate", *runs, "--monitor", fitted.monitor),
        ("fit", *runs),
        ("heads", "compare", *runs),
        ("heads", "screen", *runs),
        ("audit", "leakage", *runs),
        ("audit", "disagreement", fitted.labels),
    ):
        call = sentinel(*verb, "--out", taken / under)
        assert (call.code, call.out) == (2, ""), verb
        assert "another folder" in call.err, verb
    assert (spent.read_bytes() if spent.exists() else b"") == before
    assert taken.read_text() == "x"


def test_controls_that_could_not_be_run_are_no_pass_in_silence(
    fitted: Project, sentinel: Sentinel, tmp_path: Path
) -> None:
    store = tmp_path / "one.jsonl"
    store.write_bytes(encode(next(iter(read_trajectories(Path(fitted.store))))))
    call = sentinel(
        *("audit", "leakage", store, "--pools", fitted.pools),
        *("--labels", fitted.labels, "--json"),
    )
    assert (call.code, call.document["faults"]) == (0, [])
    controls = call.document["exhibits"]["leakage_controls"]["rows"]
    assert [row["holds"] for row in controls] == [None] * len(controls)
    assert f"{len(controls)} of {len(controls)} controls" in call.err
