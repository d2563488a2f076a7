"""The chat of one run: the prompt, the question, and for each step what was said and heard.

Made from steps alone, so that the chat of a recorded run can be had again byte for byte, and a
model that caches prompts reads only what is new.
"""

from __future__ import annotations

from sentinel_sql.agent.hints import LAST_TURN, hint
from sentinel_sql.agent.model import Message
from sentinel_sql.agent.prompt import Prompt
from sentinel_sql.schema import Schema
from sentinel_sql.trajectory.record import Step

_REPLY_SHOWN = 600
"""Characters of an invalid reply that are shown back to the model, ours: chatter isn't fed on."""


class Chat:
    """A growing chat; `messages` is what the model is asked with next."""

    def __init__(self, prompt: Prompt, question: str, *, schema: Schema, max_steps: int) -> None:
        self._messages = prompt.messages
        self._messages.append({"role": "user", "content": f"QUESTION: {question}"})
        self._sent: set[str] = set()
        self._schema = schema
        self._max_steps = max_steps

    @property
    def messages(self) -> list[Message]:
        """All messages so far, in a list of their own."""
        return list(self._messages)

    def add(self, step: Step) -> None:
        """Take in a step that committed to nothing: what the model said, and what it heard."""
        advice = hint(step.observation, repeated=step.sql in self._sent, schema=self._schema)
        heard = [f"RESULT: {step.observation.text}"]
        heard += [advice] if advice else []
        heard += [LAST_TURN] if step.index == self._max_steps - 1 else []
        self._sent.update([step.sql] if step.sql else [])
        self._messages += [
            {"role": "assistant", "content": said(step)},
            {"role": "user", "content": "\n".join(heard)},
        ]


def said(step: Step) -> str:
    """Return the turn as the rules want it, so that invented results aren't fed back."""
    if step.action == "invalid" or step.sql is None:
        return (step.reply or "")[:_REPLY_SHOWN] or "(nothing)"
    tag = "SQL" if step.action == "sql" else "FINAL_SQL"
    return f"THOUGHT: {step.thought or ''}\n{tag}: {step.sql}"
