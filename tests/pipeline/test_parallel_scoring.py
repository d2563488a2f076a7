"""Runs assessed on several cores have the numbers of one core, bit for bit and in order."""

from __future__ import annotations

import pytest

from run_cases import HEADER, planted_store
from sentinel_sql.errors import LabelsError
from sentinel_sql.pipeline import parallel_scoring as assessed
from sentinel_sql.pipeline.fit import fit
from sentinel_sql.pipeline.scoring import prefix_scores

MADE, POOLS, LABELS = planted_store(160, seed=31)


def test_workers_change_no_number_and_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assessed, "ALONE", 10)
    monkeypatch.setattr(assessed, "CHUNK", 7)
    monitor = fit(MADE, POOLS, LABELS, HEADER)
    one, two = (
        prefix_scores(
            monitor.estimators, iter(MADE), pools=POOLS, labels=LABELS, workers=count
        ).to_columns()
        for count in (1, 2)
    )
    assert {name: it.tobytes() for name, it in one.items()} == {
        name: it.tobytes() for name, it in two.items()
    }
    live = [monitor.open(MADE[-1].question)]
    for step in MADE[-1].steps:
        live[0].observe(step)
    assert float(two["raw_correct"][-1]) == live[0].assess().raw_correct
    with pytest.raises(LabelsError, match="has no label"):
        prefix_scores(monitor.estimators, MADE, pools=POOLS, labels={}, workers=2)
