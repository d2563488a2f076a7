"""What an agent's sentence states beside its result: `sentences.toml`, and rules for all."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.decision.live_result import LiveResult
from sentinel_sql.decision.sentence.claims import Claims

CASES = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))


def missing(case: dict[str, Any]) -> tuple[str, ...]:
    rows = [tuple(row) for row in case["rows"]]
    seen = LiveResult.read(rows, columns=case.get("columns"))
    return Claims.read(case["text"]).missing_in(
        seen, question=case.get("question", ""), sql=case.get("sql")
    )


@pytest.mark.parametrize("case", CASES["honest"], ids=lambda case: case["text"])
def test_nothing_of_an_honest_sentence_is_missing_in_its_result(case: dict[str, Any]) -> None:
    assert missing(case) == ()


@pytest.mark.parametrize("case", CASES["lies"], ids=lambda case: case["text"])
def test_what_a_sentence_makes_up_is_found(case: dict[str, Any]) -> None:
    assert set(case["missing"]) <= set(missing(case))
