"""A small recorded project whose agent can be asked again, over a scripted endpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sentinel_sql.agent.model import Message, Reply
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.agent.react import ReactAgent
from sentinel_sql.agent.self_report import HOW_SURE, IS_IT_TRUE
from sentinel_sql.database.equivalence import MODES
from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.questions.record import Question
from sentinel_sql.rivals.self_report_questions import Asker
from sentinel_sql.testing import ScriptedModel
from sentinel_sql.trajectory.record import Trajectory

COUNT = "SELECT COUNT(*) FROM patients"
SAME = "select count(1) from patients"
OTHER = "SELECT COUNT(*) + 1 FROM patients"


def recorded(database: SqliteDatabase, count: int = 3) -> tuple[ReactAgent, list[Trajectory]]:
    """Return an agent that looks first and then counts, and runs of it."""
    agent = ReactAgent(
        model=ScriptedModel(
            ["THOUGHT: look\nSQL: SELECT gender FROM patients", f"THOUGHT: so\nFINAL_SQL: {COUNT}"]
        ),
        database=database,
        prompt=Prompt.build(database.schema, database.clock, notes="count rows"),
    )
    asked = [Question(id=f"q{n}", text=f"how many? {n}", answerable=True) for n in range(count)]
    return agent, [agent.run(question) for question in asked]


@dataclass
class Listening:
    """A model that answers by a function of the chat and keeps all chats."""

    script: Any
    temperature: float | None = 0.0
    name: str = "scripted"
    heard: list[list[Message]] = field(default_factory=list)

    def complete(self, messages: Sequence[Message]) -> Reply:
        self.heard.append(list(messages))
        reply_of = self.script(messages) if callable(self.script) else self.script
        if isinstance(reply_of, Reply):
            return reply_of
        return Reply(text=reply_of, prompt_tokens=100, completion_tokens=2, seconds=0.25)


def asker(
    agent: ReactAgent,
    *,
    samples: Sequence[Any] = (COUNT, SAME, OTHER, None),
    mode: str = "sentinel-1",
) -> Asker:
    """Return an asker whose samplers each give one final query, or none."""
    return Asker(
        agent=agent,
        word=Listening(Reply(text="True", first=(("True", -0.1), ("False", -2.4)), seconds=0.5)),
        number=Listening("85"),
        samplers=[
            Listening("FINAL: null" if sql is None else f"FINAL_SQL: {sql}", temperature=0.7)
            for sql in samples
        ],
        mode=MODES[mode],
    )


def completion(text: str, first: Sequence[tuple[str, float]] = ()) -> bytes:
    """Return a chat completion of one token with alternatives."""
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}}
    if first:
        top = [{"token": token, "logprob": logprob} for token, logprob in first]
        choice["logprobs"] = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": top}]}
    usage = {"prompt_tokens": 120, "completion_tokens": 1}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def asks(request: dict[str, Any]) -> str:
    """Tell what a request to the endpoint is for."""
    last = request["messages"][-1]["content"]
    if last.endswith(IS_IT_TRUE):
        return "p-true"
    if last.endswith(HOW_SURE):
        return "verbalized"
    return "sample" if request["temperature"] > 0 else "agent"


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a store of confidences as they lie on the disk."""
    return [json.loads(line) for line in (folder / "confidences.jsonl").read_text().splitlines()]
