"""The rendering tells what was knowable, on one line each, and keeps question and newest tokens."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from run_cases import runs
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Trajectory, commitment
from sentinel_sql.trajectory.render import (
    TOKEN,
    count_tokens,
    keep_newest,
    keep_oldest,
    render,
    render_question,
    render_step,
)

ERROR = Observation(kind="error", error="no such column: x", text="ERROR: no such column: x")


def test_a_whole_run_reads_as_a_transcript() -> None:
    run = make_trajectory(
        "q",
        "how many\npatients?",
        steps=[
            make_step(1, thought="look  first", sql="SELECT *\n  FROM patients"),
            make_step(2, action="final_sql", thought="count", sql="SELECT COUNT(*) FROM patients"),
        ],
    )
    assert render(run.prefix(2)).splitlines() == [
        "QUESTION: how many patients?",
        "STEP 1 THOUGHT: look first",
        "STEP 1 SQL: SELECT * FROM patients",
        "STEP 1 RESULT: 1 rows x 1 cols; sample [['1']]",
        "STEP 2 THOUGHT: count",
        "FINAL SQL: SELECT COUNT(*) FROM patients",
        "FINAL RESULT: 1 rows x 1 cols; sample [['1']]",
    ]


def test_an_abstention_closes_without_sql_or_result() -> None:
    run = make_trajectory(steps=[make_step(1, action="final_null", thought="no such thing")])
    assert render(run.prefix(1)).splitlines()[1:] == [
        "STEP 1 THOUGHT: no such thing",
        "FINAL: null (abstained)",
    ]


def test_a_cap_run_reads_like_a_run_that_goes_on() -> None:
    last = make_step(2, action="final_sql", sql="SELECT x", observation=ERROR)
    capped = make_trajectory(steps=[make_step(1), last])
    goes_on = make_trajectory(steps=[make_step(1), last, make_step(3, action="final_sql")])
    assert capped.outcome.kind == "cap"
    assert render(capped.prefix(2)) == render(goes_on.prefix(2))
    assert "FINAL" not in render(capped.prefix(2))


@given(runs())
def test_no_closing_line_before_the_terminal_prefix(run: Trajectory) -> None:
    for prefix in list(run.prefixes())[:-1]:
        lines = render(prefix).splitlines()
        assert not any(line.startswith("FINAL") for line in lines)


@given(runs())
def test_a_longer_prefix_only_appends(run: Trajectory) -> None:
    texts = [render(prefix) for prefix in run.prefixes()]
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(texts))


@given(runs(), st.integers(2, 80))
def test_cut_text_keeps_the_question_and_the_newest_tokens(run: Trajectory, limit: int) -> None:
    prefix = run.prefix(len(run.steps))
    question = TOKEN.findall(render_question(run.question))
    steps = [
        token
        for step in run.steps
        for token in TOKEN.findall(render_step(step, commitment(step, commit_on_error=False)))
    ]
    kept = TOKEN.findall(render(prefix, limit=limit))
    head = question[: limit // 2]
    tail = steps[max(0, len(steps) - (limit - len(head))) :]
    assert kept == head + tail
    assert len(kept) <= limit


@given(st.text(), st.integers(0, 40))
def test_keeping_is_exact_on_tokens(text: str, limit: int) -> None:
    tokens = TOKEN.findall(text)
    assert TOKEN.findall(keep_oldest(text, limit)) == tokens[:limit]
    newest = [token for part in keep_newest([text], limit) for token in TOKEN.findall(part)]
    assert newest == tokens[max(0, len(tokens) - limit) :]


def test_a_word_without_end_counts_by_its_length() -> None:
    assert count_tokens("a" * 1_000_000) == 31_250


@pytest.mark.parametrize("field", ["thought", "sql"])
@given(value=st.text(min_size=1))
def test_every_value_is_one_line(field: str, value: str) -> None:
    step = make_step(1, **{field: value})
    assert len(render_step(step, None).splitlines()) <= 3
