"""Tables made again from an evaluation's folder with plain pandas, by none of our code."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sentinel_sql.evaluation_store.folder import save
from sentinel_sql.pipeline.evaluate import evaluate
from small_runs import fitted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    monitor, runs, pools, labels = fitted()
    place = tmp_path_factory.mktemp("evaluated") / "evaluation"
    save(evaluate(monitor, runs, pools, labels), place)
    return place


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "evaluation.json").read_text()))


@pytest.fixture(scope="module")
def runs(folder: Path) -> pd.DataFrame:
    """One line a run, with the columns of its prefixes as lists."""
    with np.load(folder / "scores.npz", allow_pickle=False) as columns:
        held = {name: columns[name] for name in columns.files if "/" not in name}
    offsets = held.pop("offsets")
    table = {name: list(it) for name, it in held.items() if len(it) == len(offsets) - 1}
    for name in ("p_answerable", "p_correct", "tokens", "seconds"):
        table[name] = [held[name][a:b] for a, b in pairwise(offsets)]
    made = pd.DataFrame(table)
    made["T"] = np.diff(offsets) - 1
    return made


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "tables" / f"{name}.csv")


def decided(run: pd.Series, *, theta: float | None, early: float | None, bar: float | None) -> Any:
    """Return (delivered, steps run) of one run under a gate, an early stop and a bar."""
    for t in range(run["T"] + 1):
        if theta is not None and run["p_answerable"][t] < theta:
            return False, t
        if early is not None and 1 <= t < run["T"] and run["p_correct"][t] < early:
            return False, t
    shown = run["answered"] and (bar is None or run["delivery"] >= bar)
    return bool(shown), run["T"]


def test_ladder_equals_a_computation_with_pandas(
    folder: Path, document: dict[str, Any], runs: pd.DataFrame
) -> None:
    theta = document["thresholds"]["gate"]["theta"]
    stops = {
        stop["stakes"]: stop["threshold"]
        for stop in document["thresholds"]["early_stops"]
        if not stop["exact_bar"]
    }
    ladder = read(folder, "ladder")
    assert len(ladder) == 21
    for line in ladder.itertuples():
        if line.system == "certified":
            continue  # its bar isn't in the document; tests/decision/test_certificate.py finds it
        bar = line.stakes / (1 + line.stakes)
        checks = {
            "vanilla": {"theta": None, "early": None, "bar": None},
            "gate": {"theta": theta, "early": None, "bar": None},
            "chow": {"theta": None, "early": None, "bar": bar},
            "full": {"theta": theta, "early": None, "bar": bar},
            "early-stop": {"theta": theta, "early": stops[line.stakes], "bar": bar},
            "always-abstain": {"theta": np.inf, "early": None, "bar": None},
        }[line.system]
        if checks["bar"] is not None and line.stakes > document["thresholds"]["served"]["limit"]:
            checks["theta"] = np.inf  # every run is refused at t = 0
        both = runs.apply(lambda run, how=checks: pd.Series(decided(run, **how)), axis=1)
        delivered, steps = both[0].astype(bool), both[1].astype(int)
        earned = pd.Series(0.0, index=runs.index)
        earned[delivered & runs["correct"]] = 1
        earned[delivered & ~runs["correct"]] = -line.stakes
        earned[~delivered & ~runs["answerable"]] = 1
        assert line.rs == pytest.approx(earned.mean(), abs=1e-12)
        assert line.delivered == delivered.sum()
        assert line.coverage == pytest.approx(delivered.mean())
        if delivered.any():
            assert line.accuracy == pytest.approx(runs.loc[delivered, "correct"].mean())
        else:
            assert np.isnan(line.accuracy)
        assert line.steps_saved == pytest.approx(1 - steps.sum() / runs["T"].sum())


def test_confidence_bins_equal_a_computation_with_pandas(folder: Path, runs: pd.DataFrame) -> None:
    answers = runs[runs["answered"]]
    for stage, column in (("raw", "delivery_score"), ("calibrated", "delivery")):
        edges = [-0.1, *(np.arange(1, 10) / 10), 1.1]
        bins = pd.cut(answers[column], edges, right=False, labels=False)
        made = answers.groupby(bins).agg(
            n=("correct", "size"), accuracy=("correct", "mean"), confidence=(column, "mean")
        )
        shown = read(folder, "confidence_bins")
        shown = shown[shown["stage"] == stage].reset_index(drop=True)
        made = made.reindex(range(10))
        assert shown["n"].tolist() == made["n"].fillna(0).tolist()
        for name in ("accuracy", "confidence"):
            np.testing.assert_allclose(shown[name], made[name], atol=1e-12)


def test_step_economics_equal_a_computation_with_pandas(folder: Path, runs: pd.DataFrame) -> None:
    group = np.select(
        [
            runs["answerable"],
            runs["answered"],
            runs["abstained"],
        ],
        ["answerable", "fabrication", "correct refusal"],
        "unanswerable, step cap",
    )
    runs = runs.assign(
        told=runs["tokens"].map(np.sum), spent=runs["seconds"].map(np.sum), group=group
    )
    made = runs.groupby("group").agg(
        n=("T", "size"), steps=("T", "mean"), tokens=("told", "mean"), seconds=("spent", "mean")
    )
    shown = read(folder, "step_economics").set_index("group")
    for name in made.index:
        for column in ("n", "steps", "tokens", "seconds"):
            expected, found = made.loc[name, column], shown.loc[name, column]
            assert found == pytest.approx(expected, nan_ok=True), (name, column)


def test_tables_agree_with_one_another(folder: Path) -> None:
    ladder = read(folder, "ladder").set_index(["system", "stakes"])["rs"]
    for line in read(folder, "gain").itertuples():
        difference = ladder[line.system, line.stakes] - ladder[line.over, line.stakes]
        assert line.gain == pytest.approx(difference, abs=1e-12)
    stakes = read(folder, "stakes").set_index("stakes")
    assert (stakes["rs_full"] - stakes["rs_abstain"] - stakes["gain"]).abs().max() < 1e-12
    for level in (1.0, 4.0, 9.0):
        assert stakes.loc[level, "rs_full"] == pytest.approx(ladder["full", level])
        assert stakes.loc[level, "rs_vanilla"] == pytest.approx(ladder["vanilla", level])


def test_every_interval_holds_its_estimate_and_every_share_its_range(folder: Path) -> None:
    dictionary = read(folder, "dictionary")
    for table, columns in dictionary.groupby("table"):
        shown = read(folder, str(table))
        names = set(columns["column"])
        assert list(shown.columns) == columns["column"].tolist()
        for column in columns.itertuples():
            if f"{column.column}_low" in names:
                known = shown[shown[column.column].notna()]
                low, high = known[f"{column.column}_low"], known[f"{column.column}_high"]
                assert (low <= high + 1e-12).all(), (table, column.column)
            if column.range == "[0, 1]":
                values = shown[column.column].dropna()
                assert values.between(-1e-12, 1 + 1e-12).all(), (table, column.column)
