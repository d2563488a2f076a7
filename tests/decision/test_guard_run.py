"""Running an agent under guard: plain, asynchronous, stopped, failing and silent ones."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from sentinel_sql.decision.agent_loop import guarded
from sentinel_sql.decision.guard import Guard
from sentinel_sql.decision.live_step import LiveStep
from sentinel_sql.decision.policy import Policy
from sentinel_sql.errors import InputError
from sentinel_sql.testing import make_step
from sentinel_sql.trajectory.record import Step
from small_runs import fitted

ASKED = "how many patients got heparin"
LOOK = LiveStep(thought="look", sql="SELECT drug FROM prescriptions", result=[("heparin",)])
LAST = LiveStep(thought="sure", sql="SELECT COUNT(*) FROM p", result=[(511,)], final=True)


@pytest.fixture(scope="module")
def guard() -> Guard:
    """A guard that delivers every answer that the monitor can judge."""
    return replace(Guard.over(fitted()[0], stakes=0.0), policy=Policy(stakes=0.0))


def plain(question: str) -> Iterator[LiveStep]:
    yield LOOK
    yield LAST


async def asynchronous(question: str) -> AsyncIterator[LiveStep]:
    for step in plain(question):
        await asyncio.sleep(0)
        yield step


async def listing(question: str) -> list[LiveStep]:
    return list(plain(question))


async def opening(question: str) -> AsyncIterator[LiveStep]:
    return asynchronous(question)


class Agent:
    def __call__(self, question: str) -> Iterator[LiveStep]:
        return plain(question)

    def stream(self, question: str) -> AsyncIterator[LiveStep]:
        return asynchronous(question)


def same(one: Any, other: Any) -> bool:
    return bool(replace(one, monitor_seconds=0.0) == replace(other, monitor_seconds=0.0))


PLAIN = [
    plain,
    lambda q: list(plain(q)),
    lambda q: tuple(plain(q)),
    Agent(),
    functools.partial(plain),
]
ASYNC = [
    asynchronous,
    listing,
    opening,
    lambda q: asynchronous(q),
    Agent().stream,
    functools.partial(asynchronous),
]


@pytest.mark.parametrize("agent", PLAIN)
def test_an_agent_of_any_plain_form_ends_as_by_hand(guard: Guard, agent: Any) -> None:
    with guard.session(ASKED) as session:
        session.observe(thought=LOOK.thought, sql=LOOK.sql, result=LOOK.result)
        by_hand = session.close(thought=LAST.thought, final_sql=LAST.sql, result=LAST.result)
    answer = guard.run(agent, ASKED)
    assert same(answer, by_hand)
    assert (answer.decision, answer.value, answer.t) == ("deliver", [(511,)], 2)


@pytest.mark.parametrize("agent", ASYNC)
def test_an_agent_of_any_asynchronous_form_ends_as_the_plain_one(guard: Guard, agent: Any) -> None:
    async def ask() -> Any:
        return await guard.run(agent, ASKED)

    assert same(asyncio.run(ask()), guard.run(plain, ASKED))


@pytest.mark.parametrize("agent", [*PLAIN, *ASYNC])
def test_a_refused_question_calls_no_agent_and_may_be_awaited(guard: Guard, agent: Any) -> None:
    refusing = replace(guard, policy=Policy(stakes=1.0, theta=1.1))

    def called(question: str) -> Any:
        raise AssertionError

    assert refusing.run(called, ASKED).decision == "refuse"

    async def ask() -> Any:
        return await refusing.run(agent, ASKED)

    assert asyncio.run(ask()).decision == "refuse"


def test_a_stop_asks_for_no_further_step_and_closes_the_agent(guard: Guard) -> None:
    stopping = replace(guard, policy=Policy(stakes=1.0, early=2.0))
    seen: list[str] = []

    def agent(question: str) -> Iterator[LiveStep]:
        try:
            yield LOOK
            seen.append("went on")
            yield LAST
        finally:
            seen.append("closed")

    async def its_async(question: str) -> AsyncIterator[LiveStep]:
        try:
            yield LOOK
            seen.append("went on")
        finally:
            seen.append("closed")

    async def ask() -> Any:
        return await stopping.run(its_async, ASKED)

    assert stopping.run(agent, ASKED).decision == "exit"
    assert asyncio.run(ask()).decision == "exit"
    assert seen == ["closed", "closed"]


def test_exception_of_the_agent_passes_and_the_run_is_closed(guard: Guard) -> None:
    sessions = []

    class Spied(Guard):
        def session(self, *args: Any, **how: Any) -> Any:
            sessions.append(super().session(*args, **how))
            return sessions[-1]

    spied = Spied(monitor=guard.monitor, policy=guard.policy)

    def failing(question: str) -> Iterator[LiveStep]:
        yield LOOK
        raise RuntimeError("down")

    async def its_async(question: str) -> AsyncIterator[LiveStep]:
        yield LOOK
        raise RuntimeError("down")

    async def ask() -> Any:
        return await spied.run(its_async, ASKED)

    with pytest.raises(RuntimeError, match="down"):
        spied.run(failing, ASKED)
    with pytest.raises(RuntimeError, match="down"):
        asyncio.run(ask())
    for session in sessions:
        assert session.answer is not None
        assert session.answer.decision == "withhold"


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "no-answer"),
        ([LOOK], "no-answer"),
        ([LiveStep(final=True, text="I don't know.")], "no-answer"),
        ([LiveStep(abstained=True, thought="no table holds that")], "agent-abstained"),
        ([LiveStep(sql="SELECT 1", result=ValueError("no"), final=True)], "not-executed"),
        ([LiveStep(sql="SELECT 1", result=[(1,)], final=True), LOOK], "above-bar"),
    ],
)
def test_each_ending_has_its_reason(guard: Guard, steps: list[LiveStep], reason: str) -> None:
    judged = Guard.over(guard.monitor, stakes=0.0)
    judged = replace(judged, policy=replace(judged.policy, theta=None))
    assert judged.run(lambda _: iter(steps), ASKED).reason == reason


def test_native_steps_run_as_they_are_recorded(guard: Guard) -> None:
    steps = [make_step(1), make_step(2, action="final_sql")]

    def native(question: str) -> Iterator[Step]:
        yield from steps

    answer = guard.run(native, ASKED)
    with guard.session(ASKED) as session:
        assert list(guarded(steps, session)) == steps
    assert session.answer is not None
    assert same(answer, session.answer)


@pytest.mark.parametrize("given", [5, None, "chain"])
def test_an_agent_that_cannot_be_called_teaches(guard: Guard, given: Any) -> None:
    with pytest.raises(InputError, match="function from a question"):
        guard.run(given, ASKED)


@pytest.mark.parametrize("given", [lambda _: None, lambda _: 5, lambda _: ["text"], lambda _: [{}]])
def test_an_agent_without_steps_teaches(guard: Guard, given: Any) -> None:
    with pytest.raises(InputError, match=r"LiveStep|Step"):
        guard.run(given, ASKED)


def test_a_session_works_in_asynchronous_code_as_it_is(guard: Guard) -> None:
    async def ask() -> Any:
        async with guard.session(ASKED) as session:
            taken = [step async for step in guarded(asynchronous(ASKED), session)]
        return taken, session.answer

    taken, answer = asyncio.run(ask())
    assert taken == [LOOK, LAST]
    assert same(answer, guard.run(plain, ASKED))

    async def left() -> Any:
        async with guard.session(ASKED) as session:
            session.observe(sql=LOOK.sql, result=LOOK.result)
        return session.answer

    assert asyncio.run(left()).decision == "withhold"


def test_many_questions_run_at_once_in_one_loop(guard: Guard) -> None:
    async def ask() -> Any:
        return await asyncio.gather(*(guard.run(asynchronous, ASKED) for _ in range(20)))

    expected = guard.run(plain, ASKED)
    assert all(same(answer, expected) for answer in asyncio.run(ask()))


def test_a_sentence_that_differs_is_withheld_unless_switched_off(
    guard: Guard,
) -> None:
    def telling(text: str | None) -> Any:
        return lambda _: [replace(LAST, text=text)]

    told = guard.run(telling("There are 511 patients."), ASKED)
    assert (told.decision, told.text, told.text_judged) == (
        "deliver",
        "There are 511 patients.",
        True,
    )
    lied = guard.run(telling("There are 512 patients."), ASKED)
    assert (lied.decision, lied.reason, lied.differs) == ("withhold", "text-differs", ("512",))
    assert (lied.value, lied.text, lied.final_sql) == (None, None, None)
    silent = guard.run(telling(None), ASKED)
    assert (silent.decision, silent.text_judged) == ("deliver", False)
    off = replace(guard, check_text=False).run(telling("There are 512 patients."), ASKED)
    assert (off.decision, off.text_judged) == ("deliver", False)
    with guard.session(ASKED) as session:
        closed = session.close(final_sql="SELECT 1", result=[(511,)], text="There are 512.")
    assert closed.reason == session.verdict.reason == "text-differs"
    with guard.session(ASKED) as session, pytest.raises(InputError, match="text="):
        session.close(final_sql="SELECT 1", result=[(511,)], text=5)  # type: ignore[arg-type]


def test_a_sentence_may_name_a_number_of_the_query(guard: Guard) -> None:
    for bound, decision in (("37", "deliver"), ("38", "withhold")):
        with guard.session(ASKED) as session:
            answer = session.close(
                final_sql="SELECT COUNT(*) FROM labs WHERE value > 37",
                result=[(511,)],
                text=f"There are 511 values above {bound}.",
            )
        assert answer.decision == decision


def test_a_printed_result_is_compared_with_the_sentence_too(guard: Guard) -> None:
    for text, decision in (("There are 511.", "deliver"), ("There are 512.", "withhold")):
        with guard.session(ASKED) as session:
            answer = session.close(final_sql="SELECT 1", result_text="[(511,)]", text=text)
        assert answer.decision == decision


def test_the_rows_and_the_sentence_of_a_native_final_step_come_with_close(guard: Guard) -> None:
    for text, decision in ((None, "deliver"), ("511.", "deliver"), ("512.", "withhold")):
        with guard.session(ASKED) as session:
            assert session.observe_step(make_step(1, action="final_sql")).decision == "deliver"
            answer = session.close(final_sql="SELECT 1", result=[(511,)], text=text)
        assert (answer.decision, answer.t) == (decision, 1)
        assert answer.value == ([(511,)] if decision == "deliver" else None)
