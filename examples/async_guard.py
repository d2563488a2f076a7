"""Guard an agent in asynchronous code: several questions at once, one guard for all.

`python examples/async_guard.py` does it in a temporary folder, with a made-up agent.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import sentinel_sql as sentinel
from guard_any_agent import fit_monitor, my_agent

QUESTIONS = (
    "how many patients were given heparin in ward B",
    "how many patients were given morphine in ward B",
    "is warfarin safe",
)


async def my_async_agent(question: str, database: Path) -> AsyncIterator[sentinel.LiveStep]:
    """Stand for an agent that awaits its model."""
    for step in my_agent(question, database):
        await asyncio.sleep(0)  # where yours awaits
        yield step


async def ask(guard: sentinel.Guard, question: str, database: Path) -> str:
    """Ask one question, guarded, and return a line about it."""
    answer = await guard.run(lambda asked: my_async_agent(asked, database), question)
    return f"{question}? {answer.decision} ({answer.reason}): {answer.value}"


async def main() -> None:
    """Ask all questions at once."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        guard = sentinel.Guard.load(fit_monitor(folder), stakes=1)
        asked = (ask(guard, question, folder / "ward.sqlite") for question in QUESTIONS)
        for line in await asyncio.gather(*asked):
            print(line)


if __name__ == "__main__":
    asyncio.run(main())
