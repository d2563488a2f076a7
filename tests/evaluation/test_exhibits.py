from __future__ import annotations

import json
from dataclasses import replace as changed

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from score_cases import (
    prefix_scores,
    random_scores,
    replay_one_by_one,
    score_by_hand,
    stakes_levels,
)
from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.decision.ragged_columns import terminal
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.auroc_by_step import by_step
from sentinel_sql.evaluation.exhibits.gain import gain
from sentinel_sql.evaluation.exhibits.head_ranking import heads
from sentinel_sql.evaluation.exhibits.operating_characteristics import operating
from sentinel_sql.evaluation.exhibits.reliability import confidence_bins, reliability
from sentinel_sql.evaluation.exhibits.risk_coverage import selective
from sentinel_sql.evaluation.exhibits.step_economics import step_economics
from sentinel_sql.evaluation.exhibits.system_ladder import ladder
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation.replay import replay
from sentinel_sql.monitor.prefix_scores import PrefixScores


def evidence(seed: int = 1, runs: int = 200, **changes: np.ndarray) -> Evidence:
    scores = changed(random_scores(seed, runs), **changes)  # type: ignore[arg-type]
    return Evidence.gather(scores, freeze(random_scores(seed + 1, 300)), resamples=100)


@given(prefix_scores(), stakes_levels, st.sampled_from(list(SYSTEMS)), st.booleans())
@settings(max_examples=100, deadline=None)
def test_replay_equals_stepping_by_hand(
    scores: PrefixScores, stakes: float, system: str, exact: bool
) -> None:
    frozen = freeze(scores, stakes=(stakes,))
    run = replay(scores, system, thresholds=frozen, stakes=stakes, exact=exact, calibration=scores)
    verdicts = replay_one_by_one(
        scores,
        # Stakes that the calibration runs don't carry: every run is refused at t = 0.
        theta=run.policy.theta if run.policy.served else np.inf,
        early=run.policy.early,
        stakes=stakes,
        exact=exact,
        chow=run.policy.bar is not None,
        certified=run.policy.bar == "certified",
        certified_at=run.policy.certified_at,
    )
    earned, saved = score_by_hand(scores, verdicts, stakes)
    assert run.rs == float(earned)
    assert run.payoff.mean() == pytest.approx(float(earned), abs=1e-12)
    assert run.steps_saved.sum() == saved
    assert sum(run.decisions.values()) == len(scores)
    for i, (_, _, t) in enumerate(verdicts):
        rows = slice(scores.offsets[i], scores.offsets[i] + t + 1)
        assert run.tokens[i] == scores.tokens[rows].sum()
        assert run.seconds[i] == pytest.approx(scores.seconds[rows].sum())


def test_unknown_tokens_stay_unknown_and_only_in_their_own_run() -> None:
    scores = random_scores(4, 50)
    tokens = scores.tokens.copy()
    victim = int(np.flatnonzero(scores.steps > 0)[0])
    tokens[scores.offsets[victim] + 1] = np.nan
    run = replay(changed(scores, tokens=tokens), "vanilla", thresholds=freeze(scores), stakes=1.0)
    assert np.flatnonzero(np.isnan(run.tokens)).tolist() == [victim]


def test_ladder_shows_every_system_at_every_stakes_with_exact_scores() -> None:
    seen = evidence()
    rows = ladder(seen).rows
    assert [(row.stakes, row.system) for row in rows] == [
        (stakes, system) for stakes in (1.0, 4.0, 9.0) for system in SYSTEMS
    ]
    for row in rows:
        run = seen.replays[row.system, row.stakes]
        assert row.rs.estimate == run.rs
        assert row.rs.low <= row.rs.estimate <= row.rs.high
        assert row.rs_official == pytest.approx(100 * run.rs)
        assert row.coverage == pytest.approx(run.delivered.mean())
        total = seen.scores.steps.sum()
        assert row.steps_saved == pytest.approx(run.steps_saved.sum() / total)
    nothing = [row for row in rows if row.system == "always-abstain"]
    unanswerable = float((~seen.scores.answerable).mean())
    assert {row.rs.estimate for row in nothing} == {unanswerable}
    assert {(row.steps_saved, row.tokens_saved, row.accuracy) for row in nothing} == {
        (1.0, 1.0, None)
    }


def test_savings_are_none_without_any_known_cost() -> None:
    scores = random_scores(1, 100)
    rows = ladder(evidence(runs=100, tokens=np.full(len(scores.tokens), np.nan))).rows
    assert {row.tokens_saved for row in rows} == {None}


def test_gain_is_the_difference_of_scores_and_marked_if_it_excludes_zero() -> None:
    seen = evidence()
    for row in gain(seen).rows:
        mine = seen.replays[row.system, row.stakes].rs
        theirs = seen.replays[row.over, row.stakes].rs
        assert row.gain.estimate == pytest.approx(mine - theirs, abs=1e-12)
        assert row.significant == row.gain.excludes_zero


def test_operating_counts_agree_with_the_replay() -> None:
    seen = evidence()
    for row in operating(seen).rows:
        run = seen.replays[row.system, row.stakes]
        assert row.right + row.wrong == run.delivered.sum()
        if row.accuracy is None:
            assert not run.delivered.any()
        else:
            assert row.accuracy.estimate == pytest.approx(row.right / run.delivered.sum())


def test_each_head_is_ranked_on_its_own_runs() -> None:
    seen = evidence()
    s = seen.scores
    rows = {row.name: row for row in heads(seen).rows}
    last = terminal(s)
    answers = s.answered & s.answerable
    expected = {
        "correctness": roc_auc_score(s.correct[answers], s.raw_correct[last][answers]),
        "delivery": roc_auc_score(s.correct[s.answered], s.delivery_score[s.answered]),
        "answerability, question alone": roc_auc_score(
            s.answerable, s.p_answerable[s.offsets[:-1]]
        ),
        "answerability, whole run": roc_auc_score(s.answerable, s.p_answerable[last]),
    }
    for name, value in expected.items():
        found = rows[name].auroc
        assert found is not None
        assert found.estimate == pytest.approx(value, abs=1e-12)


def test_plain_rule_has_auroc_one_half_among_clean_answers() -> None:
    for row in heads(evidence()).rows:
        if row.name.startswith("quiet failure"):
            assert row.rule is not None
            assert (row.rule.estimate, row.rule.low, row.rule.high) == (0.5, 0.5, 0.5)
        if row.rule is not None:
            assert row.auroc is not None
            assert row.lead is not None
            assert row.lead.estimate == pytest.approx(row.auroc.estimate - row.rule.estimate)


def test_one_class_gives_no_auroc() -> None:
    runs = 60
    seen = evidence(runs=runs, correct=np.zeros(runs, dtype=bool), answerable=np.ones(runs, bool))
    assert all(row.auroc is None for row in heads(seen).rows)
    assert all(row.auroc is None for row in by_step(seen).rows)


def test_auroc_by_step_uses_only_runs_with_as_many_steps() -> None:
    seen = evidence()
    s = seen.scores
    for row in by_step(seen).rows:
        reached = s.steps >= row.t
        if row.head == "correctness":
            reached &= s.answered & s.answerable
        assert row.n == reached.sum()
        if row.auroc is not None:
            score = s.raw_correct if row.head == "correctness" else s.p_answerable
            target = s.correct if row.head == "correctness" else s.answerable
            at = score[s.offsets[:-1][reached] + row.t]
            assert row.auroc.estimate == pytest.approx(roc_auc_score(target[reached], at))


def test_step_economics_separate_step_cap_from_refusals() -> None:
    seen = evidence()
    s = seen.scores
    rows = {row.group: row for row in step_economics(seen).rows}
    assert sum(row.n for row in rows.values()) == len(s)
    refused = ~s.answerable & s.abstained
    assert rows["correct refusal"].n == refused.sum()
    assert rows["correct refusal"].steps is not None
    assert rows["correct refusal"].steps.estimate == pytest.approx(s.steps[refused].mean())


def test_reliability_and_selective_use_answers_only() -> None:
    seen = evidence()
    n = seen.scores.answered.sum()
    assert {row.n for row in reliability(seen).rows} == {n}
    assert {row.n for row in selective(seen).rows} == {n}
    for stage in ("raw", "calibrated"):
        assert sum(row.n for row in confidence_bins(seen).rows if row.stage == stage) == n
    for curve in selective(seen).rows:
        wrong = 1 - seen.scores.correct[seen.scores.answered].mean()
        assert curve.risk_at_100 == pytest.approx(wrong)


@pytest.mark.parametrize("runs", [1, 2, 30])
def test_every_exhibit_is_plain_json_without_nan_even_for_tiny_pools(runs: int) -> None:
    for seed in range(6):
        seen = evidence(seed, runs)
        for exhibit in EXHIBITS.values():
            json.dumps(exhibit(seen).to_json(), allow_nan=False)


def test_exhibits_are_empty_without_answers() -> None:
    runs = 40
    nobody = np.zeros(runs, dtype=bool)
    seen = evidence(runs=runs, answered=nobody, correct=nobody, clean=nobody)
    for exhibit in EXHIBITS.values():
        json.dumps(exhibit(seen).to_json(), allow_nan=False)
    assert {row.auroc for row in heads(seen).rows if row.n == 0} == {None}
    assert {row.aurc for row in selective(seen).rows} == {None}
