"""The probes family: neutral where nothing was probed, and telling where something was."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from sentinel_sql.monitor.families.probes import FEATURES, ProbeState
from sentinel_sql.monitor.families.step_view import QuestionView, StepView
from sentinel_sql.monitor.families.table import ALL_FAMILIES, PROBES
from sentinel_sql.monitor.families.wording import read_wording
from sentinel_sql.monitor.heads.linear import LinearHead, LinearSnapshot
from sentinel_sql.monitor.surroundings import NOWHERE
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import AskedQuestion, NearestValue, Observation, Probes, Step

QUESTION = AskedQuestion(id="q", text="how many patients got heparin?")


def step(probes: Probes | None, *, index: int = 1, sql: str = "SELECT COUNT(*) FROM t") -> Step:
    seen = Observation(
        kind="rows", rows=1, columns=1, text="1 rows x 1 cols; sample [['0']]", probes=probes
    )
    return make_step(index, action="final_sql", sql=sql, observation=seen)


def values_after(*steps: Step) -> dict[str, float]:
    state = ProbeState(
        QuestionView(
            question=QUESTION, wording=read_wording(QUESTION.text, None), surroundings=NOWHERE
        )
    )
    for each in steps:
        state.observe(StepView(step=each, committed=None, query=None, analysis=None, result=None))
    return dict(zip(FEATURES, state.values(), strict=True))


def test_features_are_unknown_without_probes() -> None:
    assert all(math.isnan(value) for value in values_after().values())
    assert all(math.isnan(value) for value in values_after(step(None)).values())
    earlier = step(Probes(chain=(3, 0)))
    assert all(math.isnan(value) for value in values_after(earlier, step(None, index=2)).values())


@pytest.mark.parametrize(
    ("probes", "expected"),
    [
        (Probes(chain=(4, 8, 2)),
         {"rows_read": math.log(3), "nothing_read": 0, "joins": 2, "multiplied": math.log(2),
          "lost": 0.5, "lost_all": 0}),
        (Probes(chain=(4, 0)), {"nothing_read": 1, "one_row_read": 0, "lost": 1, "lost_all": 1}),
        (Probes(chain=(0, 0)), {"nothing_read": 1, "lost_all": 0}),
        (Probes(chain=(1,)), {"one_row_read": 1, "joins": 0}),
        (Probes(nulls=(0.25, None, 0.5)), {"nulls": 0.5, "all_null": 0}),
        (Probes(nulls=(1.0,)), {"all_null": 1}),
        (Probes(lookups=2, nearest=(NearestValue(literal="a", column="t.x", similarity=0.5),)),
         {"text_missed": 0.5, "any_text_missed": 1, "nearest": 0.5}),
        (Probes(lookups=0), {"text_missed": 0, "any_text_missed": 0}),
    ],
)  # fmt: skip
def test_probe_features_equal_values_computed_by_hand(
    probes: Probes, expected: dict[str, float]
) -> None:
    found = values_after(step(probes))
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("probes", "unseen"),
    [
        (Probes(chain=(4, None)), {"rows_read", "nothing_read", "multiplied", "lost", "lost_all"}),
        (Probes(chain=(None, 4)), {"multiplied", "lost", "lost_all"}),
        (Probes(chain=(0, 0)), {"multiplied", "lost"}),
        (Probes(nulls=(None,)), {"nulls", "all_null"}),
        (Probes(lookups=None), {"text_missed", "any_text_missed", "nearest", "rows_read", "joins"}),
    ],
)
def test_unknown_figures_give_unknown_features(probes: Probes, unseen: set[str]) -> None:
    found = values_after(step(probes))
    assert all(math.isnan(found[name]) for name in unseen), found


def snapshots(
    count: int, families: tuple[str, ...], *, probed: bool
) -> tuple[list[LinearSnapshot], np.ndarray]:
    """Answers that look alike but for the rows that they came from."""
    rng = random.Random(5)
    made, targets = [], []
    head = LinearHead(families=families)
    for number in range(count):
        right = rng.random() < 0.5
        rows = rng.choice((1, 2, 40)) if right or rng.random() < 0.1 else 0
        reading = head.read(replace_text(number), NOWHERE)
        reading.observe(
            step(
                Probes(chain=(50, rows)) if probed else None, sql=f"SELECT c{rng.random()} FROM t"
            ),
            "answer",
        )
        made.append(reading.snapshot(4096))
        targets.append(right)
    return made, np.array(targets)


def replace_text(number: int) -> AskedQuestion:
    return QUESTION.model_copy(update={"text": f"how many patients got drug {number % 7}?"})


def test_probes_family_changes_no_bit_for_runs_without_probes() -> None:
    without = tuple(name for name in ALL_FAMILIES if name != PROBES)
    scores = []
    for families in (without, ALL_FAMILIES):
        inputs, targets = snapshots(60, families, probed=False)
        groups = np.arange(60) % 20
        fitted = LinearHead(families=families).fit(inputs, targets, groups=groups, seed=1)
        scores.append(fitted.score(inputs))
    assert np.array_equal(*scores)


def test_head_learns_to_doubt_a_count_over_no_rows() -> None:
    inputs, targets = snapshots(160, ALL_FAMILIES, probed=True)
    groups = np.arange(160) % 40
    fitted = LinearHead().fit(inputs[:120], targets[:120], groups=groups[:120], seed=1)
    scores = fitted.score(inputs[120:])
    right = targets[120:]
    wins = np.mean(scores[right][:, None] > scores[~right][None, :])
    assert wins > 0.9
