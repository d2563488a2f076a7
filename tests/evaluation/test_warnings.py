"""First warnings are counted as by hand, and average precision is scikit-learn's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from score_cases import prefix_scores, random_scores
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.average_precision import average_precision
from sentinel_sql.evaluation.bootstrap import Resampling
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.warnings import open_prefixes, warnings
from sentinel_sql.monitor.prefix_scores import PrefixScores


def gathered(scores: PrefixScores, *, stakes: tuple[float, ...] = (0.5, 2.0)) -> Evidence:
    return Evidence.gather(
        scores, freeze(scores, stakes=stakes, gate="paper"), stakes=stakes, resamples=40
    )


@given(seed=st.integers(0, 10_000), size=st.integers(2, 60), ties=st.booleans())
@settings(max_examples=60, deadline=None)
def test_average_precision_equals_scikit_learns(seed: int, size: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    target = rng.random(size) < 0.4
    score = np.round(rng.random(size), 1 if ties else 9)
    where = rng.random(size) < 0.8
    drawn = Resampling.over([f"t{number % 7}" for number in range(size)], resamples=5)
    found = average_precision(drawn, target, score, where)
    if not target[where].any() or target[where].all():
        assert found is None
        return
    assert found is not None
    assert found.estimate == pytest.approx(average_precision_score(target[where], score[where]))
    every = [
        average_precision_score(target[where], score[where], sample_weight=counts[where])
        for counts in drawn.counts[:, drawn.cluster]
        if counts[where & target].sum()
    ]
    assert found.low == pytest.approx(np.percentile(every, 2.5))


@given(prefix_scores(min_runs=2))
@settings(max_examples=60, deadline=None)
def test_warnings_are_those_of_a_walk_through_each_run(scores: PrefixScores) -> None:
    evidence = gathered(scores)
    for row in warnings(evidence).rows:
        rules = evidence.replays["early-stop", row.stakes].policy
        leads, warned, failing = [], 0, 0
        for run, (start, end) in enumerate(
            zip(scores.offsets[:-1], scores.offsets[1:], strict=True)
        ):
            last = end - start - 1
            good = scores.correct[run] if scores.answerable[run] else not scores.answered[run]
            failing += int(last >= 1 and not good)
            for t in range(last):
                gated = rules.theta is not None and scores.p_answerable[start + t] < rules.theta
                early = t >= 1 and rules.early is not None
                if gated or (early and scores.p_correct[start + t] < rules.early):
                    warned += 1
                    if not good:
                        leads.append(last - t)
                    break
        assert (row.warned, row.warned_failing, row.failing) == (warned, len(leads), failing)
        if leads:
            assert row.lead is not None
            assert row.lead.estimate == pytest.approx(np.mean(leads))
            assert row.precision is not None
            assert row.precision.estimate == pytest.approx(len(leads) / warned)


def test_open_runs_shrink_with_t_and_chance_is_the_share_that_fails() -> None:
    rows = open_prefixes(gathered(random_scores(3, 200, grid=False))).rows
    assert [row.t for row in rows] == list(range(len(rows)))
    sizes = [row.n for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert all(row.baseline == pytest.approx(row.failing / row.n) for row in rows)


def test_a_perfect_ranking_of_failing_runs_has_an_average_precision_of_one() -> None:
    scores = random_scores(5, 120, grid=False)
    alone = gathered(scores).replays["vanilla", 0.5].right
    told = np.repeat(alone.astype(float), np.diff(scores.offsets))
    rows = open_prefixes(gathered(replace(scores, p_correct=told))).rows
    assert {row.average_precision.estimate for row in rows if row.average_precision} == {1.0}
