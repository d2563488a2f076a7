"""Nearest calibration cases, against plain loops that sort everything."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from score_cases import prefix_scores, random_scores
from sentinel_sql.decision.neighbours import NEAREST, nearest_answers, nearest_runs
from sentinel_sql.monitor.prefix_scores import PrefixScores

unit = st.floats(0, 1)
few = st.integers(1, 9)


@given(prefix_scores(), unit, few)
def test_the_nearest_answers_are_those_that_sorting_finds(
    calibration: PrefixScores, score: float, k: int
) -> None:
    found = nearest_answers(calibration, score, k=k)
    cases = sorted(
        (abs(calibration.delivery_score[i] - score), calibration.correct[i])
        for i in range(len(calibration))
        if calibration.answered[i]
    )
    near = [case for case in cases if case[0] <= cases[min(k, len(cases)) - 1][0]]
    assert found.cases == len(near)
    assert found.positive == sum(bool(right) for _, right in near)


@given(
    prefix_scores(), unit, few, st.integers(0, 4), st.sampled_from(["answerable", "ends-correct"])
)
def test_the_nearest_runs_are_those_that_sorting_finds_and_none_counts_twice(
    calibration: PrefixScores, score: float, k: int, t: int, asked: str
) -> None:
    found = nearest_runs(calibration, score, asked=asked, t=t, k=k)  # type: ignore[arg-type]
    column, positive = (
        (calibration.p_answerable, calibration.answerable)
        if asked == "answerable"
        else (calibration.raw_correct, calibration.correct)
    )
    cases = []
    for i in range(len(calibration)):
        start, stop = int(calibration.offsets[i]), int(calibration.offsets[i + 1])
        like = column[start : start + 1] if t == 0 else column[start + 1 : stop]
        if len(like):
            cases.append((min(abs(like - score)), positive[i]))
    cases.sort()
    near = [case for case in cases if case[0] <= cases[min(k, len(cases)) - 1][0]]
    assert found.cases == len(near)
    assert found.positive == sum(bool(so) for _, so in near)
    if near:
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.high <= 1
        assert max(abs(found.low - score), abs(found.high - score)) <= near[-1][0] + 1e-12


def test_a_pool_with_nothing_to_compare_gives_no_case_and_no_range() -> None:
    empty = random_scores(0, 0)
    assert nearest_answers(empty, 0.5).to_json() == {
        "asked": "correct",
        "cases": 0,
        "positive": 0,
        "low": None,
        "high": None,
        "words": "The calibration pool holds no answers to compare with.",
    }
    assert nearest_runs(empty, 0.5, asked="answerable", t=1).cases == 0


def test_without_ties_as_many_are_compared_as_promised() -> None:
    calibration = random_scores(5, 400, grid=False)
    score = float(np.nanmedian(calibration.delivery_score))
    assert nearest_answers(calibration, score).cases == NEAREST
