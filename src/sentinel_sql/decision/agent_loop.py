"""Drives an agent's steps through a guarded session, in a plain loop or an asynchronous one."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar, overload

from sentinel_sql.arguments import checked
from sentinel_sql.decision.live_step import LiveStep
from sentinel_sql.decision.session import GuardSession
from sentinel_sql.decision.verdict import Answer
from sentinel_sql.errors import InputError
from sentinel_sql.trajectory.record import Step

AnyStep = TypeVar("AnyStep", LiveStep, Step, LiveStep | Step)

PlainAgent: TypeAlias = Callable[[str], Iterable[LiveStep] | Iterable[Step]]
"""Takes a question and returns its steps, as a generator or as a list."""

AsyncAgent: TypeAlias = Callable[
    [str],
    AsyncIterable[LiveStep]
    | AsyncIterable[Step]
    | Awaitable[AsyncIterable[LiveStep]]
    | Awaitable[Iterable[LiveStep]],
]
"""The same as an `async def`, with or without `yield`."""


def run_agent(agent: PlainAgent | AsyncAgent, session: GuardSession) -> Answer | Awaitable[Answer]:
    """Run an agent until it ends or the session stops it; see `Guard.run`."""
    if not callable(agent):
        raise InputError(
            f"agent= can't be of type {type(agent).__name__}: give a function from a question to "
            "its steps"
        )
    if session.stops:  # the question is refused, so the agent is never called
        return session.close()
    steps: Any = None
    try:
        steps = agent(session.question.text)
        if isinstance(steps, Iterable):
            for _ in guarded(steps, session):
                pass
    finally:
        if not isinstance(steps, AsyncIterable | Awaitable):
            answer = session.close()
    if isinstance(steps, AsyncIterable | Awaitable):
        return _run_async(steps, session)
    if not isinstance(steps, Iterable):
        raise _no_steps_error(steps)
    return answer


async def _run_async(steps: Any, session: GuardSession) -> Answer:
    async with session:
        if isinstance(steps, Awaitable):
            steps = await steps
        if isinstance(steps, AsyncIterable):
            async for _ in guarded(steps, session):
                pass
        elif isinstance(steps, Iterable):
            for _ in guarded(steps, session):
                pass
        else:
            raise _no_steps_error(steps)
    return session.close()


def _no_steps_error(returned: Any) -> InputError:
    return InputError(
        f"the agent returned a {type(returned).__name__} and no steps: let it yield or return "
        "steps, each a LiveStep"
    )


@overload
def guarded(steps: Iterable[AnyStep], session: GuardSession) -> Iterator[AnyStep]: ...
@overload
def guarded(steps: AsyncIterable[AnyStep], session: GuardSession) -> AsyncIterator[AnyStep]: ...
@checked
def guarded(
    steps: Iterable[AnyStep] | AsyncIterable[AnyStep], session: GuardSession
) -> Iterator[AnyStep] | AsyncIterator[AnyStep]:
    """Yield an agent's steps for as long as the guard lets it go on, then close the session.

    Once the run is over, no further step is requested; for a refused question, none is. A
    generator with steps left is closed, so that its agent can clean up. The outcome is
    `session.answer`.

    Args:
        steps: the agent's steps, each a `Step` or a `LiveStep`. An asynchronous iterable makes
            the result an asynchronous iterator.
        session: a session that has seen no step yet.

    Raises:
        InputError: the steps are out of order, or one of them is no step.
    """
    if isinstance(steps, AsyncIterable):
        return _guarded_async(steps, session)
    return _guarded(steps, session)


def _guarded(steps: Iterable[AnyStep], session: GuardSession) -> Iterator[AnyStep]:
    source = iter(steps)
    try:
        while not session.stops:
            try:
                step = next(source)
            except StopIteration:
                break
            session.take(step)
            yield step
        session.close()
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()


async def _guarded_async(
    steps: AsyncIterable[AnyStep], session: GuardSession
) -> AsyncIterator[AnyStep]:
    source = aiter(steps)
    try:
        while not session.stops:
            try:
                step = await anext(source)
            except StopAsyncIteration:
                break
            session.take(step)
            yield step
        session.close()
    finally:
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()
