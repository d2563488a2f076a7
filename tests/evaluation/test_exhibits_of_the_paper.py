"""The exhibits beyond the ladder: each against a plain calculation, or a law that it must obey."""

from __future__ import annotations

import json
from dataclasses import replace as changed
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from score_cases import random_scores
from sentinel_sql.decision.payoff import chow_bar, payoffs
from sentinel_sql.decision.ragged_columns import gate_times
from sentinel_sql.decision.thresholds import freeze
from sentinel_sql.errors import CannotFitError, InputError
from sentinel_sql.evaluation.exhibit_record import Evidence
from sentinel_sql.evaluation.exhibits.cost import cost
from sentinel_sql.evaluation.exhibits.early_stopping import early_stopping
from sentinel_sql.evaluation.exhibits.exact_bar import exact_bars
from sentinel_sql.evaluation.exhibits.question_baseline import question_only
from sentinel_sql.evaluation.exhibits.reliability import confidence_bins, reliability
from sentinel_sql.evaluation.exhibits.resources import resources
from sentinel_sql.evaluation.exhibits.reweighting import reweighted
from sentinel_sql.evaluation.exhibits.risk_coverage import risk_coverage_sweep
from sentinel_sql.evaluation.exhibits.stakes_sweep import stakes_sweep
from sentinel_sql.evaluation.exhibits.strict_scoring import strict_scoring
from sentinel_sql.evaluation.exhibits.table import EXHIBITS
from sentinel_sql.evaluation.exhibits.withholding import withhold_roc, withholding
from sentinel_sql.evaluation.options import Options, Prices
from sentinel_sql.evaluation.paper_numbers import paper
from sentinel_sql.evaluation.run_facts import RunFacts
from sentinel_sql.evaluation.share_interval import exact_share
from sentinel_sql.evaluation.studies.cross_agent import STACKED, cross_agent_exhibits

FROZEN = freeze(random_scores(2, 300))


def gathered(
    seed: int = 1, runs: int = 200, options: Options | None = None, **changes: Any
) -> Evidence:
    scores = changed(random_scores(seed, runs), **changes)
    rng = np.random.default_rng(seed)
    prompts = rng.integers(500, 900, len(scores.tokens)).astype(float)
    prompts[scores.offsets[:-1]] = 0.0
    return Evidence.gather(
        scores,
        FROZEN,
        options=options,
        facts=RunFacts(strict=scores.correct & (rng.random(runs) < 0.7), prompt_tokens=prompts),
        calibration=random_scores(seed + 1, 300),
        resamples=60,
    )


KINDS = {
    "forty runs": {"runs": 40},
    "one run": {"runs": 1},
    "no unanswerable question": {"answerable": True},
    "no answerable question": {"answerable": False, "correct": False},
    "no answer": {"answered": False, "clean": False, "correct": False},
    "all answers wrong": {"correct": False},
    "no token telemetry": {"tokens": np.nan, "seconds": np.nan},
    "no clean answer": {"clean": False},
}


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 10_000),
    options=st.sampled_from(
        (
            Options(),
            Options(exact_bar=True, prices=Prices(prompt=1, completion=2)),
            Options(strict=True),
            Options(question_only=True),
            Options(reweight=0.33),
        )
    ),
)
@settings(max_examples=5, deadline=None)
def test_poor_pool_gives_tables_with_empty_cells(kind: str, seed: int, options: Options) -> None:
    how = dict(KINDS[kind])
    runs = how.pop("runs", 40)
    scores = random_scores(seed, runs)
    columns = {
        name: np.full(len(getattr(scores, name)), value, getattr(scores, name).dtype)
        for name, value in how.items()
    }
    answerable = columns.get("answerable", scores.answerable)
    if options.reweight and (answerable.all() or not answerable.any()):
        with pytest.raises(InputError, match="re-weighted"):
            gathered(seed, runs, options, **columns)
        return
    seen = gathered(seed, runs, options, **columns)
    for name, exhibit in EXHIBITS.items():
        text = json.dumps(exhibit(seen).to_json(), allow_nan=False)
        assert json.loads(text)["title"], name
    for exhibit in cross_agent_exhibits({"a": seen, "b": seen}).values():
        json.dumps(exhibit.to_json(), allow_nan=False)


def test_question_only_needs_a_calibration_pool_with_answers() -> None:
    scores = random_scores(1, 50)
    silent = changed(scores, answered=np.zeros(50, dtype=bool))
    with pytest.raises(InputError, match="calibration pool's columns"):
        Evidence.gather(scores, FROZEN, options=Options(question_only=True))
    with pytest.raises(CannotFitError, match="no answer"):
        Evidence.gather(scores, FROZEN, options=Options(question_only=True), calibration=silent)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5])
def test_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="makes no sense"):
        Options(reweight=share)


def test_strict_scoring_without_strict_labels_is_refused() -> None:
    scores = random_scores(1, 50)
    with pytest.raises(InputError, match="no strict verdicts"):
        Evidence.gather(scores, FROZEN, options=Options(strict=True))
    rows = strict_scoring(Evidence.gather(scores, FROZEN)).rows
    assert {row.labels for row in rows} == {"judge"}


def test_stakes_sweep_agrees_with_the_ladder_at_the_stakes_of_record() -> None:
    seen = gathered()
    rows = {row.stakes: row for row in stakes_sweep(seen).rows}
    assert {1.0, 4.0, 9.0, 0.1, 50.0} <= set(rows)
    assert len(rows) >= 60
    assert list(rows) == sorted(rows)
    for level in (1.0, 4.0, 9.0):
        row, run = rows[level], seen.replays["full", level]
        assert row.bar == chow_bar(level)
        assert row.rs_full is not None
        assert row.rs_full.estimate == pytest.approx(run.rs)
        assert row.right + row.wrong == run.delivered.sum()
        assert row.kept is not None
        assert row.kept.estimate == pytest.approx(run.delivered[seen.scores.correct].mean())


@given(cases=st.integers(1, 400), part=st.floats(0, 1))
def test_exact_share_has_the_interval_of_a_binomial_test(cases: int, part: float) -> None:
    hits = round(part * cases)
    counted = exact_share(hits, cases)
    assert counted is not None
    ends = binomtest(hits, cases).proportion_ci(confidence_level=0.95, method="exact")
    assert (counted.low, counted.high) == pytest.approx((ends.low, ends.high), abs=1e-9)
    assert counted.high > counted.low


def test_stakes_table_counts_delivered_answers() -> None:
    for row in stakes_sweep(gathered()).rows:
        assert row.accuracy_counted == exact_share(row.right, row.right + row.wrong)
        assert (row.accuracy_counted is None) == (row.accuracy is None)
        if row.accuracy and row.accuracy_counted:
            assert row.accuracy_counted.estimate == pytest.approx(row.accuracy.estimate)


def test_higher_stakes_never_deliver_more() -> None:
    coverage = [row.coverage.estimate for row in stakes_sweep(gathered()).rows if row.coverage]
    assert coverage == sorted(coverage, reverse=True)


def test_strict_labels_change_scores_and_no_decision() -> None:
    usual, strict = gathered(), gathered(options=Options(strict=True))
    for key, run in usual.replays.items():
        assert np.array_equal(run.delivered, strict.replays[key].delivered)
    s = usual.scores
    for row in strict_scoring(usual).rows:
        correct = s.correct if row.labels == "judge" else usual.facts.strict
        assert correct is not None
        delivered = usual.replays[row.system, row.stakes].delivered
        earned = payoffs(
            delivered=delivered, correct=correct, answerable=s.answerable, stakes=row.stakes
        )
        assert row.rs is not None
        assert row.rs.estimate == pytest.approx(earned.mean())
    assert strict_scoring(usual) == strict_scoring(strict)


@pytest.mark.parametrize("share", [0.2, 0.33, 0.9])
def test_reweighted_mean_has_the_target_share(share: float) -> None:
    seen = gathered(options=Options(reweight=share))
    a, weights = seen.scores.answerable, seen.weights
    assert weights[~a].sum() / weights.sum() == pytest.approx(share)
    for level in seen.stakes:
        nothing = seen.resampling.mean(seen.replays["always-abstain", level].payoff)
        assert nothing is not None
        # Refusing everything earns the share itself, in every resample.
        assert (nothing.low, nothing.estimate, nothing.high) == pytest.approx((share,) * 3)
        payoff = seen.replays["full", level].payoff
        by_hand = share * payoff[~a].mean() + (1 - share) * payoff[a].mean()
        found = seen.resampling.mean(payoff)
        assert found is not None
        assert found.estimate == pytest.approx(by_hand)
        assert seen.mean(payoff) == pytest.approx(by_hand)


def test_reweighting_table_agrees_with_the_option() -> None:
    plain, option = gathered(), gathered(options=Options(reweight=0.2))
    rows = [row for row in reweighted(plain).rows if row.unanswerable == 0.2]
    assert rows == [row for row in reweighted(option).rows if row.unanswerable == 0.2]
    for row in rows:
        full = option.resampling.mean(option.replays["full", row.stakes].payoff)
        assert row.rs_full == full
    own = [row for row in reweighted(plain).rows if row.as_recorded]
    assert [row.unanswerable for row in own] == [float((~plain.scores.answerable).mean())] * 3
    for row in own:
        assert row.rs_vanilla is not None
        assert row.rs_vanilla.estimate == pytest.approx(plain.replays["vanilla", row.stakes].rs)


def test_pool_of_one_kind_is_not_reweighted() -> None:
    seen = gathered(answerable=np.ones(200, dtype=bool))
    for row in reweighted(seen).rows:
        assert (row.rs_full is None) == (not row.as_recorded)


def test_the_exact_bar_delivers_no_more_than_chows() -> None:
    seen = gathered()
    for row in exact_bars(seen).rows:
        assert row.delivered_exact <= row.delivered_chow
    assert exact_bars(gathered(options=Options(exact_bar=True))) == exact_bars(seen)


def test_early_stop_rows_agree_with_the_replay() -> None:
    seen = gathered()
    for row in early_stopping(seen).rows:
        early, full = (seen.replays[name, row.stakes] for name in ("early-stop", "full"))
        assert row.change is not None
        assert row.change.estimate == pytest.approx(early.rs - full.rs)
        assert row.steps_saved is not None
        assert row.steps_saved.estimate == pytest.approx(
            early.steps_saved.sum() / seen.scores.steps.sum()
        )
        lost = (
            seen.scores.correct[full.delivered].sum() - seen.scores.correct[early.delivered].sum()
        )
        assert row.right_lost == lost


def test_withhold_auc_ranks_stopped_runs_lowest() -> None:
    seen = gathered(runs=400)
    s = seen.scores
    gated = gate_times(s, seen.thresholds.gate.theta) <= s.steps
    trust = np.where(gated, -1.0, s.delivery_score)[s.answered]
    row = withholding(seen).rows[0]
    assert row.auc is not None
    assert row.auc.estimate == pytest.approx(roc_auc_score(s.correct[s.answered], trust))
    assert row.n == s.answered.sum()
    assert withholding(seen).rows[1].rule.estimate == 0.5


def test_roc_rises_from_zero_to_one_and_has_its_area() -> None:
    seen = gathered(runs=400)
    rows = [row for row in withhold_roc(seen).rows if row.over == "all answers"]
    curve = [(row.right_withheld, row.wrong_withheld) for row in rows if row.stakes is None]
    assert curve[0] == (0.0, 0.0)
    assert curve[-1] == (1.0, 1.0)
    assert curve == sorted(curve)
    x, y = np.array(curve).T
    auc = withholding(seen).rows[0].auc
    assert auc is not None
    assert np.trapezoid(y, x) == pytest.approx(auc.estimate)


def test_system_points_lie_on_the_roc_if_confidence_follows_the_score() -> None:
    s = random_scores(3, 400, grid=False)
    seen = gathered(3, 400, delivery_score=s.delivery_score, delivery=s.delivery_score)
    rows = [row for row in withhold_roc(seen).rows if row.over == "all answers"]
    curve = {(row.right_withheld, row.wrong_withheld) for row in rows if row.stakes is None}
    for row in rows:
        if row.stakes is not None:
            point = np.array([row.right_withheld, row.wrong_withheld])
            assert min(np.abs(point - other).max() for other in curve) < 1e-12


def test_question_only_compares_the_first_and_last_prefix() -> None:
    seen = gathered()
    s = seen.scores
    answers = s.answered & s.answerable
    row = question_only(seen).rows[0]
    first = roc_auc_score(s.correct[answers], s.raw_correct[s.offsets[:-1]][answers])
    last = roc_auc_score(s.correct[answers], s.raw_correct[s.offsets[1:] - 1][answers])
    assert row.question is not None
    assert row.whole_run is not None
    assert row.lead is not None
    assert (row.question.estimate, row.whole_run.estimate) == pytest.approx((first, last))
    assert row.lead.estimate == pytest.approx(last - first)


def test_question_only_monitor_sees_no_step() -> None:
    seen = gathered(options=Options(question_only=True))
    first = random_scores(1, 200)
    noise = np.random.default_rng(0).random(len(first.p_correct))
    start = np.zeros(len(noise), dtype=bool)
    start[first.offsets[:-1]] = True
    other = gathered(
        options=Options(question_only=True),
        raw_correct=np.where(start, first.raw_correct, noise),
        p_answerable=np.where(start, first.p_answerable, noise),
        p_correct=noise,
        delivery=np.where(first.answered, 0.99, np.nan),
    )
    for key, run in seen.replays.items():
        assert np.array_equal(run.kinds, other.replays[key].kinds)


def test_resources_equal_the_savings_of_the_replay() -> None:
    seen = gathered()
    for row in resources(seen).rows:
        run, agent = seen.replays[row.system, row.stakes], seen.replays["vanilla", row.stakes]
        assert row.steps == run.steps_saved.sum()
        assert row.tokens == pytest.approx(agent.tokens.sum() - run.tokens.sum())
        assert row.tokens_saved is not None
        assert row.tokens_saved.estimate == pytest.approx(1 - run.tokens.sum() / agent.tokens.sum())
        if row.system == "always-abstain":
            assert row.steps_saved is not None
            assert row.steps_saved.estimate == 1.0


def test_cost_is_tokens_times_price_and_none_without_prices() -> None:
    seen = gathered(options=Options(prices=Prices(prompt=0.15, completion=0.6)))
    prompts = np.add.reduceat(seen.facts.prompt_tokens, seen.scores.offsets[:-1]).mean()
    for row in cost(seen).rows:
        if row.system != "vanilla":
            continue
        tokens = seen.replays["vanilla", row.stakes].tokens.mean()
        assert row.prompt_tokens is not None
        assert row.completion_tokens is not None
        assert row.money is not None
        assert row.prompt_tokens.estimate == pytest.approx(prompts)
        assert row.completion_tokens.estimate == pytest.approx(tokens)
        assert row.money.estimate == pytest.approx((0.15 * prompts + 0.6 * tokens) / 1e6)
        assert row.money_saved is not None
        assert row.money_saved.estimate == pytest.approx(0, abs=1e-12)
    assert {row.money for row in cost(gathered()).rows} == {None}
    with pytest.raises(InputError, match="price"):
        Prices(prompt=-1, completion=1)


def test_bins_and_errors_equal_their_definition() -> None:
    seen = gathered(runs=500)
    s = seen.scores
    correct, confidence = s.correct[s.answered], s.delivery[s.answered]
    rows = [row for row in confidence_bins(seen).rows if row.stage == "calibrated"]
    gap = 0.0
    for number, row in enumerate(rows):
        low, high = number / 10, (number + 1) / 10
        last = confidence == 1.0 if number == 9 else np.zeros(len(confidence), dtype=bool)
        inside = ((confidence >= low) & (confidence < high)) | last
        assert row.n == inside.sum()
        if row.n:
            assert row.accuracy is not None
            assert row.accuracy.estimate == pytest.approx(correct[inside].mean())
            assert row.confidence == pytest.approx(confidence[inside].mean())
            gap += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
        else:
            assert (row.accuracy, row.confidence) == (None, None)
    calibrated = reliability(seen).rows[1]
    assert calibrated.ece is not None
    assert calibrated.brier is not None
    assert calibrated.ece.estimate == pytest.approx(gap)
    assert calibrated.brier.estimate == pytest.approx(((correct - confidence) ** 2).mean())


def test_chow_points_of_the_sweep_equal_the_replay() -> None:
    seen = gathered()
    s = seen.scores
    points = [row for row in risk_coverage_sweep(seen).rows if row.stakes is not None]
    assert [row.stakes for row in points] == list(seen.stakes)
    for row in points:
        delivered = seen.replays["chow", row.stakes].delivered
        assert row.coverage == pytest.approx(delivered.sum() / s.answered.sum())
        if delivered.any():
            assert row.risk == pytest.approx(1 - s.correct[delivered].mean())


def test_cross_agent_rows_equal_the_figures_of_each_agent() -> None:
    agents = {"one": gathered(1), "two": gathered(5)}
    made = cross_agent_exhibits(agents)
    assert {row.agent for row in made["agents"].rows} == {"one", "two"}
    for row in made["cross_agent"].rows:
        seen = agents[row.agent]
        assert row.rs_vanilla.estimate == pytest.approx(seen.replays["vanilla", row.stakes].rs)
        assert row.rs_full.estimate == pytest.approx(seen.replays["full", row.stakes].rs)
        assert row.significant == row.gain.excludes_zero
    for name, exhibit in STACKED.items():
        for agent, seen in agents.items():
            mine = [row for row in made[name].rows if row.agent == agent]
            alone = exhibit(seen).rows
            assert len(mine) == len(alone)
            for row, single in zip(mine, alone, strict=True):
                assert vars(row) == {"agent": agent, **vars(single)}


def test_paper_numbers_are_marked_and_consistent() -> None:
    rows = paper().rows
    assert all(row.where for row in rows)
    assert "not measured here" in paper().note
    cells = {(row.agent, row.figure, row.stakes): row.value for row in rows}
    nothing = cells[None, "RS always abstain", None]
    for row in rows:
        if row.figure == "gain over always abstaining":
            assert row.value_low is not None
            assert row.value_high is not None
            assert row.value_low <= row.value <= row.value_high
            full = cells[row.agent, "RS full", row.stakes]
            assert full - nothing == pytest.approx(row.value, abs=0.0125)
