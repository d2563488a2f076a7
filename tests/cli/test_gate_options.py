"""The options of gate and heads, as the command line takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_project import Project, Sentinel


def test_fit_says_that_its_pool_carries_no_gate_and_up_to_which_stakes_it_serves(
    sentinel: Sentinel, fitted: Project, tmp_path: Path
) -> None:
    arguments = ("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels)
    told = json.loads(sentinel(*arguments, "--out", tmp_path / "m", "--json").out)["thresholds"]
    assert told["gate"]["theta"] is None
    assert told["gate"]["templates"] < told["gate"]["templates_needed"] == 45
    shown = " ".join(sentinel(*arguments, "--out", tmp_path / "m").out.split())
    assert "45 without a loss would" in shown
    assert f"λ = {told['served']['limit']:.3g}" in shown


@pytest.mark.parametrize(
    ("options", "rule"),
    [(("--no-gate",), "none"), (("--gate", "paper"), "paper"), (("--gate", "bounded"), "bounded")],
)
def test_fit_takes_the_rule_that_it_is_given(
    sentinel: Sentinel, fitted: Project, tmp_path: Path, options: tuple[str, ...], rule: str
) -> None:
    done = sentinel(
        *("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--head", "ngrams", "--out", tmp_path / "m", "--json", *options),
    )
    gate = json.loads(done.out)["thresholds"]["gate"]
    assert gate["rule"] == rule
    assert (gate["theta"] is not None) == (rule == "paper")


@pytest.mark.parametrize("tolerance", ["0", "1", "-1", "nan"])
def test_a_tolerance_that_is_no_share_is_one_line(
    sentinel: Sentinel, fitted: Project, tmp_path: Path, tolerance: str
) -> None:
    done = sentinel(
        *("fit", fitted.store, "--pools", fitted.pools, "--labels", fitted.labels),
        *("--out", tmp_path / "m", "--gate-tolerance", tolerance),
    )
    assert done.code == 2
    assert "between 0 and 1" in done.err


@pytest.mark.parametrize("heads", ["ngrams,ngrams", "ngrams,linear, ngrams", "linear,,linear"])
def test_a_head_is_not_compared_with_itself(
    sentinel: Sentinel, fitted: Project, heads: str
) -> None:
    done = sentinel(
        *("heads", "compare", fitted.store, "--pools", fitted.pools),
        *("--labels", fitted.labels, "--heads", heads),
    )
    assert done.code == 2
    assert "twice" in done.err
