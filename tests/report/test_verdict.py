"""The first screen's words follow from the table of stakes, and never flatter."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.exhibits.stakes_sweep import StakesRow
from sentinel_sql.evaluation.share_interval import exact_share
from sentinel_sql.evaluation_store.typed_rows import record_of
from sentinel_sql.report.page.data import first_level, nearest_level
from sentinel_sql.report.verdict import STANDINGS, Span, runs_to_tell, spans, standings, verdict

reals = st.floats(-5, 1)

SPANS = ("coverage", "accuracy_counted", "gain")


def stakes_row(**cells: Any) -> StakesRow:
    """Return a row of the stakes table; an end that isn't given lies at its estimate."""
    for name in SPANS:
        estimate = cells.get(name)
        cells = {f"{name}_low": estimate, f"{name}_high": estimate} | cells
    return record_of(StakesRow, cells)


@st.composite
def tables(draw: st.DrawFn) -> list[StakesRow]:
    rows = []
    for number in range(draw(st.integers(1, 12))):
        low, gain, high = sorted(draw(st.tuples(reals, reals, reals)))
        rows.append(
            stakes_row(
                stakes=0.5 + number,
                coverage=draw(st.sampled_from((0.0, 0.3, 1.0))),
                gain=gain,
                gain_low=low,
                gain_high=high,
                bar=(0.5 + number) / (1.5 + number),
                right=3,
                wrong=1,
                accuracy_counted=draw(st.floats(0, 1)),
            )
        )
    return rows


def has_company(where: list[bool], place: int) -> bool:
    """At the ends of the table there is but one neighbour, and nothing to stand out from."""
    return place in (0, len(where) - 1) or where[place - 1] or where[place + 1]


def heavy(stakes: float) -> bool:
    return stakes >= 1


@given(tables())
def test_deploying_takes_a_clear_gain_and_enough_answers_where_stakes_matter(
    rows: list[StakesRow],
) -> None:
    said = verdict(rows, runs=100)
    carried = [
        bool(row.coverage.estimate) and row.gain.low > 0 and row.accuracy_counted.low > row.bar
        for row in rows
    ]
    better = [
        row for place, row in enumerate(rows) if carried[place] and has_company(carried, place)
    ]
    held = dict(zip((row.stakes for row in rows), standings(rows), strict=True))
    deploys = list(itertools.takewhile(lambda it: held[it] == "better", filter(heavy, held)))
    assert said.headline.startswith("Deploy at ") == (said.tone == "yes") == bool(deploys)
    if deploys:
        assert f"up to λ = {deploys[-1]:g}: " in said.headline
    hopeful = [row for row in rows if row.coverage.estimate and row.gain.estimate > 0]
    if said.tone == "unsure":
        assert said.headline.startswith("Not yet: ")
        assert any(row.stakes >= 1 for row in hopeful)
    if said.tone == "no":
        assert said.headline.startswith("Don't deploy: ")
    light = "costs less than a right one earns" in " ".join(said.sentences)
    assert light == (any(row.stakes < 1 for row in better) and not deploys)


@given(tables())
def test_standing_worse_than_never_answering_is_stated(rows: list[StakesRow]) -> None:
    said = " ".join(verdict(rows, runs=100).sentences)
    worse = [bool(row.coverage.estimate) and row.gain.high < 0 for row in rows]
    clearly = [has_company(worse, place) for place, it in enumerate(worse) if it]
    assert ("clearly earns less than never answering" in said) == any(clearly)
    no_better = [each for each in standings(rows) if each == "not-better"]
    assert ("earns no more than never answering" in said) == bool(no_better)
    if not all(clearly):
        assert no_better


@given(tables())
def test_spans_cover_every_level_once_in_order(rows: list[StakesRow]) -> None:
    stretches = spans(rows)
    assert sum(span.levels for span in stretches) == len(rows)
    assert stretches[0].low == rows[0].stakes
    assert stretches[-1].high == rows[-1].stakes
    assert all(a.standing != b.standing for a, b in itertools.pairwise(stretches))


def test_there_is_no_verdict_without_the_stakes_table() -> None:
    assert "There is no verdict" in verdict([], runs=0).headline


def spotless(answers: int, levels: tuple[float, ...]) -> list[StakesRow]:
    counted = exact_share(answers, answers)
    assert counted is not None
    return [
        stakes_row(
            stakes=level,
            bar=level / (1 + level),
            coverage=0.4,
            right=answers,
            wrong=0,
            gain=0.4,
            gain_low=0.3,
            gain_high=0.5,
            accuracy_counted=counted.estimate,
            accuracy_counted_low=counted.low,
        )
        for level in levels
    ]


@pytest.mark.parametrize(
    ("answers", "enough_for"), [(2, 0.1), (13, 2.0), (40, 9.0), (200, 50.0), (1, None)]
)
def test_faultless_answers_justify_no_higher_stakes_than_their_number(
    answers: int, enough_for: float | None
) -> None:
    rows = spotless(answers, (0.1, 2.0, 4.0, 9.0, 20.0, 50.0))
    levels = zip(rows, standings(rows), strict=True)
    found = [row.stakes for row, each in levels if each == "better"]
    assert (found[-1] if found else None) == enough_for
    said = " ".join(verdict(rows, runs=36).sentences)
    reason = f"could also give {answers} right answers out of {answers}"
    assert (reason in said) == (enough_for != 50.0)


def at(level: float, low: float, high: float) -> StakesRow:
    (row,) = spotless(200, (level,))
    return replace(row, gain=Interval(low=low, estimate=(low + high) / 2, high=high))


def test_single_level_between_others_is_never_clear() -> None:
    rows = [at(3.3, -0.3, 0.01), at(3.63, -0.4, -0.01), at(4.0, -0.2, 0.01)]
    assert spans(rows) == (Span(standing="not-better", low=3.3, high=4.0, levels=3),)
    rows = [at(1.0, -0.1, 0.3), at(1.1, 0.01, 0.3), at(1.2, -0.1, 0.3)]
    said = verdict(rows, runs=251)
    assert said.spans == (Span(standing="unsure", low=1.0, high=1.2, levels=3),)
    assert not said.sentences
    pair = [at(3.3, -0.3, 0.01), at(3.63, -0.4, -0.01), at(4.0, -0.4, -0.01)]
    assert [span.standing for span in spans(pair)] == ["not-better", "worse"]
    assert set(standings(rows)) <= set(STANDINGS)


@pytest.mark.parametrize(("templates", "tone"), [(8, "unsure"), (19, "unsure"), (20, "yes")])
def test_few_kinds_of_question_deploy_nothing(templates: int, tone: str) -> None:
    rows = [at(1.0, 0.1, 0.3), at(1.1, 0.1, 0.3)]
    said = verdict(rows, runs=48, templates=templates)
    assert said.tone == tone
    assert said.headline.startswith("Deploy" if tone == "yes" else "Not yet: at stakes up to λ = ")
    assert (f"{templates} kinds of question" in said.headline) == (tone == "unsure")


def test_a_gain_at_some_higher_stakes_alone_deploys_nothing() -> None:
    rows = [at(1.0, -0.01, 0.3), *(at(level, 0.1, 0.3) for level in (1.1, 1.2))]
    said = verdict(rows, runs=250)
    assert said.headline.startswith("Not yet: at λ = 1 ")
    assert said.sentences[0] == "At λ = 1.1 … 1.2 it clearly earns more than never answering."


def test_low_stakes_alone_are_no_reason_to_deploy() -> None:
    meant = "but at λ < 1 a wrong answer costs less than a right one earns"
    low = verdict([at(0.1, 0.1, 0.3), at(0.2, 0.1, 0.3), at(1.0, -0.3, 0.1)], runs=251)
    assert low.headline.startswith("Don't deploy: where a wrong answer costs at least")
    assert meant in " ".join(low.sentences)
    high = verdict([at(0.5, 0.1, 0.3), at(1.0, 0.1, 0.3), at(2.0, 0.1, 0.3)], runs=251)
    assert high.headline.startswith("Deploy at stakes up to λ = 2: ")
    assert meant not in " ".join(high.sentences)


@pytest.mark.parametrize(
    ("low", "high", "more"),
    [(-0.1, 0.3, "about 760 more"), (-0.01, 0.21, "about 53 more"), (-0.3, 0.32, None)],
)
def test_not_yet_says_how_many_runs_would_tell(low: float, high: float, more: str | None) -> None:
    said = verdict([at(1.0, low, high), at(1.1, low, high)], runs=251)
    if more is None:
        assert said.headline.startswith("Don't deploy: ")
    else:
        assert said.headline.startswith("Not yet: at λ = 1 ")
        assert more in said.headline


def test_so_many_more_runs_would_bring_the_interval_above_zero() -> None:
    # checked by the same number of runs of a made-up gain
    rng = np.random.default_rng(1)
    payoffs = rng.normal(size=400)
    payoffs += 0.06 - payoffs.mean()

    def interval(values: np.ndarray) -> Interval:
        half = 1.96 * values.std() / np.sqrt(len(values))
        mean = float(values.mean())
        return Interval(low=mean - half, estimate=mean, high=mean + half)

    (row,) = spotless(200, (1.0,))
    first = interval(payoffs)
    assert first.low < 0 < first.estimate
    more = runs_to_tell(replace(row, gain=first), runs=400)
    assert more is not None
    again = np.resize(payoffs, 400 + more)
    assert interval(again).low > -0.005
    assert interval(np.resize(payoffs, 400 + more // 2)).low < 0


def test_table_without_exact_intervals_is_never_sure() -> None:
    rows = [replace(row, accuracy_counted=None) for row in spotless(500, (1.0, 4.0))]
    said = verdict(rows, runs=600)
    assert said.tone == "unsure"
    assert "evaluate again" in " ".join(said.sentences)


@given(st.lists(tables(), min_size=1, max_size=3), st.floats(0.1, 20))
def test_a_page_opens_where_some_agent_answers(
    agents: list[list[StakesRow]], wanted: float
) -> None:
    shared = min(agents, key=len)
    levels = [row.stakes for row in shared]
    told: Any = [SimpleNamespace(stakes=rows) for rows in agents]
    silent = [all(standings(rows)[at] == "silent" for rows in agents) for at in range(len(shared))]
    opened, start = first_level(told, levels, wanted), nearest_level(levels, wanted)
    if all(silent[: start + 1]):
        assert opened == start
    else:
        assert not silent[opened]
        assert opened <= start
        assert all(silent[opened + 1 : start + 1])
