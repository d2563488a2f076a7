"""Nothing that an agent's content holds breaks the user's loop, and mistakes teach."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.live_step import LiveStep
from sentinel_sql.decision.policy import Policy
from sentinel_sql.errors import InputError
from sentinel_sql.monitor.bundle import save
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.schema import Schema
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import AskedQuestion, Telemetry
from small_runs import fitted

ASKED = "how many patients got heparin"
HALVES = ("\ud83d", "\ude00", "a\ud800b", "\udfff\ud800", "\ud83d\ude00")


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    return fitted()[0]


@pytest.fixture(scope="module")
def guard(monitor: Monitor) -> Guard:
    return replace(Guard.over(monitor, stakes=0.0), policy=Policy(stakes=0.0))


class Hostile:
    """An object all of whose uses fail."""

    def __str__(self) -> str:
        raise ValueError("no")

    def __repr__(self) -> str:
        raise ValueError("no")

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")

    def __hash__(self) -> int:
        raise ValueError("no")

    def __len__(self) -> int:
        raise ValueError("no")

    def __bool__(self) -> bool:
        raise ValueError("no")


class HostileIterator:
    def __iter__(self) -> HostileIterator:
        return self

    def __next__(self) -> Any:
        raise RuntimeError("the connection was lost")


class Deep(list[Any]):
    """A list that holds itself."""

    def __init__(self) -> None:
        super().__init__([self])


CELLS: list[Any] = [
    *(None, True, 0, -1, 10**5000, 2**63, 1.5, float("nan"), float("inf"), -0.0, 1j),
    *("", "failed", "none", "5 rows x 1 cols; sample [", "x" * 5000, "\x00", "'", *HALVES),
    *(b"", b"\xff", memoryview(b"x"), dt.date(1, 1, 1), dt.timedelta.max, dt.time(0)),
    *(np.int64(3), np.float64("nan"), np.datetime64("NaT"), np.array([1, 2]), np.void(b"x")),
    *([], [1], {}, {"a": 1}, {1, 2}, (1, 2), range(3), Hostile(), Deep(), object(), type, len),
]


def content(draw: random.Random, depth: int = 0) -> Any:
    """Return what a tool may return: a cell, or rows of cells in some form."""
    if depth > 2 or draw.random() < 0.5:
        return draw.choice(CELLS)
    its = [content(draw, depth + 1) for _ in range(draw.randrange(4))]
    form = draw.randrange(7)
    if form == 0:
        return tuple(its)
    if form == 1:
        return {str(place): each for place, each in enumerate(its)}
    if form == 2:
        return iter(its)
    if form == 3:
        return [tuple(its)] * draw.randrange(3)
    if form == 4:
        return ValueError(*its)
    if form == 5:
        return draw.choice([HostileIterator(), map(len, its), (each for each in its)])
    return its


def arguments(draw: random.Random) -> dict[str, Any]:
    texts = ["", "SELECT 1", "x" * 500, ";", "\x00", *HALVES, None, 5, b"x", ["SELECT 1"]]
    numbers = [None, (), [-0.1, -2.0], [0.13], [float("nan")], [13], ["x"], 5, "abc", [None]]
    numbers += [iter([-0.1]), np.array([-0.1, -0.2]), {"a": 1}, [float("-inf")], [10**400]]
    chosen = {
        "thought": draw.choice(texts),
        "sql": draw.choice(texts),
        "result": content(draw),
        "result_text": draw.choice([None, None, None, *texts]),
        "columns": draw.choice([None, None, 5, "ab", ["a"], [1, None], (), [Hostile()], Hostile()]),
        "truncated": draw.choice([False, True, "maybe", None, 2, np.True_]),
        "logprobs": draw.choice(numbers),
        "entropies": draw.choice(numbers),
        "usage": draw.choice([None, {"prompt_tokens": -1}, 5, {"prompt_tokens": 3}]),
        "seconds": draw.choice([None, 5, {"model": 1.0}, {"model": "x"}]),
    }
    return {name: value for name, value in chosen.items() if draw.random() < 0.4}


def try_out(guard: Guard, draw: random.Random) -> int:
    """Observe and close one run with drawn arguments; return how many were refused."""
    refusals: list[InputError] = []
    with guard.session(ASKED) as session:
        for _ in range(3):
            try:
                session.observe(**arguments(draw))
            except InputError as error:
                refusals.append(error)
        last = arguments(draw)
        last.pop("usage", None)
        last.pop("seconds", None)
        if "sql" in last:
            last["final_sql"] = last.pop("sql")
        if draw.random() < 0.5:
            last["text"] = draw.choice([*HALVES, "511 of them", "x" * 30_000, 5, "", "\x00", "½ ²"])
        try:
            session.close(**last)
        except InputError as error:
            refusals.append(error)
    assert not any("\n" in str(error) for error in refusals)
    return len(refusals)


@given(st.integers(0, 2**32))
def test_observe_and_close_raise_nothing_but_input_errors(seed: int) -> None:
    guard = replace(Guard.over(fitted()[0], stakes=0.0), policy=Policy(stakes=0.0))
    try_out(guard, random.Random(seed))


@pytest.mark.slow
def test_200_000_arguments_raise_nothing_but_input_errors(guard: Guard) -> None:
    draw = random.Random(7)
    refused = sum(try_out(guard, draw) for _ in range(13_000))  # about 4 calls of 4 arguments each
    assert 0 < refused < 52_000


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: type(cell).__name__)
def test_no_cell_of_a_result_is_an_exception(guard: Guard, cell: Any) -> None:
    with guard.session(ASKED) as session:
        for rows in ([(cell,)], [(1, cell), (2, cell)], [{"a": cell, "b": 1}], iter([(cell, 1)])):
            assert session.observe(sql="SELECT 1", result=rows).status == "judged"
        assert session.close(
            final_sql="SELECT 1", result=[(cell,)], text="There are 511 of them."
        ).decision in ("deliver", "withhold")


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_no_text_is_an_exception_wherever_it_stands(text: str) -> None:
    guard = replace(Guard.over(fitted()[0], stakes=0.0), policy=Policy(stakes=0.0))
    with guard.session(ASKED) as session:
        session.observe(thought=text, sql=text, result=text)
        session.observe(thought=text, sql=f"SELECT {text}", result_text=text)
        session.observe(sql="SELECT 1", result=RuntimeError(text))
        session.close(thought=text, final_sql=f"SELECT {text}", result=[(text,)], text=text)
    assert session.fault is None
    with guard.session(f"how many {text}") as session:
        assert session.verdict.status == "judged"


@pytest.mark.parametrize("half", HALVES)
def test_half_a_character_anywhere_leaves_the_run_judged(guard: Guard, half: str) -> None:
    question = AskedQuestion(id="q", text=f"how many {half}?", clock=None)
    for asked in (f"how many {half}?", question):
        with guard.session(asked) as session:
            session.observe(thought=half, sql=f"SELECT '{half}'", result=[(half,)], columns=[half])
            session.observe(sql="SELECT 1", result=ValueError(half))
            step = make_step(3)
            session.observe_step(step.model_copy(update={"thought": half, "sql": half}))
            answer = session.close(thought=half, final_sql=f"SELECT '{half}'", result=[(half,)])
        assert session.fault is None
        assert (answer.decision, answer.status) == ("deliver", "judged")


@pytest.mark.parametrize("half", HALVES)
def test_a_character_in_two_halves_is_judged_as_the_character(guard: Guard, half: str) -> None:
    whole = half.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def confidence(text: str) -> float | None:
        with guard.session(f"how many {text}") as session:
            session.observe(thought=text, sql=f"SELECT '{text}'", result=[(text,)])
            return session.close(final_sql=f"SELECT '{text}'", result=[(text,)]).confidence

    assert confidence(half) == confidence(whole)


@pytest.mark.parametrize(
    ("telemetry", "taken"),
    [
        ({"logprobs": [-0.1, -2.0]}, True),
        ({"logprobs": [-0.1, -2.0], "entropies": [0.1, 0.2]}, True),
        ({"logprobs": [0.0]}, True),
        ({"logprobs": [1e-7]}, True),
        ({"logprobs": [float("-inf")]}, True),
        ({"logprobs": [0.13]}, False),
        ({"logprobs": [-0.1, 13]}, False),
        ({"logprobs": [float("nan")]}, False),
        ({"logprobs": [float("inf")]}, False),
        ({"logprobs": ["x"]}, False),
        ({"logprobs": [None]}, False),
        ({"entropies": [-0.5]}, False),
        ({"entropies": [float("nan")]}, False),
        ({"entropies": [10.5]}, True),
        ({"entropies": [1e9]}, False),
        ({"logprobs": [True, -0.1]}, False),
        ({"logprobs": [-0.1, -2.0], "entropies": [0.1]}, False),
        ({"logprobs": [-0.1], "entropies": [-3.0]}, False),
    ],
)
def test_impossible_telemetry_is_ignored_and_noted(
    guard: Guard, telemetry: dict[str, Any], taken: bool
) -> None:
    def run(**how: Any) -> Any:
        with guard.session(ASKED) as session:
            session.observe(sql="SELECT 1", result=[(1,)], **how)
            return session.close(final_sql="SELECT 1", result=[(1,)])

    answer = run(**telemetry)
    assert any("telemetry of step 1" in note for note in answer.notes) is not taken
    if not taken:
        unseen = run()
        assert (answer.confidence, answer.reason) == (unseen.confidence, unseen.reason)


def test_recorded_and_live_telemetry_that_is_impossible_are_unseen_alike(monitor: Monitor) -> None:
    run = fitted()[1][0]
    odd = Telemetry(logprobs=(13.0,), entropies=(1.0, 2.0))
    steps = tuple(step.model_copy(update={"telemetry": odd}) for step in run.steps)
    bare = tuple(step.model_copy(update={"telemetry": None}) for step in run.steps)
    replays = [
        list(monitor.replay(run.model_copy(update={"steps": each}))) for each in (steps, bare)
    ]
    assert replays[0] == replays[1]


@pytest.mark.parametrize(
    "question", ["", " ", "\n\t", "?", "...", "\u200b", "\ud800", "-- !", "²", "½", "①", "42", "٣"]
)
def test_a_question_without_words_is_not_judged(monitor: Monitor, question: str) -> None:
    answer = Guard.over(monitor, stakes=1.0).run(
        lambda _: [LiveStep(sql="SELECT 1", result=[(1,)], final=True)], question
    )
    assert (answer.decision, answer.reason, answer.status, answer.value) == (
        "refuse",
        "empty-question",
        "unavailable",
        None,
    )


@pytest.mark.parametrize(
    ("wrong", "teaches"),
    [
        ({"agent": "gpt-4o"}, "no agent's fingerprint"),
        ({"agent": ""}, "no agent's fingerprint"),
        ({"agent": "react"}, "sentinel fit"),
        ({"agent": "react | scripted"}, "no agent's fingerprint"),
        ({"agent": "react|scripted|-|6|0.0"}, "no agent's fingerprint"),
        ({"schema": Schema(tables={})}, "no table"),
        ({"clock": ""}, "2100-12-31 23:59:00"),
        ({"clock": "now"}, "2100-12-31 23:59:00"),
        ({"clock": "31/12/2100"}, "2100-12-31 23:59:00"),
        ({"clock": "2100-13-31 00:00:00"}, "2100-12-31 23:59:00"),
    ],
)
def test_argument_that_refuses_every_question_is_an_input_error(
    monitor: Monitor, wrong: dict[str, Any], teaches: str, tmp_path: Path
) -> None:
    save(monitor, tmp_path / "monitor")
    with pytest.raises(InputError, match=teaches):
        Guard.load(tmp_path / "monitor", stakes=1.0, **wrong)
    if "clock" in wrong:
        with pytest.raises(InputError, match=teaches):
            Guard.over(monitor, stakes=1.0).session(ASKED, **wrong)


def test_one_time_in_other_writings_is_the_same_time(monitor: Monitor) -> None:
    clock = monitor.estimators.clock
    assert clock is not None
    for written in (clock, clock.replace(" ", "T"), f" {clock} "):
        assert Guard.over(monitor, stakes=1.0, clock=written).misfit is None


@pytest.mark.parametrize(
    "content",
    [
        {"result": "99999999999999999999 rows x 3 cols; sample ["},
        {"result_text": "99999999999999999999 rows x 3 cols; sample ["},
        {"result": [(10**5000,)]},
        {"result": [(Hostile(),)]},
        {"result": HostileIterator()},
        {"result": RuntimeError(Hostile())},
        {"logprobs": [10**400]},
        {"logprobs": [Hostile()]},
        {"thought": "\ud83d"},
    ],
    ids=lambda its: next(iter(its)),
)
def test_content_of_a_run_raises_no_exception(guard: Guard, content: dict[str, Any]) -> None:
    with guard.session(ASKED) as session:
        assert session.observe(sql="SELECT 1", **content).t == 1
        session.close(final_sql="SELECT 1", **content)
    assert session.fault is None


@pytest.mark.parametrize(
    "mistake",
    [
        {"columns": 5},
        {"logprobs": 5},
        {"entropies": "0.5"},
        {"truncated": "maybe"},
        {"result": object()},
        {"result_text": 5},
        {"sql": ["SELECT 1"]},
    ],
    ids=lambda its: next(iter(its)),
)
def test_wrong_argument_is_an_input_error_and_adds_no_step(
    guard: Guard, mistake: dict[str, Any]
) -> None:
    with guard.session(ASKED) as session:
        with pytest.raises(InputError):
            session.observe(**{"sql": "SELECT 1", **mistake})
        with pytest.raises(InputError):
            session.close(**{"final_sql": "SELECT 1", **{_final(k): v for k, v in mistake.items()}})
        assert session.observe(sql="SELECT 1", result=[(1,)]).t == 1


def _final(name: str) -> str:
    return "final_sql" if name == "sql" else name
