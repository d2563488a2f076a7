from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from score_cases import random_scores
from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation_store.record import counts
from sentinel_sql.report.terminal.evaluation import TABLES, screen


def document(runs: int = 2500, spent: int | None = 1, **changes: Any) -> dict[str, Any]:
    scores = random_scores(3, runs, longest=9)
    for name, column in changes.items():
        object.__setattr__(scores, name, column)
    frozen = freeze(random_scores(4, 900, grid=False))
    evidence = Evidence.gather(scores, frozen)
    made = {
        "pool": "heldout",
        "counts": counts(scores),
        "gaps": {"questions without a run": ["q1", "q2"], "runs without a label": []},
        "thresholds": frozen.to_json(),
        "spent": spent,
        "stakes": list(evidence.stakes),
        "exhibits": {name: exhibit(evidence).to_json() for name, exhibit in EXHIBITS.items()},
    }
    return dict(json.loads(json.dumps(made, allow_nan=False)))


def shown(evaluation: dict[str, Any]) -> list[str]:
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        for part in screen(evaluation):
            console.print(part)
    return console.export_text().splitlines()


def test_terminal_shows_few_exhibits_in_order() -> None:
    assert list(TABLES) == [name for name in EXHIBITS if name in TABLES]
    assert len(TABLES) <= 8


@pytest.mark.parametrize("runs", [1, 40, 2500])
def test_tables_fit_80_columns_uncut(runs: int) -> None:
    lines = shown(document(runs))
    assert max(cell_len(line) for line in lines) <= 80
    assert not any(line.rstrip().endswith("…") for line in lines)


def test_first_lines_show_the_ladder_at_every_stakes() -> None:
    # The ladder takes 26 lines, the facts above it 5, and two lines each say that this monitor of
    # random confidences has no gate and serves no stakes.
    first = shown(document())[:35]
    for stakes in ("λ = 1", "λ = 4", "λ = 9"):
        assert any(stakes in line for line in first)
    for system in SYSTEMS:
        assert sum(line.split()[:1] == [system] and "%" in line for line in first) == 3


def test_scores_are_printed_unchanged() -> None:
    evaluation = document()
    lines = shown(evaluation)
    for row in evaluation["exhibits"]["ladder"]["rows"]:
        assert any(f"{row['rs']['estimate']:+.3f}" in line for line in lines)


def test_unknown_score_is_a_dash_and_never_nan() -> None:
    runs = 30
    nobody = np.zeros(runs, dtype=bool)
    lines = shown(document(runs, answered=nobody, correct=nobody, clean=nobody))
    assert not any("nan" in line.lower().split() or "None" in line for line in lines)
    assert any("–" in line.split() for line in lines)


def test_repeated_spending_and_gaps_are_reported() -> None:
    text = "\n".join(shown(document(100, spent=3)))
    assert "spent 3 times" in text
    assert "2 questions without a run" in text
    assert "runs without a label" not in text
    assert "pool was spent" not in "\n".join(shown(document(100, spent=None)))
