"""Every code that the product gives, and every kind of thing it knows, stands in the reference."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from sentinel_sql.decision.policy import SYSTEMS, Kind, Reason
from sentinel_sql.decision.verdict import GuardReason
from sentinel_sql.errors import InputError
from sentinel_sql.labels.ratings import RATING_WORDS
from sentinel_sql.monitor.families.table import ALL_FAMILIES
from sentinel_sql.monitor.features.ten_features import FEATURES
from sentinel_sql.pipeline.import_runs import import_runs
from sentinel_sql.pipeline.rating_labels import CONTRADICTION, NO_RATING, TIE, UNKNOWN, UNSURE
from sentinel_sql.trajectory.formats.endings import ENDINGS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LABEL_MODULES = ("strict", "rules", "llm_judge", "record", "written_gold")
GIVES_AN_ANSWER = {"undecided", "above-bar", "no-bar"}
NO_LABEL_CODES = {"utf-8", "sentinel-labels"}


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def members(literal: object) -> Iterator[str]:
    for part in get_args(literal):
        if isinstance(part, str):
            yield part
        else:
            yield from members(part)


def label_codes() -> set[str]:
    found = set()
    for name in LABEL_MODULES:
        file = ROOT / "src" / "sentinel_sql" / "labels" / f"{name}.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} & set(re.findall(r"^[a-z]+(?:-[a-z]+)+$", node.value))
    return found - NO_LABEL_CODES


@pytest.mark.parametrize("reason", sorted({*members(GuardReason), *members(Reason)}))
def test_a_reason_of_the_guard_is_in_the_reference(reason: str) -> None:
    assert f"`{reason}`" in page("reference/decisions.md")


@pytest.mark.parametrize(
    "reason", sorted({*members(GuardReason)} - {"undecided", "above-bar", "no-bar"})
)
def test_a_reason_to_give_no_answer_comes_with_what_to_do(reason: str) -> None:
    assert f"`{reason}`" in page("how-to/act-on-a-reason.md")


def test_each_decision_and_system_is_in_the_reference() -> None:
    assert [
        kind for kind in get_args(Kind) if f"`{kind}`" not in page("reference/decisions.md")
    ] == []
    systems = page("explanation/evaluation-and-intervals.md")
    assert [system for system in SYSTEMS if f"`{system}`" not in systems] == []


def test_each_reason_of_ratings_is_in_the_reference() -> None:
    reasons = (NO_RATING, UNSURE, TIE, UNKNOWN, CONTRADICTION)
    assert [x for x in reasons if f"`{x}`" not in page("reference/labels.md")] == []


@pytest.mark.parametrize("word", sorted(RATING_WORDS.keys() - {"", "1.0", "1,0", "0.0", "0,0"}))
def test_each_word_of_a_rating_is_in_the_how_to(word: str) -> None:
    assert f"`{word}`" in page("how-to/label-without-gold-sql.md")


@pytest.mark.parametrize("code", sorted(label_codes()))
def test_a_code_of_a_label_is_in_the_reference(code: str) -> None:
    assert f"`{code}`" in page("reference/labels.md")


def test_each_feature_and_family_is_in_the_reference() -> None:
    features = page("reference/features.md")
    assert [name for name in (*FEATURES, *ALL_FAMILIES) if f"`{name}`" not in features] == []


def test_each_form_of_logs_is_on_the_page_about_importing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose of ") as refused:
        import_runs([], store=tmp_path / "runs", format="unheard-of")
    known = str(refused.value).partition("choose of ")[2]
    names = re.findall(r"[a-z]+(?:-[a-z]+)*", known)
    assert [name for name in names if f"`{name}`" not in page("how-to/import-logs.md")] == []


def test_each_rule_of_an_ending_is_in_the_reference() -> None:
    forms = page("reference/log-forms.md")
    rows = [
        f"| `{rule}` | {ending.outcome} | {ending.reason} |" for rule, ending in ENDINGS.items()
    ]
    assert [row for row in rows if row not in forms] == []
