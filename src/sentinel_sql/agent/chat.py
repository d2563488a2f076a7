"""The chat of one run: the prompt, the question, and two messages for each step.

It is made from steps only, so that the chat of a recorded run can be made again byte for byte. A
model that caches prompts then reads only what is new.
"""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_sql.agent.advice import LAST_TURN, advice
from sentinel_sql.agent.model import Message
from sentinel_sql.agent.prompt import HINTS_FOLLOW, Prompt
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import Step

_REPLY_SHOWN = 600
"""Most characters of an invalid reply that are shown to the model again (our choice)."""


class Chat:
    """A growing chat; `messages` are those of the next model call.

    `hints` are lines on stored values that the question may mean. They stand below it, so that the
    messages before are the same for every question.
    """

    def __init__(
        self,
        prompt: Prompt,
        question: str,
        *,
        schema: Schema,
        max_steps: int,
        hints: Sequence[str] = (),
    ) -> None:
        lines = [f"QUESTION: {question}"]
        if hints:
            lines += [HINTS_FOLLOW, *(f"- {line}" for line in hints)]
        self._messages = prompt.messages
        self._messages.append({"role": "user", "content": "\n".join(lines)})
        self._sent: set[str] = set()
        self._schema = schema
        self._max_steps = max_steps

    @property
    def messages(self) -> list[Message]:
        """All messages so far, in a new list."""
        return list(self._messages)

    def add(self, step: Step) -> None:
        """Add a step without a commitment: the model's reply, and the result."""
        said = advice(step.observation, repeated=step.sql in self._sent, schema=self._schema)
        lines = [f"RESULT: {step.observation.text}"]
        lines += [said] if said else []
        lines += [LAST_TURN] if step.index == self._max_steps - 1 else []
        self._sent.update([step.sql] if step.sql else [])
        self._messages += [
            {"role": "assistant", "content": reply_of(step)},
            {"role": "user", "content": "\n".join(lines)},
        ]


def reply_of(step: Step) -> str:
    """Return a step's reply in the form of the rules, without results that the model invented."""
    if step.action == "invalid" or step.sql is None:
        return (step.reply or "")[:_REPLY_SHOWN] or "(nothing)"
    tag = "SQL" if step.action == "sql" else "FINAL_SQL"
    return f"THOUGHT: {step.thought or ''}\n{tag}: {step.sql}"
