from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from score_cases import random_scores
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import CannotFitError, InputError
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.system_ladder import ladder
from sentinel_sql.evaluation.studies.seed_variance import main_figures, seed_figures, seed_variance
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.pipeline import vary_seed as seeds
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.report.terminal.seed_variance import seed_tables
from small_runs import fitted, header


def evidence(seed: int) -> Evidence:
    return Evidence.gather(random_scores(seed, 150), freeze(random_scores(9, 200)), resamples=20)


def test_seed_rows_equal_mean_deviation_and_range_of_the_figures() -> None:
    by_seed = {seed: evidence(seed) for seed in (42, 43, 44)}
    values = {(row.figure, row.stakes): [] for row in seed_figures(by_seed).rows}
    for row in seed_figures(by_seed).rows:
        values[row.figure, row.stakes].append(row.value)
    measured = 0
    for row in seed_variance(by_seed).rows:
        known = values[row.figure, row.stakes]
        assert row.seeds == len(known) == 3
        assert row.of_record == known[0]
        if None in known:  # nothing is delivered at stakes that the runs don't carry
            assert row.mean is None
            continue
        measured += 1
        assert row.mean == pytest.approx(np.mean(known))
        assert row.sd == pytest.approx(np.std(known, ddof=1))
        assert (row.lowest, row.highest) == (min(known), max(known))
    assert measured > 10


def test_seed_figures_equal_those_of_the_exhibits() -> None:
    seen = evidence(1)
    figures = dict(main_figures(seen))
    for row in ladder(seen).rows:
        if row.system == "full":
            assert figures["RS full", row.stakes] == pytest.approx(row.rs.estimate)
            assert figures["coverage full", row.stakes] == pytest.approx(row.coverage)


def test_figure_unknown_for_a_seed_has_no_mean() -> None:
    silent = random_scores(1, 40)
    nobody = np.zeros(40, dtype=bool)
    for name in ("answered", "correct", "clean"):
        object.__setattr__(silent, name, nobody)
    quiet = Evidence.gather(silent, freeze(random_scores(9, 200)), resamples=20)
    made = seed_variance({1: evidence(1), 2: quiet})
    json.dumps(made.to_json(), allow_nan=False)
    rows = {row.figure: row for row in made.rows}
    assert rows["AUROC correctness"].mean is None
    assert rows["AUROC correctness"].of_record is not None


def test_other_seeds_are_fitted_on_the_same_runs_and_spend_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monitor, runs, pools, labels = fitted()
    evaluation = evaluate(monitor, runs, pools, labels)
    asked: list[tuple[int, int]] = []

    def refit(trajectories: Any, *_: Any, seed: int, **how: Any) -> Monitor:
        asked.append((seed, len(trajectories)))
        assert how["head"] == monitor.estimators.head
        return monitor

    monkeypatch.setattr(seeds, "fit", refit)  # a fit takes seconds; its seed is what matters here
    told: list[tuple[int, int]] = []
    made = seeds.seed_exhibits(
        monitor,
        evaluation,
        runs,
        pools,
        labels,
        header(),
        seeds=3,
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert asked == [(43, len(runs)), (44, len(runs))]
    assert told == [(1, 3), (2, 3), (3, 3)]
    rows = made["seed_figures"].rows
    for seed in (42, 43, 44):
        found = {(row.figure, row.stakes): row.value for row in rows if row.seed == seed}
        assert found == dict(main_figures(evaluation.evidence))
    assert all(row.sd is None or row.sd < 1e-12 for row in made["seeds"].rows)
    with pytest.raises(InputError, match="--seeds 2"):
        seeds.seed_exhibits(monitor, evaluation, runs, pools, labels, header(), seeds=1)


def test_terminal_shows_a_dash_for_unknown_numbers() -> None:
    exhibits = {"seeds": seed_variance({1: evidence(1), 2: evidence(2)}).to_json()}
    exhibits["seeds"]["rows"][0]["mean"] = None
    console = Console(width=80, record=True, file=io.StringIO())
    for part in seed_tables(exhibits):
        console.print(part)
    text = console.export_text()
    assert " – " in text
    assert "RS full" in text
    assert list(seed_tables({})) == []


def test_seed_that_cannot_be_fitted_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor, runs, pools, labels = fitted()
    evaluation = evaluate(monitor, runs, pools, labels)

    def refit(*_: Any, seed: int, **__: Any) -> Monitor:
        if seed == 44:
            raise CannotFitError("a fold holds one class alone")
        return monitor

    monkeypatch.setattr(seeds, "fit", refit)
    with pytest.raises(CannotFitError, match=r"seed 44 .*one class alone.*--seeds"):
        seeds.seed_exhibits(monitor, evaluation, runs, pools, labels, header(), seeds=3)
